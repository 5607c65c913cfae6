"""Daily copies of a SQLite file: two stay beside it, one is put back when the file is damaged.

Each gets its name once it is synced and checked: a killed process leaves a whole copy or none.
https://sqlite.org/lang_vacuum.html#vacuuminto
"""

import glob
import os
import sqlite3
import stat
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

from core.disk import append, prepared_file, remove_strays, rename, status_of, sync_directory
from core.program import printable_fact

MODE = 0o600  # the work on a machine is its user's
JOURNALS = "-wal", "-shm", "-journal"  # SQLite opens them by name, and would follow a link
BUSY_CODES = sqlite3.SQLITE_BUSY, sqlite3.SQLITE_PROTOCOL

_KEPT_COPIES = 2
_COPY_AGE = timedelta(days=1)
_STAMP = "%Y%m%dT%H%M%SZ"
_ABANDONED_AGE_S = 3_600  # an unfinished copy of this age is one of a process that was killed
_PIECE_BYTES = 1_000_000
_REASON_CHARS = 200
_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"

Check = Callable[[sqlite3.Connection], object]  # raises for a database that is not ours


class Flaw(NamedTuple):
    """Damage: of pages, of which SQLite says why, or of the index alone.

    copy: the moment of the newest whole copy, "" without one.
    """

    part: Literal["pages", "index"]
    reason: str = ""
    copy: str = ""


class Repair(NamedTuple):
    """The result of a repair. aside: the damaged file's place now. copy: now in use, if any."""

    aside: Path
    copy: Path | None


def copies_of(path: Path) -> list[Path]:
    """Return the copies of a database, the newest first, but those ahead of the clock last.

    Raises OSError.
    """
    now = datetime.now(UTC)
    moments = {copy: moment for copy in _find_copies(path) if (moment := _moment_of(copy))}
    return sorted(moments, key=lambda copy: (moments[copy] <= now, moments[copy]), reverse=True)


def date_of(copy: Path | None) -> str:
    """Return the moment of a copy for people, "" without one."""
    moment = _moment_of(copy) if copy else None
    return f"{moment:%Y-%m-%d %H:%M} UTC" if moment else ""


def is_due(path: Path) -> bool:
    """Return whether the newest copy is a day old and the database has changed. Raises OSError."""
    if status_of(path) is None:
        return False
    newest = next(map(_moment_of, copies_of(path)), None)
    now = datetime.now(UTC)
    if newest is None or newest > now:  # the clock was ahead
        return True
    statuses = filter(None, (status_of(f"{path}{name}") for name in ("", "-wal")))
    changed_at = max((status.st_mtime for status in statuses), default=0.0)
    return now - newest >= _COPY_AGE and changed_at >= newest.timestamp()


def keep_copy(path: Path, write: Callable[[Path], object], check: Check) -> None:
    """Make a copy of a database, and remove all but the newest two.

    write: fills an empty file. Raises OSError, sqlite3.Error and errors of `check`; older copies
    stay.
    """
    remove_strays(path.parent, path.name, least_age_s=_ABANDONED_AGE_S)
    target = path.with_name(f"{path.name}.copy-{datetime.now(UTC):{_STAMP}}")
    with prepared_file(target, b"", path.name, mode=MODE) as new_copy:
        try:
            write(new_copy)
            append(new_copy, b"")  # which syncs it
            if flaw := flaw_of(new_copy, check):
                raise sqlite3.DatabaseError(flaw)
            if not is_due(path):  # another process was faster
                return
            rename(new_copy, target)
        except (OSError, sqlite3.Error):
            if os.path.lexists(new_copy):
                raise
            return  # something was removed for good meanwhile, and this copy with it
    sync_directory(path.parent)
    for old_copy in copies_of(path)[_KEPT_COPIES:]:
        old_copy.unlink(missing_ok=True)


def remove_copies(path: Path) -> bool:
    """Remove the copies of a database, also unfinished ones; False where one is left."""
    try:
        with suppress(FileNotFoundError):  # the directory is gone
            # The unfinished ones first: one that gets its name meanwhile is found among the others.
            remove_strays(path.parent, path.name)
            for copy in _find_copies(path):
                copy.unlink(missing_ok=True)
    except OSError:
        return False
    return True


def newest_whole_copy(path: Path, check: Check) -> Path | None:
    """Return the newest copy in which all can be read. Raises OSError."""
    return next((copy for copy in copies_of(path) if not flaw_of(copy, check)), None)


def flaw_of(copy: Path, check: Check) -> str:
    """Return the flaw of a copy, "" where all can be read; changes nothing."""
    try:
        with closing(connect(copy, "immutable=1", check)) as connection:
            flaw = flaw_in(connection, "integrity_check")
            return flaw.reason if flaw and flaw.part == "pages" else ""
    except (OSError, sqlite3.Error) as error:
        return reason_of(error)


