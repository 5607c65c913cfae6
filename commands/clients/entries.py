"""Finds the entries of clients on this machine, and the project that each gives the server.

Reads configuration files as the client and then the server would; starts and writes nothing.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from commands.clients import merge
from commands.clients.machine import SCRIPT, Machine
from commands.clients.table import CLIENTS, COMMANDS, ENTRY, TEAM_ENTRY, Client, value_at
from core import config
from core.disk import read_regular_file
from core.errors import RefusedError
from core.sanitizer import has_secret

MOST_BYTES = 50_000_000  # of a file that a client keeps
_PATH = "/mcp"
_HEADERS = "headers", "http_headers"
_URL = re.compile(r"https?://[A-Za-z0-9.:\[\]_-]{1,255}(?:/[A-Za-z0-9._~/%-]{0,500})?", re.I)
_LOOPBACK = re.compile(r"localhost|127(?:\.\d{1,3}){3}|::1", re.I)
Expand = Callable[[str], str]


# An entry, as its client reads it.

_BRACED = re.compile(r"\$\{(?P<name>[^{}]*+)\}")
_WITH_DEFAULT = re.compile(r"\$\{(?P<name>(?:(?!:-)[^{}])++)(?::-(?P<default>[^{}]*+))?\}")
_BARE = re.compile(r"\$(?:(?P<bare>\w+)|\{(?P<name>[^{}]++)\})", re.ASCII)
# In a header, in place of a key: a variable, or an input that the client asks for.
REFERENCE = re.compile(r"(?a)\$(?:(?P<bare>\w+)|\{(?:(?:env:)?(?P<name>\w+)|input:[\w-]+)\})")


def expander_of(client: Client, machine: Machine, *, knows_project: bool = True) -> Expand:
    """Return the function that fills in an entry's variables as its client does.

    knows_project: whether the client has a project open.
    """
    style = client.variables
    is_editor = style.startswith("${env:")
    pattern = _BRACED if is_editor else _WITH_DEFAULT if ":-" in style else _BARE
    separator = "\\" if machine.windows else "/"
    words = {"userHome": str(machine.home), "pathSeparator": separator, "/": separator}
    if knows_project:
        words["workspaceFolder"] = str(machine.root)
        words["workspaceFolderBasename"] = machine.root.name

    def variable_value(match: re.Match[str]) -> str:
        parts = match.groupdict()
        name = parts.get("bare") or match["name"]
        if not is_editor:
            candidates = (machine.variable(name), parts.get("default"), match[0])
            return next(text for text in candidates if text is not None)
        if name.startswith("env:"):  # an unset variable gives nothing
            return machine.variable(name.removeprefix("env:")) or ""
        return words.get(name, match[0])

    def expand(text: str) -> str:
        text = pattern.sub(variable_value, text) if style else text
        is_home = style.endswith("~") and re.match(r"~(?=$|[/\\])", text)
        return f"{machine.home}{text[1:]}" if is_home else text

    return expand


def words_of(entry: Mapping[str, object], expand: Expand = str) -> list[str]:
    """Return command and arguments, variables filled in; "" for a word that is no text."""
    arguments = entry.get("args")
    words = [entry.get("command"), *(arguments if isinstance(arguments, list) else ())]
    return [expand(word) if isinstance(word, str) else "" for word in words]


def find_script(words: Sequence[str], name: str, machine: Machine) -> int:
    """Return the index of our script, -1 for none.

    Any `server.py` counts in an entry named ENTRY, elsewhere only that of this installation.
    """
    for index, word in enumerate(words):
        path = machine.normal_path(word)
        if path.rpartition("/")[2].removesuffix(".exe") == COMMANDS[0]:
            return index
        if not f"/{path}".endswith(f"/{SCRIPT}"):
            continue
        if name == ENTRY or path == machine.normal_path(machine.server):
            return index
        with suppress(OSError, ValueError):  # ValueError: a name that no system takes
            if os.path.isabs(word) and os.path.samefile(word, machine.server):
                return index
    return -1


def value_of(option: str, arguments: Sequence[str]) -> str | None:
    """Return the value of an option, the last one of several.

    >>> value_of("--project", ["--project=a", "--project", "b"])
    'b'
    """
    value = None
    for index, argument in enumerate(arguments):
        name, equals, inline = argument.partition("=")
        if name == option:
            value = inline if equals else next(iter(arguments[index + 1 :]), None)
    return value


class OwnEntry(NamedTuple):
    """Our entry in a client's file; no values: no entry. arguments: after our script."""

    name: str
    values: merge.Table
    arguments: Sequence[str] = ()

    @property
    def rooms(self) -> tuple[str, ...]:
        """The rooms of the entry; the default for missing or wrong names."""
        try:
            names = value_of("--rooms", self.arguments)
            return config.read_rooms(names or self.variable(config.ROOMS_VARIABLE))
        except RefusedError:
            return config.DEFAULT_ROOMS

    def variable(self, name: str) -> str:
        value = value_at(self.values, ("env", name))
        return value.strip() if isinstance(value, str) else ""


