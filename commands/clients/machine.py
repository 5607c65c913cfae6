"""Describes the machine as a client finds it, and how this program starts there."""

import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from commands.clients.table import COMMANDS, Client, Place
from core.program import ROOT, missing_packages

SCRIPT = "server.py"
# Environments that uv makes in its cache and may clear away.
_UV_CACHE = re.compile(r"[/\\](?:environments|archive|builds)-v\d+[/\\]")


class Installation(NamedTuple):
    """The words that start server and command line.

    is_command: commands on the PATH, without a path of this machine; else a script follows an
    interpreter, or `uv run`.
    """

    server: tuple[str, ...]
    cli: tuple[str, ...]
    is_command: bool = False


@dataclass(frozen=True, kw_only=True)
class Machine:
    """One project, user and operating system."""

    root: Path
    home: Path
    environment: Mapping[str, str]
    server: Path = Path(ROOT, SCRIPT)
    platform: str = sys.platform

    @property
    def windows(self) -> bool:
        return self.platform == "win32"

    @cached_property
    def directories(self) -> Mapping[str, Path]:
        """The directories that a Place may name."""
        home = self.home

        def path_from(variable: str, default: Path) -> Path:
            return Path(self.environment.get(variable) or default)

        paths = {
            "root": self.root,
            "home": home,
            "claude": path_from("CLAUDE_CONFIG_DIR", home),
            "claude-home": path_from("CLAUDE_CONFIG_DIR", home / ".claude"),
            "codex": path_from("CODEX_HOME", home / ".codex"),
            "copilot": path_from("COPILOT_HOME", home / ".copilot"),
            "config": path_from("XDG_CONFIG_HOME", home / ".config"),
        }
        if self.platform == "darwin":
            paths["config"] = home / "Library" / "Application Support"
        if self.windows:
            paths["config"] = path_from("APPDATA", home / "AppData" / "Roaming")
            paths["packages"] = path_from("LOCALAPPDATA", home / "AppData" / "Local") / "Packages"
        return paths

    def variable(self, name: str) -> str | None:
        """Return an environment variable; on Windows case does not matter."""
        value = self.environment.get(name)
        return self.environment.get(name.upper()) if value is None and self.windows else value

    def normal_path(self, path: str | Path) -> str:
        """Return a path for comparing: with `/`, on Windows in lower case."""
        text = str(path).replace("\\", "/")
        return text.casefold() if self.windows else text

    def paths(self, place: Place) -> list[Path]:
        """Return the files of a place; of a pattern those that exist, sorted."""
        name, _, file = place.partition(":")
        directory = self.directories.get(name)
        if directory is None:
            return []
        return sorted(directory.glob(file)) if "*" in file else [directory / file]

    def path(self, place: Place) -> Path:
        """Return the one file of a place. Raises IndexError for none."""
        return self.paths(place)[0]


def machine_here(root: Path) -> Machine:
    home = os.path.abspath(os.path.expanduser("~"))
    return Machine(root=Path(os.path.abspath(root)), home=Path(home), environment=os.environ)


def trace_of(client: Client, machine: Machine) -> str:
    """Return the program or file by which a client is known to be here, or ""."""
    for place in client.found:
        if place.startswith("$") and shutil.which(place[1:], path=machine.variable("PATH") or ""):
            return place[1:]
        for path in machine.paths(place):
            if path.exists():
                return str(path)
    return ""


# How this program starts.


def is_temporary(path: str) -> bool:
    """Return whether uv may clear away this path, as it does for `uvx`."""
    return bool(_UV_CACHE.search(f"{path}{os.sep}"))


def runner_of(interpreter: str, environment: Mapping[str, str]) -> tuple[str, ...] | None:
    """Return the words before a script: the interpreter, or `uv run` in one that uv may clear away.

    None without an absolute path to uv: one in the current directory may be a stranger's.
    """
    if not is_temporary(interpreter):
        return (interpreter,)
    uv = environment.get("UV") or shutil.which("uv", path=environment.get("PATH", ""))
    return (uv, "run") if uv and os.path.isabs(uv) else None


def installation_of(server: Sequence[str]) -> Installation:
    """Return the installation of a server; its command line lies beside it."""
    *runner, script = server
    name = "cli.py" if script.lower().endswith(".py") else COMMANDS[1]
    cli = re.sub(r"[^/\\]*\Z", name, script, count=1)
    return Installation(tuple(server), (*runner, cli), is_command=not runner)


def installation_in(runner: Sequence[str], directory: str, *, windows: bool) -> Installation:
    """Return the installation in a directory; on Windows with forward slashes."""
    words = [*runner, f"{directory}{os.sep}{SCRIPT}"]
    words = [word.replace("\\", "/") for word in words] if windows else words
    return installation_of(words)


def find_commands(interpreter: str, environment: Mapping[str, str]) -> Installation | None:
    """Return our commands on the PATH, by links too; None unless both belong to this interpreter.

    None also where uv may clear them away: they are on the PATH only while uv runs.
    """
    if is_temporary(interpreter):
        return None
    scripts = os.path.realpath(os.path.dirname(interpreter))
    for name in COMMANDS:
        path = shutil.which(name, path=environment.get("PATH", ""))
        if not path or os.path.dirname(os.path.realpath(path)) != scripts:
            return None
    return installation_of(COMMANDS[:1])


def this_program() -> Installation:
    """Return the running installation, even without the server's packages."""
    runner = runner_of(sys.executable, os.environ) or (sys.executable,)
    commands = None if missing_packages() else find_commands(sys.executable, os.environ)
    return commands or installation_in(runner, ROOT, windows=os.name == "nt")
