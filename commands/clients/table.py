"""The table of clients: where each is configured, and what it makes of an entry there.

`CLIENTS` is all that is known of them; a new client is one more row.
"""

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

SCRIPT = "server.py"
THE_PROJECT = "<the project>"  # among keys: the one that is the project's own path


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
    variable: what such a one begins with, "" where there are none.
    sets: the environment variables in which it gives the server the project.
    starts_in_project: whether servers start in the project when their entry has no `cwd`.
    honours_cwd: whether the `cwd` of an entry is where its server starts.
    """

    name: str
    places: tuple[Place, ...]
    form: Literal["json", "jsonc", "toml"] = "json"
    expand: Expand
    variable: str = ""
    sets: tuple[str, ...] = ()
    starts_in_project: bool
    honours_cwd: bool


def machine_of(
    root: Path,
    *,
    server: Path,
    home: Path,
    environment: Mapping[str, str],
    platform: str = sys.platform,
) -> Machine:
    """The machine of this project and user, as a client would find it."""
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


def paths_of(place: Place, machine: Machine) -> list[Path]:
    """The files of a place; of a pattern those that are there, in order."""
    directory = machine.directories.get(place.directory)
    if directory is None:
        return []
    return sorted(directory.glob(place.file)) if "*" in place.file else [directory / place.file]


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
        variable="${",
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
        variable="${",
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
        variable="${",
        starts_in_project=True,
        honours_cwd=True,
    ),
    Client(  # the user's entries know no folder and start at home: vscode, extHostMcpNode.ts
        name="VS Code",
        places=(Place(directory="config", file="Code/User/mcp.json", keys=(("servers",),)),),
        form="jsonc",
        expand=_as_editors(folder=False, tilde=True),
        variable="${",
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
        variable="$",
        starts_in_project=True,
        honours_cwd=True,
    ),
)


# Whose an entry is.


def is_script(word: str, name: str, machine: Machine) -> bool:
    """Whether a word of an entry is our script: by its path, or its name and that of the entry."""
    if not f"/{machine.plain(word)}".endswith(f"/{SCRIPT}"):
        return False
    if "sentinel" in name.casefold() or machine.plain(word) == machine.plain(machine.server):
        return True
    try:
        return os.path.isabs(word) and os.path.samefile(word, machine.server)
    except (OSError, ValueError):  # ValueError: a name that no system takes
        return False


def script_at(entry: Mapping[str, object], name: str, client: Client, machine: Machine) -> int:
    """Which word of the command line of an entry is our script, from 0 on; -1 when none is."""
    words = command_line(entry, client, machine)
    return next((at for at, word in enumerate(words) if is_script(word, name, machine)), -1)


def command_line(entry: Mapping[str, object], client: Client, machine: Machine) -> list[str]:
    """The words that an entry starts, with its variables expanded; "" for what is no text."""
    listed = entry.get("args")
    words = [entry.get("command"), *(listed if isinstance(listed, list) else ())]
    return [client.expand(word, machine) if isinstance(word, str) else "" for word in words]


def value_of(option: str, arguments: Sequence[str]) -> str | None:
    """The value of an option among arguments, in either way of writing it; the last one counts."""
    value = None
    for at, argument in enumerate(arguments):
        name, equals, inline = argument.partition("=")
        if name == option:
            value = inline if equals else next(iter(arguments[at + 1 :]), None)
    return value
