"""Reads settings from the environment, and finds the project of a process."""

import os
import re
import sys
import zlib
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from core.errors import DiskError, ProjectRefusedError, RefusedError, SentinelError

if TYPE_CHECKING:
    from pathlib import Path

# The rooms of the memory, each with the profiles that it can be offered in.
ROOMS: Mapping[str, tuple[str, ...]] = {
    "lessons": (),
    "sessions": ("core",),
    "fragments": ("core",),
}
DEFAULT_ROOMS = ("lessons",)

# The names that an agent may have, wherever one is given: in a call, for a key, in a file.
DEFAULT_AGENT = "default"  # whose knowledge all agents share
NAME_CHARS = 100
REFUSED_AGENTS = frozenset(("system", "admin"))  # names that another program's rules would trust

CONTEXT_DIRECTORY = ".context"
LOG_NAME = "memory_log.jsonl"

VARIABLES = ("SENTINEL_MEMORY_PROJECT", "CLAUDE_PROJECT_DIR")  # each may name the project
STATE_VARIABLE = "SENTINEL_MEMORY_STATE"
ROOMS_VARIABLE = "SENTINEL_MEMORY_ROOMS"
FRAGMENTS_VARIABLE = "SENTINEL_MEMORY_FRAGMENTS"  # says where the fragments of the user are


# Settings.


class _Number(NamedTuple):
    """A setting that is a whole number. least: a smaller one becomes this."""

    variable: str
    default: int
    least: int = 1
    is_budget: bool = False  # the server does not start where it is no such number


# The head of an answer and one record at the byte limits, in English or Korean, is the least.
_BUDGET = _Number("SENTINEL_MEMORY_BUDGET", 20_000, least=1_000, is_budget=True)
_NUMBERS = {
    "budget_tokens": _BUDGET,
    "hook_tokens": _Number("SENTINEL_MEMORY_HOOK_BUDGET", 1_500, least=200, is_budget=True),
    "lock_timeout_s": _Number("SENTINEL_MEMORY_LOCK_TIMEOUT_S", 10),
    "threshold": _Number("SENTINEL_MEMORY_THRESHOLD", 50),
}
DEFAULT_BUDGET_CHARS = 45_000
_MOST = 999_999_999
_ON = frozenset(("1", "true", "yes", "on"))
_OFF = frozenset(("", "0", "false", "no", "off"))
_STRICT, _ANSWERS = "SENTINEL_MEMORY_STRICT", "SENTINEL_MEMORY_ANSWERS"
_LANGUAGE = "SENTINEL_MEMORY_LANG"  # `core.messages` reads it
_OTHER_VARIABLES = (_STRICT, _ANSWERS, _LANGUAGE, ROOMS_VARIABLE, STATE_VARIABLE)
_SETTING_VARIABLES = (*(number.variable for number in _NUMBERS.values()), *_OTHER_VARIABLES)


class Settings(NamedTuple):
    """The settings of one call.

    rooms: as `read_rooms` returns them. answers: the form of answers of other rooms than the log.
    warnings: name variables without a usable value. errors: a server must not start with them.
    """

    budget_tokens: int = _BUDGET.default  # of one answer
    budget_chars: int = DEFAULT_BUDGET_CHARS
    hook_tokens: int = _NUMBERS["hook_tokens"].default  # shown when a session starts
    lock_timeout_s: int = _NUMBERS["lock_timeout_s"].default
    threshold: int = _NUMBERS["threshold"].default  # with more records a compaction is required
    strict: bool = False  # a record with a secret is refused, not redacted
    rooms: tuple[str, ...] = DEFAULT_ROOMS
    answers: Literal["text", "json"] = "text"
    warnings: tuple[str, ...] = ()
    errors: tuple[SentinelError, ...] = ()


