"""Which clients on this machine start our server, and which project each of them would give it.

Nothing is started and nothing is written: the configuration files are read, and what the client
and then the server would make of an entry is worked out. `CLIENTS` is the table of what is known
of each client; a new client is one more row. The file is long because that table stands beside
the few rules that give its columns a meaning.
"""

import json
import os
import re
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from core.project import VARIABLES, find_project

SCRIPT = "server.py"
THE_PROJECT = "<the project>"  # among keys: the one that is the project's own path


@dataclass(frozen=True, slots=True, kw_only=True)
class Configured:
    """One entry of a client's configuration that starts our server, or a file nobody can read.

    client: the name of the client. path: its configuration file.
    entry: the name of the entry; "" when the file cannot be read.
    project: what the server would take as the project; None when that is not known beforehand.
    source: what names the project: `--project`, a variable, `cwd`; "" when nothing is known to.
    problem: "", or the first of these that holds: `unreadable` (the file), `command_missing`,
    `script_missing`, `unexpanded` (a variable is left in a value that should name the project),
    `no_project` (none is named, or relative to a directory nobody knows), `project_missing`.
    """

    client: str
    path: Path
    entry: str
    project: Path | None
    source: str
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What clients find around them: one project, one user, one operating system.

    directories: by name, where configuration files lie; one that a system lacks is left out.
    """

    root: Path
    home: Path
    server: Path
    environment: Mapping[str, str]
    windows: bool
    directories: Mapping[str, Path]

    def variable(self, name: str) -> str | None:
        """The value of an environment variable, whose case does not matter on Windows."""
        value = self.environment.get(name)
        return self.environment.get(name.upper()) if value is None and self.windows else value

    def plain(self, path: str | Path) -> str:
        """A path in the form in which two can be compared as texts."""
        text = str(path).replace("\\", "/")
        return text.casefold() if self.windows else text


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A file that may hold entries, as a pattern below one of the directories of a Machine.

    keys: the paths of keys under which the entries stand, the project's own before the user's.
    """

    directory: str
    file: str
    keys: tuple[tuple[str, ...], ...] = (("mcpServers",),)


