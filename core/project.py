"""Finds the project that a process speaks of, its memory log, and places where none may be."""

import os
import re
import sys
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from core.errors import DiskError, ProjectRefusedError

if TYPE_CHECKING:
    from pathlib import Path

CONTEXT_DIRECTORY = ".context"
_MOST_RULES_BYTES = 65_536  # of a .gitignore in it
LOG_NAME = "memory_log.jsonl"
VARIABLES = ("SENTINEL_MEMORY_PROJECT", "CLAUDE_PROJECT_DIR")
STATE_VARIABLE = "SENTINEL_MEMORY_STATE"
FRAGMENTS_PLACE = "SENTINEL_MEMORY_FRAGMENTS"  # says where the fragments of the user are

# A client that starts servers in one of these has not named a project. They stand here as they are
# once links are resolved: `/bin` is a link on most systems, `/etc` and `/var` are on macOS.
_SYSTEM_TREES = (
    *("/bin", "/boot", "/etc", "/lib", "/lib64", "/proc", "/sbin", "/snap", "/sys"),
    *("/usr/bin", "/usr/include", "/usr/lib", "/usr/libexec", "/usr/sbin", "/usr/share"),
    *("/Applications", "/Library", "/System", "/private/etc"),
)
_SYSTEM_DIRECTORIES = (
    *("/dev", "/home", "/media", "/mnt", "/opt", "/root", "/run", "/srv", "/usr", "/usr/local"),
    *("/usr/local/bin", "/var", "/var/lib", "/var/tmp", "/Users", "/private/var"),
)
_ODD = re.compile(r"[^A-Za-z0-9._-]+")
_WINDOWS_TREES = ("SYSTEMROOT", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMDATA")


class Project(NamedTuple):
    """A project directory and where its name came from.

    folder: its path, for a hook, which gets along without `pathlib`. source: `--project`, the name
    of a variable, or `cwd`.
    warnings: what was passed over on the way, in words. is_unexpanded: whether a name was, since a
    variable stands in it.
    """

    folder: str
    source: str
    is_unexpanded: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def root(self) -> "Path":
        """The directory of the project."""
        from pathlib import Path

        return Path(self.folder)

    @property
    def log_path(self) -> "Path":
        """Where the memory log of this project is or will be."""
        return self.root / CONTEXT_DIRECTORY / LOG_NAME

    def check_readable(self) -> None:
        """Raise DiskError when the directory does not exist."""
        if not os.path.isdir(self.folder):  # False, not an error, for a name that no system takes
            raise DiskError("project_missing", path=self.folder, source=self.source)

    def check_writable(self, environment: Mapping[str, str]) -> None:
        """Raise ProjectRefusedError (an OSError) in a home, root or system directory."""
        self.check_readable()
        kind = no_project_kind(self.folder, environment)
        if kind:
            raise ProjectRefusedError(path=self.folder, kind=kind, source=self.source)


def find_project(
    argument: str | None, environment: Mapping[str, str], cwd: "str | Path"
) -> Project:
    """Return the project of `--project`, else of a variable, else of the working directory `cwd`.

    From the directory named, the nearest one with a `.context` directory, up to the root of its
    git repository, is the project; without such a one the directory itself.
    """
    warnings: list[str] = []
    is_unexpanded = False
    named = [("--project", argument or "")]
    named += [(variable, environment.get(variable, "")) for variable in VARIABLES]
    for source, value in named:
        value = value.strip()
        if "${" in value:
            warnings.append(f"{source} holds an unexpanded variable and is treated as unset")
            is_unexpanded = True
        elif value:
            break
    else:
        source, value = "cwd", ""
    start = os.path.abspath(os.path.join(cwd, os.path.expanduser(value)))
    return Project(_nearest(start, warnings), source, is_unexpanded, tuple(warnings))


def _nearest(start: str, warnings: list[str]) -> str:
    """Return the nearest directory with a memory up to the repository's root, else `start`.

    Above `start`, what another user put there is none of the project's; warnings gets a line on it.
    """
    nearest, path = "", start
    while True:
        context, git = os.path.join(path, CONTEXT_DIRECTORY), os.path.join(path, ".git")
        is_memory = not nearest and os.path.isdir(context) and _holds_memory(context)
        if is_memory and _is_ours(context, start, warnings):
            nearest = path
        if os.path.exists(git) and _is_ours(git, start, warnings):
            return nearest or start
        parent = os.path.dirname(path)
        if parent == path:  # no repository: the parents are not this project
            return start
        path = parent


def _holds_memory(context: str) -> bool:
    """Return whether a directory is there for a memory, or for nothing yet.

    Other tools keep a `.context` as well, often one in each package of a repository.
    """
    if os.path.islink(context):
        return True  # `core.disk.links` tells where it leads
    try:
        names = os.listdir(context)
    except OSError:
        return True  # whoever reads the log says why it cannot be read
    log = LOG_NAME.partition(".")[0]
    if not names or "sessions" in names or any(it.lstrip(".").startswith(log) for it in names):
        return True
    companions = (os.path.join(context, name) for name in (".gitignore", ".gitattributes"))
    return any(_mentions_log(path) for path in companions if os.path.isfile(path))


def _mentions_log(path: str) -> bool:
    """Return whether a file in which git is told about its directory names the memory log."""
    try:
        with open(path, "rb") as file:
            return LOG_NAME.encode("ascii") in file.read(_MOST_RULES_BYTES)
    except OSError:
        return False


def _is_ours(found: str, start: str, warnings: list[str]) -> bool:
    """Return whether what was found belongs to the owner of `start`, to this user or to root.

    So does its directory, as git asks. What is in `start` itself is what was named.
    """
    directory = os.path.dirname(found)
    if directory == start or not hasattr(os, "geteuid"):  # Windows names no owners
        return True
    owners = {0, os.geteuid(), _owner(start)}
    if {_owner(found, itself=True), _owner(directory)} <= owners:
        return True
    warnings.append(f"{found!r} belongs to another user and is passed over; to use it: --project")
    return False


def _owner(path: str, *, itself: bool = False) -> int:
    """Return the user id of a file, or of the link itself; -1 where there is none."""
    try:
        return os.stat(path, follow_symlinks=not itself).st_uid
    except (OSError, ValueError):
        return -1


def no_project_kind(root: "str | Path", environment: Mapping[str, str]) -> str:
    """Return `home`, `root` or `system` for a directory that is no project, else ""."""
    real = os.path.normcase(os.path.realpath(root))
    homes = {environment.get("HOME"), environment.get("USERPROFILE"), os.path.expanduser("~")}
    if any(home and os.path.normcase(os.path.realpath(home)) == real for home in homes):
        return "home"
    if os.path.dirname(real) == real:
        return "root"
    import tempfile  # only a writer asks, and it brings a tenth of what a hook may load

    trees = [*_SYSTEM_TREES, *(environment.get(name, "") for name in _WINDOWS_TREES)]
    directories = [*_SYSTEM_DIRECTORIES, os.path.realpath(tempfile.gettempdir())]
    if environment.get("LOCALAPPDATA"):  # where editors are installed for one user
        trees.append(os.path.join(environment["LOCALAPPDATA"], "Programs"))
    if environment.get("USERPROFILE"):
        directories.append(os.path.dirname(environment["USERPROFILE"]))
    system = real in map(os.path.normcase, directories) or any(
        tree and f"{real}{os.sep}".startswith(os.path.normcase(tree) + os.sep) for tree in trees
    )
    return "system" if system else ""


def state_directory(root: str, environment: Mapping[str, str], platform: str = sys.platform) -> str:
    """Return the directory for what a project keeps on this machine only; nothing is created.

    "" for an account without a home directory. A place that is not absolute would be another one
    wherever the client is at work, and is passed over.
    """
    wanted = environment.get(STATE_VARIABLE, "")
    base = _user_directory(wanted, "XDG_STATE_HOME", "state", environment, platform)
    real = os.path.normcase(os.path.realpath(root))
    check = zlib.crc32(real.encode("utf-8", "surrogateescape"))
    name = f"{safe_file_name(os.path.basename(real) or 'root', 40)}-{check:08x}"
    return base and os.path.join(base, name)


def data_directory(environment: Mapping[str, str], platform: str = sys.platform) -> str:
    """Return the directory for what a person keeps over all projects; nothing is created.

    "" for an account without a home directory.
    """
    return _user_directory("", "XDG_DATA_HOME", "share", environment, platform)


def _user_directory(
    wanted: str, variable: str, name: str, environment: Mapping[str, str], platform: str
) -> str:
    """Return our directory below `~/.local`, or where this platform has it; "" for none.

    wanted: what the user names instead. variable, name: what the XDG specification calls it.
    """
    home = os.path.expanduser("~")
    if platform == "win32":
        above = environment.get("LOCALAPPDATA", ""), os.path.join(home, "AppData", "Local")
    elif platform == "darwin":
        above = "", os.path.join(home, "Library", "Application Support")
    else:
        above = environment.get(variable, ""), os.path.join(home, ".local", name)
    named = os.path.expanduser(wanted.strip())
    places = [named, *(os.path.join(place, "sentinel-memory") for place in above)]
    return next(filter(os.path.isabs, places), "")


def safe_file_name(name: str, most: int) -> str:
    """Return a file name of at most `most` plain characters; a checksum follows if it differs."""
    safe = _ODD.sub("-", name)[:most].strip(".-")
    return safe if safe == name else f"{safe}-{zlib.crc32(name.encode('utf-8', 'replace')):08x}"