def own_entry_in(data: Any, row: Client, machine: Machine) -> OwnEntry:
    """Return our entry; of several, the one named ENTRY."""
    entries = value_at(data, (row.under,))
    own_entries = []
    for name, entry in entries.items() if isinstance(entries, dict) else ():
        if isinstance(entry, dict):
            words = words_of(entry, expander_of(row, machine))
            index = find_script(words, name, machine)
            own_entries += [OwnEntry(name, entry, words[index + 1 :])] if index >= 0 else []
    return min(own_entries, key=lambda entry: entry.name != ENTRY, default=OwnEntry(ENTRY, {}))


# The entries on this machine.


class ServerEntry(NamedTuple):
    """An entry that starts our server, or an unreadable file (`entry` is "" then).

    start_words: up to our script, unexpanded. project: None where unknown. problem: "", or the
    first that holds:
        unreadable, command_missing, script_missing, project_missing
        bad_setting   the server would refuse to start
        unexpanded    the client leaves a variable in the project's name
        no_project    unnamed, or relative to an unknown directory
    """

    client: str
    path: Path
    entry: str
    start_words: tuple[str, ...] = ()
    project: Path | None = None
    problem: str = ""


class TeamEntry(NamedTuple):
    """An entry for a remote server.

    url: unchecked. variable: holds the key, "" for a login. has_key: the file holds the key itself.
    """

    client: Client
    path: Path
    url: str
    variable: str
    has_key: bool


class _Entry(NamedTuple):
    """Any entry of a client; values: None for an unreadable file."""

    client: Client
    path: Path
    name: str
    values: merge.Table | None
    knows_project: bool


def server_entries(machine: Machine) -> list[ServerEntry]:
    """Return the entries that start our server, in the order of the table; never raise."""
    entries = list[ServerEntry]()
    for client, path, name, entry, knows_project in _entries_on(machine):
        if entry is None:
            entries.append(ServerEntry(client.key, path, entry="", problem="unreadable"))
            continue
        expand = expander_of(client, machine, knows_project=knows_project)
        words = words_of(entry, expand)
        index = find_script(words, name, machine)
        if index < 0:
            continue
        variables = machine.environment.items()
        environment = {key: value for key, value in variables if key not in config.VARIABLES}
        env = entry.get("env")
        for key, value in env.items() if isinstance(env, dict) else ():
            if isinstance(value, str | int):  # clients turn numbers into texts
                environment[key] = expand(str(value))
        environment |= {client.sets: str(machine.root)} if client.sets else {}
        # The directory in which the server starts, None where it is unknown.
        directory = machine.root if client.starts_in_project and knows_project else None
        cwd, steps = entry.get("cwd") if client.honours_cwd else None, list[str]()
        if isinstance(cwd, str) and cwd.strip():
            steps.append(expand(cwd))
            directory = directory or machine.home
        if index and re.fullmatch(r"(?:.*/)?uv(?:\.exe)?", machine.normal_path(words[0])):
            # uv changes to this directory before it starts the script
            steps.append(value_of("--directory", words[1:index]) or "")
        is_lost = any("${" in step for step in steps)
        for step in steps:
            directory = Path(directory or "", step) if directory or os.path.isabs(step) else None
        directory = None if is_lost else directory
        argument = value_of("--project", words[index + 1 :])
        project, problem = _find_project(argument, environment, directory, is_lost=is_lost)
        if config.read_settings(environment).errors:
            problem = "bad_setting"
        start_words = tuple(words_of(entry)[: index + 1])
        script = words[index] if index else ""
        problem = _start_problem(words[0], script, directory, machine) or problem
        entries.append(ServerEntry(client.key, path, name, start_words, project, problem))
    return entries


