"""Describes the machine as a client finds it, and what the client makes of an entry there."""

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from commands.setup.client_table import COMMANDS, Client, Place

SCRIPT = "server.py"
# Environments that uv makes in its cache and may clear away.
_OF_UV = re.compile(r"[/\\](?:environments|archive|builds)-v\d+[/\\]")
Expand = Callable[[str], str]


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
        """Return the value of an environment variable, whose case does not matter on Windows."""
        value = self.environment.get(name)
        return self.environment.get(name.upper()) if value is None and self.windows else value

    def plain(self, path: str | Path) -> str:
        """Return a path in the form in which two can be compared as texts."""
        text = str(path).replace("\\", "/")
        return text.casefold() if self.windows else text


def is_passing(path: str) -> bool:
    """Return whether uv may clear away this place, in which `uvx` has put the program."""
    return bool(_OF_UV.search(f"{path}{os.sep}"))


def machine_of(
    root: Path,
    *,
    server: Path,
    home: Path,
    environment: Mapping[str, str],
    platform: str = sys.platform,
) -> Machine:
    """Return the machine of this project and user."""
    root, home = Path(os.path.abspath(root)), Path(os.path.abspath(home))

    def named(variable: str, default: Path) -> Path:
        return Path(environment.get(variable) or default)

    directories = {
        "root": root,
        "home": home,
        "claude": named("CLAUDE_CONFIG_DIR", home),
        "claude-home": named("CLAUDE_CONFIG_DIR", home / ".claude"),
        "codex": named("CODEX_HOME", home / ".codex"),
        "copilot": named("COPILOT_HOME", home / ".copilot"),
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
    """Return the files of a place; for a pattern, those that exist, in order."""
    directory = machine.directories.get(place.directory)
    if directory is None:
        return []
    return sorted(directory.glob(place.file)) if "*" in place.file else [directory / place.file]


# How clients fill in variables.


_WITH_DEFAULT = re.compile(r"\$\{(?P<name>(?:(?!:-)[^{}])++)(?::-(?P<default>[^{}]*+))?\}")
_BARE = re.compile(r"\$(?:(?P<bare>\w+)|\{(?P<name>[^{}]++)\})", re.ASCII)


def expander(client: Client, place: Place, machine: Machine) -> Expand:
    """Return what turns a value of an entry into the text that the client makes of it."""
    if client.variables == "${NAME:-default}":
        return _from_environment(_WITH_DEFAULT, machine)
    if client.variables == "$NAME":
        return _from_environment(_BARE, machine)
    if client.variables:
        return _as_editors(machine, place, tilde=client.variables.endswith("~"))
    return str


def _as_editors(machine: Machine, place: Place, *, tilde: bool) -> Expand:
    separator = "\\" if machine.windows else "/"
    words = {"userHome": str(machine.home), "pathSeparator": separator, "/": separator}
    if place.knows_project:
        words["workspaceFolder"] = str(machine.root)
        words["workspaceFolderBasename"] = machine.root.name

    def value(match: re.Match[str]) -> str:
        if match[1].startswith("env:"):  # one that is not set gives nothing
            return machine.variable(match[1].removeprefix("env:")) or ""
        return words.get(match[1], match[0])

    def expand(text: str) -> str:
        text = re.sub(r"\$\{([^{}]*+)\}", value, text)
        return re.sub(r"\A~(?=$|[/\\])", lambda _: str(machine.home), text) if tilde else text

    return expand


def _from_environment(pattern: re.Pattern[str], machine: Machine) -> Expand:
    """Return what fills in environment variables; one neither set nor with a default stays."""

    def value(match: re.Match[str]) -> str:
        parts = match.groupdict()
        known = machine.variable(parts.get("bare") or parts["name"])
        default = parts.get("default")
        return next(text for text in (known, default, match[0]) if text is not None)

    return lambda text: pattern.sub(value, text)


# Whose an entry is.


def entry_line(entry: Mapping[str, object], expand: Expand) -> list[str]:
    """Return the words that an entry starts, its variables filled in; "" for what is no text."""
    listed = entry.get("args")
    words = [entry.get("command"), *(listed if isinstance(listed, list) else ())]
    return [expand(word) if isinstance(word, str) else "" for word in words]


def script_at(words: Sequence[str], name: str, machine: Machine) -> int:
    """Return which word of the entry `name` is our script, counted from 0; -1 when none is."""
    return next((at for at, word in enumerate(words) if _is_script(word, name, machine)), -1)


def _is_script(word: str, name: str, machine: Machine) -> bool:
    """Return whether a word starts our server: a command, a path, or a name beside the entry's."""
    if machine.plain(word).rpartition("/")[2].removesuffix(".exe") == COMMANDS[0]:
        return True
    if not f"/{machine.plain(word)}".endswith(f"/{SCRIPT}"):
        return False
    if "sentinel" in name.casefold() or machine.plain(word) == machine.plain(machine.server):
        return True
    try:
        return os.path.isabs(word) and os.path.samefile(word, machine.server)
    except (OSError, ValueError):  # ValueError: a name that no system takes
        return False


def value_of(option: str, arguments: Sequence[str]) -> str | None:
    """Return the value of an option among arguments, written in either way; the last one counts."""
    value = None
    for at, argument in enumerate(arguments):
        name, equals, inline = argument.partition("=")
        if name == option:
            value = inline if equals else next(iter(arguments[at + 1 :]), None)
    return value
