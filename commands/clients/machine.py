"""Describes the machine as a client finds it: how this program starts there, whose an entry is."""

import importlib.util
import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from commands.clients.table import COMMANDS, Client, Place

HERE = Path(__file__).resolve().parents[2]
SCRIPT = "server.py"
PACKAGES = ("fastmcp", "filelock")
# Environments that uv makes in its cache and may clear away.
_OF_UV = re.compile(r"[/\\](?:environments|archive|builds)-v\d+[/\\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """What starts this program: the words of its server, and of its command line.

    is_command: whether these are two commands on the PATH, so that no path of this machine is in
    them; else a script follows an interpreter, or uv and `run`.
    """

    server: tuple[str, ...]
    cli: tuple[str, ...]
    windows: bool = False
    is_command: bool = False


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

    def paths(self, place: Place) -> list[Path]:
        """Return the files of a place; for a pattern those that exist, in order."""
        name, _, file = place.partition(":")
        directory = self.directories.get(name)
        if directory is None:
            return []
        return sorted(directory.glob(file)) if "*" in file else [directory / file]

    def path(self, place: Place) -> Path:
        """Return the one file of a place."""
        return self.paths(place)[0]


def machine_of(
    root: Path,
    *,
    server: Path = HERE / SCRIPT,
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


def machine_here(root: Path) -> Machine:
    """Return this machine, with this project and the server of this installation."""
    return machine_of(root, home=Path(os.path.expanduser("~")), environment=os.environ)


def trace_of(client: Client, machine: Machine) -> str:
    """Return what shows that a client is here: a program or a file; "" when nothing does."""
    for place in client.found:
        if place.startswith("$"):
            if shutil.which(place[1:], path=machine.variable("PATH") or ""):
                return place[1:]
            continue
        for path in machine.paths(place):
            if path.exists():
                return str(path)
    return ""


# How this program starts.


def is_passing(path: str) -> bool:
    """Return whether uv may clear away this place, in which `uvx` has put the program."""
    return bool(_OF_UV.search(f"{path}{os.sep}"))


def missing_packages() -> list[str]:
    """Return the packages without which the server does not start in this Python."""
    return [name for name in PACKAGES if importlib.util.find_spec(name) is None]


def runner_of(interpreter: str, environment: Mapping[str, str]) -> tuple[str, ...] | None:
    """Return a script's start words: an interpreter, or uv for one of its temporary environments.

    None when uv, which names itself in UV, cannot be found for such an environment. One in the
    current directory, which may be a stranger's, is none.
    """
    if not is_passing(interpreter):
        return (interpreter,)
    uv = environment.get("UV") or shutil.which("uv", path=environment.get("PATH", ""))
    return (uv, "run") if uv and os.path.isabs(uv) else None


def installed(runner: Sequence[str], directory: str, *, windows: bool) -> Installation:
    """Return the installation in a directory; on Windows its paths have forward slashes."""

    def started(name: str) -> tuple[str, ...]:
        words = [*runner, f"{directory}{os.sep}{name}"]
        return tuple(word.replace("\\", "/") for word in words) if windows else tuple(words)

    return Installation(server=started(SCRIPT), cli=started("cli.py"), windows=windows)


def commands_here(interpreter: str, environment: Mapping[str, str]) -> Installation | None:
    """Return the commands on the PATH, None unless both belong to this interpreter's environment.

    A command on the PATH may lead there by a link, as pipx and uv make them. In an environment that
    uv may clear away they are on the PATH only while uv runs them.
    """
    if is_passing(interpreter):
        return None
    scripts = os.path.realpath(os.path.dirname(interpreter))
    for name in COMMANDS:
        found = shutil.which(name, path=environment.get("PATH", ""))
        if not found or os.path.dirname(os.path.realpath(found)) != scripts:
            return None
    server, cli = COMMANDS
    return Installation(server=(server,), cli=(cli,), windows=os.name == "nt", is_command=True)


def this_program() -> Installation:
    """Return how this program starts, whether or not its server has the packages that it needs."""
    runner = runner_of(sys.executable, os.environ) or (sys.executable,)
    found = None if missing_packages() else commands_here(sys.executable, os.environ)
    return found or installed(runner, str(HERE), windows=os.name == "nt")