def team_entries(machine: Machine) -> Iterator[TeamEntry]:
    """Yield the entries for remote servers, those of the project first."""
    for client, path, name, entry, _ in _entries_on(machine):
        if name != TEAM_ENTRY or not client.http or not entry or "command" in entry:
            continue
        [address] = [key for key, form in client.http.items() if form == "$url"]
        headers = (value_at(entry, (key, "Authorization")) for key in _HEADERS)
        header = next((header for header in headers if isinstance(header, str) and header), "")
        header = header.removeprefix("Bearer ").strip()
        variable = value_at(entry, client.key_in[:-1]) if client.key_in[-1] == "$key" else ""
        match = REFERENCE.fullmatch(header)
        reference = match["bare"] or match["name"] if match else ""
        yield TeamEntry(
            client=client,
            path=path,
            url=entry[address] if isinstance(entry.get(address), str) else "",
            variable=(variable if isinstance(variable, str) else "") or reference or "",
            has_key=bool(header) and match is None,
        )


def _entries_on(machine: Machine) -> Iterator[_Entry]:
    roots = {machine.normal_path(machine.root), machine.normal_path(os.path.realpath(machine.root))}
    for client in CLIENTS:
        places = [(place, client.under) for place in (*client.entry.values(), client.packaged)]
        seen = set[tuple[object, ...]]()
        for place, *keys in (*places, *client.also_read):
            for path in machine.paths(place):
                if (path, *keys) in seen or not os.path.exists(path):
                    continue
                seen.add((path, *keys))
                try:
                    table = read_document(path)
                except (OSError, ValueError):
                    if keys == [client.under]:
                        yield _Entry(client, path, "", None, True)
                    continue
                for key in keys:
                    members = table if isinstance(table, dict) else {}
                    names_of_root = (name for name in members if machine.normal_path(name) in roots)
                    table = members.get(next(names_of_root, None) if key == "$root" else key)
                for name, entry in table.items() if isinstance(table, dict) else ():
                    if isinstance(entry, dict):
                        # an entry in the user's settings of an editor starts at home
                        yield _Entry(client, path, name, entry, not place.startswith("config:"))


def read_document(path: Path) -> Any:
    """Return the data of a client's file. Raises OSError, ValueError."""
    text = read_regular_file(path, most_bytes=MOST_BYTES)[0].decode("utf-8")
    return merge.data_in(text, path.suffix)


def _find_project(
    argument: str | None, environment: Mapping[str, str], directory: Path | None, *, is_lost: bool
) -> tuple[Path | None, str]:
    try:
        project = config.find_project(argument, environment, directory or Path(os.sep))
    except ValueError:  # a name such as "~" with a null byte, which no process can be given
        return None, "no_project"
    text_problem = "unexpanded" if is_lost or project.is_unexpanded else ""
    if directory is None and project.source == "cwd":
        return None, text_problem or "no_project"
    if directory is None:
        value = argument or "" if project.source == "--project" else environment[project.source]
        if not os.path.isabs(os.path.expanduser(value.strip())):
            return None, text_problem or "no_project"
    root_problem = "" if os.path.isdir(project.root) else "project_missing"
    return project.root, text_problem or root_problem


def _start_problem(command: str, script: str, directory: Path | None, machine: Machine) -> str:
    """Return `command_missing`, `script_missing` or "", also where nobody knows."""

    def is_there(path: str) -> bool:
        if not os.path.isabs(path) and directory is None:
            return "${" not in path
        return os.path.exists(os.path.join(directory or "", path))

    if os.path.dirname(command):
        is_found = is_there(command) or (machine.windows and is_there(f"{command}.exe"))
    else:
        is_found = shutil.which(command, path=machine.variable("PATH") or "") is not None
    if not is_found:
        return "command_missing"
    return "script_missing" if script and not is_there(script) else ""


# The address of a server that others run.


def checked_url(text: str) -> str:
    """Return the URL of a server. Raises RefusedError for a name, password, key or query in it.

    >>> checked_url("https://memory.example.org/")
    'https://memory.example.org/mcp'
    """
    url = text.strip()
    if has_secret(url) or "smk_" in url or "@" in url:
        raise RefusedError("setup.url_secret")
    try:
        parts = urlsplit(url)
        is_sound = _URL.fullmatch(url) and parts.hostname and parts.port != 0
    except ValueError:
        is_sound = False
    if not is_sound:
        raise RefusedError("setup.bad_url")
    url = url.rstrip("/")
    return url if urlsplit(url).path else url + _PATH


def is_unencrypted(url: str) -> bool:
    """Return whether the network can read a key: plain HTTP to another machine."""
    parts = urlsplit(url)
    return parts.scheme.lower() == "http" and not _LOOPBACK.fullmatch(parts.hostname or "")
