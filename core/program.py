"""Names the commands of this program as whoever reads them can type them."""

import os
import sys

_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_IS_INSTALLED = "sentinel_memory" in sys.modules


def command(name: str, script: str) -> str:
    """Return how a command is typed here: its name when it is installed, else the script of it.

    An installed one outside of PATH and a script of another directory have their paths before them.
    """
    if _IS_INSTALLED:
        folder = os.path.dirname(sys.argv[0])
        is_found = os.path.abspath(folder) in os.environ.get("PATH", "").split(os.pathsep)
        return name if is_found or not folder else _quoted(os.path.join(folder, name))
    path = script if _is_here() else os.path.join(_ROOT, script)
    return f"{_quoted(sys.orig_argv[0])} {_quoted(path)}"


def version() -> str:
    """Return the version of the program, read from `server.py`: importing that takes a second."""
    import re  # a hook asks for no version

    with open(os.path.join(_ROOT, "server.py"), encoding="utf-8") as file:
        [found] = re.findall(r'^VERSION = "([^"]+)"$', file.read(), re.M)
    return str(found)


def _is_here() -> bool:
    try:
        return os.getcwd() == _ROOT
    except OSError:  # the directory is gone
        return False


def _quoted(path: str) -> str:
    return f'"{path}"' if " " in path else path


NAME = "sentinel-memory"  # in what others will read, wherever they have the program
CLI = command(NAME, "cli.py")
SERVER = "sentinel-memory-server" if _IS_INSTALLED else "server.py"
SERVER_COMMAND = command("sentinel-memory-server", "server.py")
