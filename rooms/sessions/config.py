"""Reads `config.json` of the sessions (section 11 of their plan), and makes their directory.

An invalid value is refused: a default would record an excluded command, or look elsewhere. A
`.gitignore` keeps git from the database.
"""

import os
import shlex
import stat
from pathlib import Path
from typing import NamedTuple

from core.config import CONTEXT_DIRECTORY
from core.disk import errors_as, find_exit_link, make_directory
from core.room.documents import CONFIG_NAME, Expected, Keys, unknown_keys_in, values_in, wrong_value
from rooms.sessions.rows import TOKENIZERS
from rooms.sessions.session import SessionsError

FOLDER = f"{CONTEXT_DIRECTORY}/sessions"
CONFIG = f"{FOLDER}/{CONFIG_NAME}"  # which need not exist
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
    """The settings of `config.json`, with their defaults."""

    folder: str = FOLDER  # of the database, relative to the project
    db_file: str = "history.db"
    keeps_json: bool = True
    logs_actions: bool = True
    include: tuple[str, ...] = INCLUDED  # leading words of commands; () records all others
    exclude: tuple[str, ...] = EXCLUDED
    logs_edits: bool = True
    logs_errors: bool = True
    default_limit: int = 5
    tokenizer: str = "unicode61"
    recommends: bool = True
    shows_at_start: bool = True
    warns: bool = True

    def database_path(self, root: Path) -> Path:
        """Return the path of the database, which need not exist."""
        return root / self.folder / self.db_file


def read_config(root: Path) -> Config:
    """Return the settings. Raises ConfigError, SessionsError."""
    path = root / CONFIG
    config = Config(**values_in(path, _KEYS))
    exit_link = find_exit_link(root / config.folder, root)
    if exit_link and config.folder != FOLDER:
        raise wrong_value(path, "storage.location", _FOLDER.sentence)
    if exit_link:
        link = str(exit_link.link)
        raise SessionsError("outside", path=link, rm=shlex.join(["rm", link]))
    return config


def unknown_config_keys(root: Path) -> list[str]:
    """Return unknown keys of `config.json`, such as misspelt ones. Raises ConfigError."""
    return unknown_keys_in(root / CONFIG, _KEYS)


# fmt: off
_FLAG = Expected("sessions.room.expects_bool", lambda value: isinstance(value, bool))
_TEXTS = Expected(
    "sessions.room.expects_texts",
    lambda value: isinstance(value, list) and all(isinstance(text, str) for text in value))
_LIMIT = Expected("sessions.room.expects_limit", lambda n: type(n) is int and 1 <= n <= 20)
_FILE = Expected(
    "sessions.room.expects_file",
    lambda name: isinstance(name, str) and name.endswith(".db") and name.isprintable()
    and not set(name) & set('/\\:?*"<>|') and not name.startswith((".", "archive-")))
_FOLDER = Expected(
    "sessions.room.expects_folder", lambda path: isinstance(path, str) and _is_inside(path))
_TOKENIZER = Expected("sessions.room.expects_tokenizer", lambda value: value in TOKENIZERS)
_KEYS: Keys = {
    "storage.location": ("folder", _FOLDER),
    "storage.dbFile": ("db_file", _FILE),
    "storage.keepJsonSync": ("keeps_json", _FLAG),
    "actionLogging.enabled": ("logs_actions", _FLAG),
    "actionLogging.commands.include": ("include", _TEXTS),
    "actionLogging.commands.exclude": ("exclude", _TEXTS),
    "actionLogging.edits": ("logs_edits", _FLAG),
    "actionLogging.errors": ("logs_errors", _FLAG),
    "search.defaultLimit": ("default_limit", _LIMIT),
    "search.ftsLanguage": ("tokenizer", _TOKENIZER),
    "recommendations.enabled": ("recommends", _FLAG),
    "recommendations.showOnSessionStart": ("shows_at_start", _FLAG),
    "recommendations.warnOnFailedPatterns": ("warns", _FLAG),
}
# fmt: on


def _is_inside(folder: str) -> bool:
    """Return whether a path stays in the project and outside of `.git`."""
    parts = folder.lower().replace("\\", "/").split("/")
    is_odd = not parts[0] or ":" in folder or not folder.isprintable() or "~" in parts[0]
    return bool(folder.strip("/. ")) and not is_odd and not {"..", ".git"} & set(parts)


def make_folder(directory: Path) -> None:
    """Make the directory and its `.gitignore` if missing. Raises SessionsError."""
    ignored = directory / ".gitignore"
    with errors_as(SessionsError, "folder", directory):
        make_directory(directory)
        if os.path.lexists(ignored) and not stat.S_ISREG(os.lstat(ignored).st_mode):
            raise SessionsError("ignored", path=str(ignored))
        if not (ignored.exists() and ignored.stat().st_size):  # its writer may have been killed
            ignored.write_text(IGNORED, encoding="utf-8", newline="\n")