Expand = Callable[[str, Machine], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """One client: where it is configured, and what it makes of an entry.

    expand: the text of a value once the client has put in what its variables stand for.
    sets: the environment variables in which it gives the server the project.
    starts_in_project: whether servers start in the project when their entry has no `cwd`.
    honours_cwd: whether the `cwd` of an entry is where its server starts.
    """

    name: str
    places: tuple[Place, ...]
    form: Literal["json", "jsonc", "toml"] = "json"
    expand: Expand
    sets: tuple[str, ...] = ()
    starts_in_project: bool
    honours_cwd: bool


def configured_clients(
    root: Path,
    *,
    server: Path,
    home: Path,
    environment: Mapping[str, str],
    platform: str = sys.platform,
) -> list[Configured]:
    """The entries that start `server` for the project `root`, in the order of `CLIENTS`.

    An entry is ours when it runs the file `server`, or any `server.py` under a name that holds
    "sentinel". A file that exists and cannot be read is reported, one that does not exist is not.
    environment: that of the user; a client is taken to see the same, without our own variables.
    No configuration file, however broken, makes this raise.
    """
    machine = _machine(root, home, server, environment, platform)
    found: list[Configured] = []
    seen: set[tuple[str, Path]] = set()
    for client in CLIENTS:
        for place in client.places:
            for path in _paths(place, machine):
                # In the home directory the project's file and the user's are the same.
                if (client.name, path) not in seen and os.path.exists(path):
                    seen.add((client.name, path))
                    found += _configured_in(path, client, place, machine)
    return found


def _machine(
    root: Path, home: Path, server: Path, environment: Mapping[str, str], platform: str
) -> Machine:
    root, home = Path(os.path.abspath(root)), Path(os.path.abspath(home))

    def named(variable: str, default: Path) -> Path:
        return Path(environment.get(variable) or default)

    directories = {
        "root": root,
        "home": home,
        "claude": named("CLAUDE_CONFIG_DIR", home),
        "codex": named("CODEX_HOME", home / ".codex"),
        "config": named("XDG_CONFIG_HOME", home / ".config"),
    }
    if platform == "darwin":
        directories["config"] = home / "Library" / "Application Support"
    if platform == "win32":
        directories["config"] = named("APPDATA", home / "AppData" / "Roaming")
        directories["packages"] = named("LOCALAPPDATA", home / "AppData" / "Local") / "Packages"
    return Machine(
        root=root,
        home=home,
        server=server,
        environment=environment,
        windows=platform == "win32",
        directories=directories,
    )


# How clients expand variables.


def _as_written(text: str, _machine: Machine) -> str:
    return text


def _as_editors(*, folder: bool, tilde: bool) -> Expand:
    """`${userHome}`, `${env:NAME}` and so on; `folder`: also the folder that is open."""

    def expand(text: str, machine: Machine) -> str:
        separator = "\\" if machine.windows else "/"
        words = {"userHome": str(machine.home), "pathSeparator": separator, "/": separator}
        if folder:
            words["workspaceFolder"] = str(machine.root)
            words["workspaceFolderBasename"] = machine.root.name

        def value(match: re.Match[str]) -> str:
            if match[1].startswith("env:"):  # one that is not set gives nothing
                return machine.variable(match[1].removeprefix("env:")) or ""
            return words.get(match[1], match[0])

        text = re.sub(r"\$\{([^}]*)\}", value, text)
        return re.sub(r"\A~(?=$|[/\\])", lambda _: str(machine.home), text) if tilde else text

    return expand


def _from_environment(pattern: str) -> Expand:
    """Variables of the environment; one that is not set and has no default stays as it is."""

    def expand(text: str, machine: Machine) -> str:
        def value(match: re.Match[str]) -> str:
            parts = match.groupdict()
            known = machine.variable(parts.get("bare") or parts["name"])
            default = parts.get("default")
            return next(it for it in (known, default, match[0]) if it is not None)

        return re.sub(pattern, value, text, flags=re.ASCII)

    return expand


CLIENTS = (
    Client(  # cursor.com/docs/context/mcp; its users report that `cwd` is ignored
        name="Cursor",
        places=(
            Place(directory="root", file=".cursor/mcp.json"),
            Place(directory="home", file=".cursor/mcp.json"),
        ),
        expand=_as_editors(folder=True, tilde=False),
        starts_in_project=False,
        honours_cwd=False,
    ),
    Client(  # code.claude.com/docs/en/mcp; that `cwd` is ignored: issue 17565 of claude-code
        name="Claude Code",
        places=(
            Place(directory="root", file=".mcp.json"),
            Place(
                directory="claude",
                file=".claude.json",
                keys=(("projects", THE_PROJECT, "mcpServers"), ("mcpServers",)),
            ),
        ),
        expand=_from_environment(r"\$\{(?P<name>[^}]+?)(?::-(?P<default>[^}]*))?\}"),
        sets=("CLAUDE_PROJECT_DIR",),
        starts_in_project=True,
        honours_cwd=False,
    ),
    Client(  # modelcontextprotocol.io, "Connect to local MCP servers" and "Debugging"
        name="Claude Desktop",
        places=(
            Place(directory="config", file="Claude/claude_desktop_config.json"),
            Place(
                directory="packages",
                file="Claude_*/LocalCache/Roaming/Claude/claude_desktop_config.json",
            ),
        ),
        expand=_as_written,
        starts_in_project=False,
        honours_cwd=False,
    ),
    Client(  # code.visualstudio.com, "MCP configuration reference"
        name="VS Code",
        places=(Place(directory="root", file=".vscode/mcp.json", keys=(("servers",),)),),
        form="jsonc",
        expand=_as_editors(folder=True, tilde=True),
        starts_in_project=True,
        honours_cwd=True,
    ),
    Client(  # the user's entries know no folder and start at home: vscode, extHostMcpNode.ts
        name="VS Code",
        places=(Place(directory="config", file="Code/User/mcp.json", keys=(("servers",),)),),
        form="jsonc",
        expand=_as_editors(folder=False, tilde=True),
        starts_in_project=False,
        honours_cwd=True,
    ),
    Client(  # developers.openai.com/codex/mcp; the environment it passes on is a short list
        name="Codex",
        places=(
            Place(directory="root", file=".codex/config.toml", keys=(("mcp_servers",),)),
            Place(directory="codex", file="config.toml", keys=(("mcp_servers",),)),
        ),
        form="toml",
        expand=_as_written,
        starts_in_project=True,
        honours_cwd=True,
    ),
    Client(  # geminicli.com, "Gemini CLI configuration" and "MCP servers with Gemini CLI"
        name="Gemini CLI",
        places=(
            Place(directory="root", file=".gemini/settings.json"),
            Place(directory="home", file=".gemini/settings.json"),
        ),
        form="jsonc",
        expand=_from_environment(r"\$(?:(?P<bare>\w+)|\{(?P<name>[^}]+)\})"),
        starts_in_project=True,
        honours_cwd=True,
    ),
)


# Reading the files.


def _paths(place: Place, machine: Machine) -> list[Path]:
    directory = machine.directories.get(place.directory)
    if directory is None:
        return []
    return sorted(directory.glob(place.file)) if "*" in place.file else [directory / place.file]


def _configured_in(
    path: Path, client: Client, place: Place, machine: Machine
) -> Iterator[Configured]:
    try:
        document = _document(path, client.form)
    except (OSError, ValueError, RecursionError):  # ValueError: no UTF-8, no JSON, no TOML
        yield Configured(
            client=client.name, path=path, entry="", project=None, source="", problem="unreadable"
        )
        return
    for keys in place.keys:
        entries = document
        for key in keys:
            entries = _below(entries, key, machine)
        for name, entry in entries.items() if isinstance(entries, dict) else ():
            if isinstance(entry, dict):
                found = _configured(path, name, entry, client, machine)
                if found:
                    yield found


def _document(path: Path, form: str) -> Any:
    if not path.is_file():  # to open a pipe would be to wait for its writer
        raise OSError("not a file")
    text = path.read_bytes().decode("utf-8-sig")
    if form == "toml":
        return tomllib.loads(text)
    return json.loads(_plain_json(text) if form == "jsonc" else text)


def _plain_json(text: str) -> str:
    """JSON without comments and without commas before a closing bracket."""
    # What is never closed runs to the end, for else each opening would be read to the end again.
    string = r'"(?:[^"\\]|\\.)*+"?'

    def kept(match: re.Match[str]) -> str:
        token = match[0]
        closed = len(token) >= len("/**/") and token.startswith("/*") and token.endswith("*/")
        return " " if closed or token.startswith("//") else token

    text = re.sub(rf"{string}|//[^\r\n]*|/\*.*?(?:\*/|\Z)", kept, text, flags=re.DOTALL)
    comma = rf"({string})|,(?=\s*[}}\]])"
    return re.sub(comma, lambda match: match[1] or "", text, flags=re.DOTALL)


def _below(table: Any, key: str, machine: Machine) -> Any:
    if not isinstance(table, dict):
        return None
    if key != THE_PROJECT:
        return table.get(key)
    roots = {machine.plain(machine.root), machine.plain(os.path.realpath(machine.root))}
    return next((below for name, below in table.items() if machine.plain(name) in roots), None)


# What becomes of an entry.


def _configured(
    path: Path, name: str, entry: Mapping[str, Any], client: Client, machine: Machine
) -> Configured | None:
    """What is known of an entry, or None when it is not ours."""
    listed = entry.get("args")
    words = [entry.get("command"), *(listed if isinstance(listed, list) else ())]
    words = [client.expand(word, machine) if isinstance(word, str) else "" for word in words]
    at = next((at for at, word in enumerate(words) if _is_ours(word, name, machine)), None)
    if at is None:
        return None
    own = entry.get("env")
    environment = {key: it for key, it in machine.environment.items() if key not in VARIABLES}
    for key, it in own.items() if isinstance(own, dict) else ():
        if isinstance(it, str):
            environment[key] = client.expand(it, machine)
    environment |= dict.fromkeys(client.sets, str(machine.root))
    start, lost = _start(entry.get("cwd"), words[:at], client, machine)
    argument = _value("--project", words[at + 1 :])
    project, source, problem = _project(argument, environment, start, lost)
    return Configured(
        client=client.name,
        path=path,
        entry=name,
        project=project,
        source=source,
        problem=_cannot_start(words[0], words[at], start, machine) or problem,
    )


def _is_ours(word: str, name: str, machine: Machine) -> bool:
    if not f"/{machine.plain(word)}".endswith(f"/{SCRIPT}"):
        return False
    if "sentinel" in name.casefold() or machine.plain(word) == machine.plain(machine.server):
        return True
    try:
        return os.path.isabs(word) and os.path.samefile(word, machine.server)
    except (OSError, ValueError):  # ValueError: a name that no system takes
        return False


def _start(
    cwd: object, before: list[str], client: Client, machine: Machine
) -> tuple[Path | None, bool]:
    """Where the server starts, None when nobody knows; and whether a variable is left in that."""
    start = machine.root if client.starts_in_project else None
    steps = []
    if client.honours_cwd and isinstance(cwd, str) and cwd.strip():
        steps.append(client.expand(cwd, machine))
        start = start or machine.home
    if before and re.fullmatch(r"(?:.*/)?uv(?:\.exe)?", machine.plain(before[0])):
        # uv changes to this directory before it starts the script
        steps.append(_value("--directory", before[1:]) or "")
    for step in steps:
        if "${" in step:
            return None, True
        start = start / step if start else Path(step) if os.path.isabs(step) else None
    return start, False


def _value(option: str, arguments: list[str]) -> str | None:
    """The value of an option among arguments, in either way of writing it; the last one counts."""
    value = None
    for at, argument in enumerate(arguments):
        name, equals, inline = argument.partition("=")
        if name == option:
            value = inline if equals else next(iter(arguments[at + 1 :]), None)
    return value


def _project(
    argument: str | None, environment: Mapping[str, str], start: Path | None, lost: bool
) -> tuple[Path | None, str, str]:
    """The project, what names it, and what is wrong with it."""
    try:
        project = find_project(argument, environment, start or Path(os.sep))
    except ValueError:  # a name such as "~" with a null byte, which no process can be given
        return None, "", "no_project"
    unexpanded = "unexpanded" if lost or project.warnings else ""
    if start is None:
        if project.source == "cwd":
            return None, "", unexpanded or "no_project"
        value = argument or "" if project.source == "--project" else environment[project.source]
        if not os.path.isabs(os.path.expanduser(value.strip())):
            return None, project.source, unexpanded or "no_project"
    missing = "" if os.path.isdir(project.root) else "project_missing"
    return project.root, project.source, unexpanded or missing


def _cannot_start(command: str, script: str, start: Path | None, machine: Machine) -> str:
    """`command_missing` or `script_missing`; "" also when that depends on an unknown directory."""

    def is_there(path: str) -> bool:
        if not os.path.isabs(path) and start is None:
            return "${" not in path
        return os.path.exists(os.path.join(start or "", path))

    if os.path.dirname(command):
        names = [command, f"{command}.exe"] if machine.windows else [command]
        found = any(map(is_there, names))
    else:
        found = shutil.which(command, path=machine.variable("PATH") or "") is not None
    return "command_missing" if not found else "" if is_there(script) else "script_missing"
