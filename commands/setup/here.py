"""Finds out, before setup plans, how this program starts and which clients are here."""

import importlib.util
import os
import shutil
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from commands.setup.client_machine import Machine, is_passing, machine_of
from commands.setup.client_table import CLIENTS, COMMANDS, Client
from commands.setup.configured import configured_clients
from commands.setup.files import Installation, Tree
from core.config import Project
from core.git import HistoryError, WorkTree

HERE = Path(__file__).resolve().parents[2]
SERVER = HERE / "server.py"
PACKAGES = ("fastmcp", "filelock")


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

    return Installation(server=started("server.py"), cli=started("cli.py"), windows=windows)


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


def tree_of(root: Path, names: Collection[str]) -> Tree | None:
    """Return what git says of a project and of these files in it; None where it says nothing."""
    try:
        tree = WorkTree(root)
        said = tree.ask("ls-files", "-z", "--", *(f":(literal){name}" for name in names))
        exclude = tree.ask("rev-parse", "--git-path", "info/exclude")
    except HistoryError:
        return None
    tracked = frozenset(os.fsdecode(name) for name in said.split(b"\0") if name)
    path = root / os.fsdecode(exclude.removesuffix(b"\n"))
    return Tree(Path(os.path.abspath(path)), tree.prefix, tracked)


def machine_here(project: Project) -> Machine:
    """Return this machine, with this project and the server of this installation."""
    home = Path(os.path.expanduser("~"))
    return machine_of(project.root, server=SERVER, home=home, environment=os.environ)


def present_clients(machine: Machine) -> frozenset[str]:
    """Return the keys of the clients that start the server already, for any project."""
    found = configured_clients(
        machine.root, server=machine.server, home=machine.home, environment=machine.environment
    )
    names = {entry.client for entry in found if entry.entry}
    return frozenset(client.key for client in CLIENTS if client.name in names)


def trace_of(client: Client, machine: Machine) -> str:
    """Return what shows that a client is here: a program or a file; "" when nothing does."""
    for command in client.commands:
        if shutil.which(command, path=machine.variable("PATH") or ""):
            return command
    for name, pattern in client.traces:
        directory = machine.directories.get(name)
        if directory:
            for found in sorted(directory.glob(pattern)) if pattern else [directory]:
                if found.exists():
                    return str(found)
    return ""