def connect(path: Path, mode: str, check: Check, *, timeout_s: float = 0) -> sqlite3.Connection:
    """Open a database that may be damaged or a stranger's.

    mode: `mode=rw`, or `immutable=1` for no journal. Raises sqlite3.Error and errors of `check`.
    """
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{mode}",
        uri=True,
        timeout=timeout_s,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA cell_size_check = ON")  # else a damaged page may look empty
        check(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def flaw_in(connection: sqlite3.Connection, pragma: str) -> Flaw | None:
    """Return the first flaw that `quick_check` or `integrity_check` finds. Raises sqlite3.Error."""
    flaw = None
    for (line,) in connection.execute(f"PRAGMA {pragma}(3)").fetchall():
        if "fts5" in line.lower():  # a search index is made anew from the texts
            flaw = Flaw("index")
        elif line != "ok":
            return Flaw("pages", line.partition("\n")[0])
    tables = connection.execute(_TABLES).fetchall()
    if not tables:
        return Flaw("pages", "it is empty")
    for (table,) in tables:
        quoted_name = str(table).replace('"', '""')
        deque(connection.execute(f'SELECT * FROM "{quoted_name}"'), maxlen=0)  # raises for no text
    return flaw


def is_unreadable_text(error: BaseException) -> bool:
    """Return whether a text could not be read; such an error's message holds it."""
    return isinstance(error, sqlite3.OperationalError) and "decode to UTF-8" in str(error)


def code_of(error: BaseException) -> int:
    """Return the primary result code of SQLite, 0 for another error."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def reason_of(error: Exception) -> str:
    """Return the words of the system or SQLite in one line; a stranger may have written some."""
    if is_unreadable_text(error):
        return "a text is not UTF-8"
    return printable_fact(getattr(error, "strerror", None) or str(error))[:_REASON_CHARS]


def put_back(path: Path, check: Check, *, timeout_s: float) -> Repair:
    """Put the newest whole copy in the place of a damaged database, which is kept beside it.

    Without one the place stays empty. Nothing is removed until the copy is ready, and nobody can
    save meanwhile. Raises OSError, and sqlite3.Error where another process goes on writing.
    """
    copy = newest_whole_copy(path, check)
    aside = path.with_name(f"{path.name}.damaged-{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}")
    is_untouched = True
    with ExitStack() as stack:
        file = stack.enter_context(prepared_file(path, _read(copy), like=copy)) if copy else None
        try:
            _keep_aside(path, aside)
            name = f"{path.absolute().as_uri()}?mode=rw"
            connection = sqlite3.connect(name, uri=True, isolation_level=None, timeout=timeout_s)
            stack.callback(connection.close)
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.DatabaseError as error:  # nobody can write to a file that is no database
                if code_of(error) in BUSY_CODES:
                    raise
            _keep_aside(path, aside)  # a journal that was begun meanwhile
            sync_directory(path.parent)
            if os.name == "nt":  # where nothing that is open can be replaced
                connection.close()
            is_untouched = False
            for name in JOURNALS:  # of the damaged file: beside another one they would destroy it
                Path(f"{path}{name}").unlink(missing_ok=True)
            if file:
                rename(file, path)
            else:
                path.unlink()
        except BaseException:
            if is_untouched:
                for name in ("", *JOURNALS):
                    with suppress(OSError):
                        os.unlink(f"{aside}{name}")
            raise
    sync_directory(path.parent)
    return Repair(aside, copy)


def damaged_files(path: Path) -> list[Path]:
    """Return the damaged files that repairs kept of databases with this suffix."""
    return sorted(path.parent.glob(f"*{glob.escape(path.suffix)}.damaged-*"))


def size_of(path: str | Path) -> int:
    status = status_of(path)
    return status.st_size if status else 0


def _find_copies(path: Path) -> list[Path]:
    """Return the copies, links apart. Raises OSError: an unread directory is not empty."""
    names = (name for name in os.listdir(path.parent) if name.startswith(f"{path.name}.copy-"))
    copies = map(path.with_name, names)
    return [copy for copy in copies if stat.S_ISREG(os.lstat(copy).st_mode)]


def _moment_of(copy: Path) -> datetime | None:
    with suppress(ValueError):
        return datetime.strptime(copy.name.rpartition(".copy-")[2], _STAMP).replace(tzinfo=UTC)
    return None


def _read(source: Path) -> Iterator[bytes]:
    with open(source, "rb") as file:
        yield from iter(partial(file.read, _PIECE_BYTES), b"")


def _keep_aside(path: Path, aside: Path) -> None:
    """Give a damaged file and its journals a second name, or copy them where links fail."""
    for name in ("", "-wal", "-journal"):
        source, target = Path(f"{path}{name}"), Path(f"{aside}{name}")
        is_needed = not name or size_of(source)  # who only looks makes an empty journal
        if is_needed and not os.path.lexists(target):
            try:
                os.link(source, target, follow_symlinks=False)
            except OSError:
                with prepared_file(target, _read(source), like=source) as new_file:
                    rename(new_file, target)
