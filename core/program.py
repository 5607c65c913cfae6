"""Names the program as its reader can type it, writes its notices, and ends its waits."""

import os
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

LOGGER = "sentinel_memory"
NAME = "sentinel-memory"  # in texts for others, wherever they have the program

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_IS_INSTALLED = "sentinel_memory" in sys.modules


def command_for(name: str, script: str) -> str:
    """Return how a command is typed here: its name when it is installed, else its script.

    Outside of PATH, or of the script's directory, the path comes before it.
    """
    if _IS_INSTALLED:
        folder = os.path.dirname(sys.argv[0])
        is_on_path = os.path.abspath(folder) in os.environ.get("PATH", "").split(os.pathsep)
        return name if is_on_path or not folder else _quote(os.path.join(folder, name))
    path = script if read_cwd() == ROOT else os.path.join(ROOT, script)
    return f"{_quote(sys.orig_argv[0])} {_quote(path)}"


def read_cwd() -> str:
    """Return the working directory, "" where it is gone."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def _quote(path: str) -> str:
    return f'"{path}"' if re.search(r"[^\w@%+=:,./\\~-]", path) else path


CLI = command_for(NAME, "cli.py")
SERVER = "sentinel-memory-server" if _IS_INSTALLED else "server.py"
SERVER_COMMAND = command_for("sentinel-memory-server", "server.py")


def read_version() -> str:
    """Return the version, read from `server.py`: importing that takes a second."""
    with open(os.path.join(ROOT, "server.py"), encoding="utf-8") as file:
        [number] = re.findall(r'^VERSION = "([^"]+)"$', file.read(), re.M)
    return str(number)


def missing_packages() -> dict[str, str]:
    """Return the facts of `errors.no_packages`; {} where all packages are there."""
    from importlib.util import find_spec  # a hook needs none of them

    if not (names := [name for name in ("fastmcp", "filelock") if find_spec(name) is None]):
        return {}
    venv, is_windows = os.path.join(ROOT, ".venv"), os.name == "nt"
    python = os.path.join(venv, *(("Scripts", "python.exe") if is_windows else ("bin", "python")))
    install = (python, "-m", "pip", "install", "-q", "-r", os.path.join(ROOT, "requirements.txt"))
    lines = ((sys.executable, "-m", "venv", venv), install)
    commands = "\n".join(f"  {command_line(words, windows=is_windows)}" for words in lines)
    return {"packages": ", ".join(names), "python": python, "commands": commands}


def command_line(words: Sequence[str], *, windows: bool, shell: str = "powershell") -> str:
    """Return the words, quoted, as a line for a shell. shell: the one of Windows."""
    if not windows:
        return shlex.join(words)
    if all(re.fullmatch(r"[\w.:/+=-]+", word) for word in words):
        return " ".join(words)
    if shell == "powershell":
        return "& " + " ".join("'" + word.replace("'", "''") + "'" for word in words)
    # A line that begins with a quote would lose its outermost quotes in cmd.
    return "call " + " ".join(f'"{word}"' for word in words)


def printable_fact(fact: object) -> str:
    """Return a fact as one line of text, with U+FFFD for unprintable characters.

    A terminal would obey escape codes, and a second line would read like our notice.
    """
    return "".join(char if char.isprintable() else "\ufffd" for char in str(fact))


def warn(notice: str, *facts: object) -> None:
    """Log a warning on standard error. notice: a sentence with `%s` for each fact."""
    import logging  # a reader never needs it

    logging.getLogger(LOGGER).warning(notice, *map(printable_fact, facts))


class Cancellation(NamedTuple):
    """The questions of a caller that waits for another process, asked in its own thread.

    is_requested: nobody wants the change any more; it is not made even where the lock is free.
    is_ending: a free lock is taken, and nothing waits for a held one.
    """

    is_requested: Callable[[], bool] = bool  # which is False, as that of no caller
    is_ending: Callable[[], bool] = bool

    def ends_wait(self) -> bool:
        return self.is_requested() or self.is_ending()


NO_CANCELLATION = Cancellation()
