"""Reads `config.json` of the sessions: where they are kept, what is recorded, what is recommended.

The keys and their meaning are those of the specification (section 11 of the sessions' plan). A
value that cannot be used is refused with a sentence on its key: with a default in its place, the
program would record what somebody excluded, or look for sessions where they are not. The directory
of the sessions is made here as well, with what keeps git from the database of one machine.
"""

import os
import shlex
import stat
from pathlib import Path
from typing import NamedTuple

from core.config import CONTEXT_DIRECTORY
from core.disk import make_directory, reason_of, way_out
from core.room.documents import CONFIG_NAME, Expected, Keys, unknown_keys_in, values_in, wrong_value
from rooms.sessions.rows import TOKENIZERS
from rooms.sessions.session import SessionsError

FOLDER = f"{CONTEXT_DIRECTORY}/sessions"
INCLUDED = (
    *("npm install", "npm run", "npm test", "yarn", "pnpm"),
    *("git commit", "git push", "git merge", "docker", "docker-compose", "python", "pip"),
    *("pytest", "uv", "npx", "cargo", "go", "make", "mvn", "gradle", "gradlew", "dotnet"),
)
EXCLUDED = (
    *("ls", "cd", "pwd", "echo", "cat", "head", "tail"),
    *("git status", "git log", "git diff", "git branch"),
)
IGNORED = """\
# What is of this machine alone. Two people who commit current.json meet a conflict at each merge.
*.db*
*.tmp
current.json
archive/
"""


class Config(NamedTuple):
    """What `config.json` says, or would by default.

    folder: of the database, relative to the project. include, exclude: the leading words of the
    commands that are recorded, and of those that are not; () for include records all others.
    """

    folder: str = FOLDER
    db_file: str = "history.db"
    keeps_json: bool = True
    logs_actions: bool = True
    include: tuple[str, ...] = INCLUDED
    exclude: tuple[str, ...] = EXCLUDED
    logs_edits: bool = True
    logs_errors: bool = True
    default_limit: int = 5
    tokenizer: str = "unicode61"
    recommends: bool = True
    shows_at_start: bool = True
    warns: bool = True

    def database(self, root: Path) -> Path:
        """Return the database of a project, which need not exist."""
        return root / self.folder / self.db_file


def config_path(root: Path) -> Path:
    """Return where the settings of a project's sessions are, if it has any."""
    return root / FOLDER / CONFIG_NAME


def read_config(root: Path) -> Config:
    """Return the settings of a project's sessions. Raises ConfigError, SessionsError."""
    path = config_path(root)
    config = Config(**values_in(path, _KEYS))
    outside = way_out(root / config.folder, root)
    if outside and config.folder != FOLDER:
        raise wrong_value(path, "storage.location", _FOLDER.sentence)
    if outside:
        link = str(outside.link)
        raise SessionsError("outside", path=link, rm=shlex.join(["rm", link]))
    return config


def unknown_keys(root: Path) -> list[str]:
    """Return the keys of `config.json` that this program does not know, such as misspelt ones.

    Raises ConfigError.
    """
    return unknown_keys_in(config_path(root), _KEYS)


_TRUTH = Expected("sessions.room.expects_bool", lambda value: isinstance(value, bool))
_TEXTS = Expected(
    "sessions.room.expects_texts",
    lambda value: isinstance(value, list) and all(isinstance(it, str) for it in value),
)
_LIMIT = Expected(
    "sessions.room.expects_limit", lambda value: type(value) is int and 1 <= value <= 20
)
_FILE = Expected(
    "sessions.room.expects_file",
    lambda value: isinstance(value, str) and value.endswith(".db") and value.isprintable()
    and not set(value) & set('/\\:?*"<>|') and not value.startswith((".", "archive-")),
)  # fmt: skip
_FOLDER = Expected(
    "sessions.room.expects_folder", lambda value: isinstance(value, str) and _is_inside(value)
)
_TOKENIZER = Expected("sessions.room.expects_tokenizer", lambda value: value in TOKENIZERS)

# fmt: off
_KEYS: Keys = {
    "storage.location": ("folder", _FOLDER),
    "storage.dbFile": ("db_file", _FILE),
    "storage.keepJsonSync": ("keeps_json", _TRUTH),
    "actionLogging.enabled": ("logs_actions", _TRUTH),
    "actionLogging.commands.include": ("include", _TEXTS),
    "actionLogging.commands.exclude": ("exclude", _TEXTS),
    "actionLogging.edits": ("logs_edits", _TRUTH),
    "actionLogging.errors": ("logs_errors", _TRUTH),
    "search.defaultLimit": ("default_limit", _LIMIT),
    "search.ftsLanguage": ("tokenizer", _TOKENIZER),
    "recommendations.enabled": ("recommends", _TRUTH),
    "recommendations.showOnSessionStart": ("shows_at_start", _TRUTH),
    "recommendations.warnOnFailedPatterns": ("warns", _TRUTH),
}
# fmt: on


def _is_inside(folder: str) -> bool:
    """Return whether a path is relative, leads out of nothing, and is not git's own."""
    parts = folder.lower().replace("\\", "/").split("/")
    is_odd = not parts[0] or ":" in folder or not folder.isprintable() or "~" in parts[0]
    return bool(folder.strip("/. ")) and not is_odd and not {"..", ".git"} & set(parts)


def make_folder(directory: Path) -> None:
    """Make the directory and its `.gitignore` where they are missing. Raises SessionsError."""
    ignored = directory / ".gitignore"
    try:
        make_directory(directory)
        if os.path.lexists(ignored) and not stat.S_ISREG(os.lstat(ignored).st_mode):
            raise SessionsError("ignored", path=str(ignored))
        if not (ignored.exists() and ignored.stat().st_size):  # its writer may have been killed
            ignored.write_text(IGNORED, encoding="utf-8", newline="\n")
    except OSError as error:
        reason = reason_of(error)
        raise SessionsError("folder", path=str(directory), reason=reason) from error