DEFAULTS = Settings()


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Return the settings; an unusable value leaves the default."""
    return _settings_of(tuple([environment.get(name, "").strip() for name in _SETTING_VARIABLES]))


@lru_cache(maxsize=8)  # a call reads them, and they seldom change
def _settings_of(values: tuple[str, ...]) -> Settings:
    warnings, errors = list[str](), list[SentinelError]()
    texts = dict(zip(_SETTING_VARIABLES, values, strict=True))
    for name, value in texts.items():
        if "${" in value:
            warnings.append(f"{name} holds an unexpanded variable and is treated as unset")
            texts[name] = ""
    if texts[_LANGUAGE] and texts[_LANGUAGE][:2].lower() not in ("en", "ko"):
        warnings.append(f"{_LANGUAGE} is neither en nor ko; en is used")
    strict, answers = texts[_STRICT].lower(), texts[_ANSWERS].lower()
    if strict not in _ON | _OFF:  # whoever sets it wants more safety than without it, not less
        warnings.append(f"{_STRICT} is neither 1 nor 0; 1 is used")
    if answers not in ("", "text", "json"):
        warnings.append(f"{_ANSWERS} is neither text nor json; text is used")
    if texts[STATE_VARIABLE] and not os.path.isabs(os.path.expanduser(texts[STATE_VARIABLE])):
        warnings.append(f"{STATE_VARIABLE} is not an absolute path; the usual place is used")
    numbers = dict[str, int]()
    for field, (name, default, least, is_budget) in _NUMBERS.items():
        number = _parse_number(texts[name] or str(default))
        if not number:
            warnings.append(f"{name} is not a whole number of {least} or more; {default} is used")
            if is_budget:
                facts: dict[str, str | int] = {"least": least, "default": default}
                errors.append(RefusedError("bad_setting", variable=name, **facts))
        elif number < least:
            warnings.append(f"{name} is below the least that is of use; {least} is used")
        numbers[field] = max(number or default, least)
    rooms: tuple[str, ...] = DEFAULT_ROOMS
    try:
        rooms = read_rooms(texts[ROOMS_VARIABLE])
    except RefusedError as error:
        errors.append(error)
    chars = DEFAULT_BUDGET_CHARS * numbers["budget_tokens"] // _BUDGET.default
    return Settings(
        **numbers,
        # Clients cut at characters as well, whatever these cost: only who asks for more gets more.
        budget_chars=max(DEFAULT_BUDGET_CHARS, chars),
        strict=strict not in _OFF,
        rooms=rooms,
        answers="json" if answers == "json" else "text",
        warnings=tuple(warnings),
        errors=tuple(errors),
    )


def _parse_number(text: str) -> int:
    """Return the number, at most _MOST; 0 for anything but a positive one."""
    if not (text.isascii() and text.isdigit()):
        return 0
    return min(int(text.lstrip("0")[:10] or 0), _MOST)  # of thousands of digits, the first say it


def read_rooms(text: str, source: str = ROOMS_VARIABLE) -> tuple[str, ...]:
    """Return the rooms that a text lists, the default for none.

    >>> read_rooms("lessons, sessions:core")
    ('lessons', 'sessions:core')

    source: the place of the text. Raises RefusedError for an unknown word.
    """
    words = tuple(dict.fromkeys(text.lower().replace(",", " ").split()))
    names = [word.partition(":")[0] for word in words]
    known_words = [word for room in ROOMS for word in (room, *(f"{room}:{p}" for p in ROOMS[room]))]
    if not set(words) <= set(known_words) or len(set(names)) < len(names):
        raise RefusedError("bad_rooms", source=source, known=", ".join(known_words))
    return words or DEFAULT_ROOMS


# The project.

_MOST_RULES_BYTES = 65_536  # of a .gitignore in `.context`


class Project(NamedTuple):
    folder: str  # its path: a hook gets along without `pathlib`
    source: str  # `--project`, the name of a variable, or `cwd`
    is_unexpanded: bool = False  # a name was passed over, since a variable stands in it
    warnings: tuple[str, ...] = ()  # sentences on all that was passed over on the way

    @property
    def root(self) -> "Path":
        from pathlib import Path

        return Path(self.folder)

    @property
    def log_path(self) -> "Path":
        """Where the memory log is or will be."""
        from pathlib import Path

        return Path(self.folder, CONTEXT_DIRECTORY, LOG_NAME)

    def check(self, environment: Mapping[str, str], *, writes: bool = False) -> None:
        """Raise DiskError when the directory does not exist.

        writes: raise ProjectRefusedError, too, in a home, root or system directory.
        """
        if not os.path.isdir(self.folder):  # False, not an error, for a name that no system takes
            raise DiskError("project_missing", path=self.folder, source=self.source)
        if writes and (kind := no_project_kind(self.folder, environment)):
            raise ProjectRefusedError(path=self.folder, kind=kind, source=self.source)


def find_project(
    argument: str | None, environment: Mapping[str, str], cwd: "str | Path" = ""
) -> Project:
    """Return the project of `--project`, else of a variable, else of `cwd`; "": of this process.

    It is the nearest directory with a memory, from the named one up to the root of its git
    repository; else the named one itself. Directories of other users above it are passed over, with
    a warning. Raises DiskError where the working directory is needed and gone.
    """
    warnings = list[str]()
    source, value = "cwd", ""
    texts = {"--project": argument or "", **{name: environment.get(name, "") for name in VARIABLES}}
    for name, text in texts.items():
        if "${" in text:
            warnings.append(f"{name} holds an unexpanded variable and is treated as unset")
        elif text.strip():
            source, value = name, text.strip()
            break
    try:
        start = os.path.abspath(os.path.join(cwd, os.path.expanduser(value)))
    except FileNotFoundError as error:
        raise DiskError("project_missing", path=os.curdir, source="cwd") from error
    is_unexpanded = bool(warnings)
    nearest, path = "", start
    while True:
        context, git = os.path.join(path, CONTEXT_DIRECTORY), os.path.join(path, ".git")
        is_memory = not nearest and os.path.isdir(context) and may_hold_memory(context)
        if is_memory and (path == start or _is_trusted(context, start, warnings)):
            nearest = path
        if os.path.exists(git) and (path == start or _is_trusted(git, start, warnings)):
            break
        parent = os.path.dirname(path)
        if parent == path:  # no repository: the parents are not this project
            nearest = ""
            break
        path = parent
    return Project(nearest or start, source, is_unexpanded, tuple(warnings))


def may_hold_memory(context: str) -> bool:
    """Return whether a directory is there for a memory, or for nothing yet.

    Other tools keep a `.context` as well, often one in each package of a repository.
    """
    if os.path.islink(context):
        return True  # `core.disk` tells where it leads
    try:
        names = os.listdir(context)
    except OSError:
        return True  # whoever reads the log says why it cannot be read
    log = LOG_NAME.partition(".")[0]
    if not names or "sessions" in names or any(name.lstrip(".").startswith(log) for name in names):
        return True
    for name in (".gitignore", ".gitattributes"):
        companion = os.path.join(context, name)
        if os.path.isfile(companion):
            with suppress(OSError), open(companion, "rb") as file:
                if LOG_NAME.encode("ascii") in file.read(_MOST_RULES_BYTES):
                    return True
    return False


def _is_trusted(path: str, start: str, warnings: list[str]) -> bool:
    """Return whether a file and its directory belong to the owner of `start`, this user or root."""
    if not hasattr(os, "geteuid"):  # Windows names no owners
        return True
    owners = {0, os.geteuid(), _owner_of(start)}
    if {_owner_of(path, itself=True), _owner_of(os.path.dirname(path))} <= owners:
        return True
    warnings.append(f"{path!r} belongs to another user and is passed over; to use it: --project")
    return False


def _owner_of(path: str, *, itself: bool = False) -> int:
    try:
        return os.stat(path, follow_symlinks=not itself).st_uid
    except (OSError, ValueError):
        return -1


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
_WINDOWS_TREES = ("SYSTEMROOT", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMDATA")


def no_project_kind(root: "str | Path", environment: Mapping[str, str]) -> str:
    """Return `home`, `root` or `system` for a directory that is no project, else ""."""
    path = os.path.normcase(os.path.realpath(root))
    homes = {environment.get("HOME"), environment.get("USERPROFILE"), os.path.expanduser("~")}
    if any(home and os.path.normcase(os.path.realpath(home)) == path for home in homes):
        return "home"
    if os.path.dirname(path) == path:
        return "root"
    trees = [*_SYSTEM_TREES, *(environment.get(name, "") for name in _WINDOWS_TREES)]
    # `tempfile` would write a file into each, and take the project where the others are full.
    places = (*map(environment.get, ("TMPDIR", "TEMP", "TMP")), "/tmp")
    directories = [*_SYSTEM_DIRECTORIES, *(os.path.realpath(place) for place in places if place)]
    if environment.get("LOCALAPPDATA"):  # where editors are installed for one user
        trees.append(os.path.join(environment["LOCALAPPDATA"], "Programs"))
    if environment.get("USERPROFILE"):
        directories.append(os.path.dirname(environment["USERPROFILE"]))
    is_system = path in map(os.path.normcase, directories) or any(
        tree and f"{path}{os.sep}".startswith(os.path.normcase(tree) + os.sep) for tree in trees
    )
    return "system" if is_system else ""


# Directories of this machine.


def state_directory(root: str, environment: Mapping[str, str], platform: str = sys.platform) -> str:
    """Return the directory for a project's files on this machine only, "" without a home.

    Nothing is created. A relative place is passed over: it would depend on the client's directory.
    """
    setting = environment.get(STATE_VARIABLE, "")
    base = _user_directory(setting, "XDG_STATE_HOME", "state", environment, platform)
    real_path = os.path.normcase(os.path.realpath(root))
    checksum = zlib.crc32(real_path.encode("utf-8", "surrogateescape"))
    name = f"{safe_file_name(os.path.basename(real_path) or 'root', 40)}-{checksum:08x}"
    return base and os.path.join(base, name)


def data_directory(environment: Mapping[str, str]) -> str:
    """Return the directory for a person's files of all projects, "" without a home."""
    return _user_directory("", "XDG_DATA_HOME", "share", environment, sys.platform)


def _user_directory(
    setting: str, variable: str, name: str, environment: Mapping[str, str], platform: str
) -> str:
    home = os.path.expanduser("~")
    if platform == "win32":
        parents = environment.get("LOCALAPPDATA", ""), os.path.join(home, "AppData", "Local")
    elif platform == "darwin":
        parents = "", os.path.join(home, "Library", "Application Support")
    else:
        parents = environment.get(variable, ""), os.path.join(home, ".local", name)
    own_place = os.path.expanduser(setting.strip())
    places = [own_place, *(os.path.join(place, "sentinel-memory") for place in parents)]
    return next(filter(os.path.isabs, places), "")


_ODD = re.compile(r"[^A-Za-z0-9._-]+")


def safe_file_name(name: str, most: int) -> str:
    """Return a file name of at most `most` plain characters; a checksum follows if it differs.

    >>> safe_file_name("my notes", 40)
    'my-notes-97a9ab5c'
    """
    safe = _ODD.sub("-", name)[:most].strip(".-")
    return safe if safe == name else f"{safe}-{zlib.crc32(name.encode('utf-8', 'replace')):08x}"
