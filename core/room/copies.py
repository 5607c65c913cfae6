"""Keeps two daily copies of a SQLite file beside it, and puts one back when the file is damaged.

A copy is written under a temporary name, synced, and checked before it gets its own name: a process
that is killed leaves a whole copy or none. Nobody has to wait for it, since `VACUUM INTO` only
reads. https://sqlite.org/lang_vacuum.html#vacuuminto
"""

import glob
import os
import re
import sqlite3
import stat
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import NamedTuple

from core.disk import is_there, prepared, rename, sync_directory
from core.room.connections import JOURNALS, MODE, Check, size_of, status_of

KEPT = 2
_DUE = timedelta(days=1)
_STAMP = "%Y%m%dT%H%M%SZ"
_NAME = re.compile(r".*\.copy-(\d{8}T\d{6}Z)\Z", re.DOTALL)
_ABANDONED_S = 3_600  # an unfinished copy of this age is one of a process that was killed
_PIECE_BYTES = 1_000_000
_OF_INDEX = "fts5"  # a search index is made anew from the texts


class PutBack(NamedTuple):
    """What a repair did. aside: where the damaged file is now. copy: what was put back, if any."""

    aside: Path
    copy: Path | None


def copies_of(path: Path) -> list[Path]:
    """Return the copies of a database, the newest first; those dated ahead of the clock are last.

    Nobody has checked them since they were made. Raises OSError.
    """
    now = datetime.now(UTC)
    found = {it: moment for it in _named(path) if (moment := _moment_of(it))}
    return sorted(found, key=lambda it: (found[it] <= now, found[it]), reverse=True)


def date_of(copy: Path) -> str:
    """Return the moment of a copy as people read it."""
    moment = _moment_of(copy)
    return f"{moment:%Y-%m-%d %H:%M} UTC" if moment else ""


def newest_date(path: Path) -> str:
    """Return the moment of the newest copy of a database, "" without one."""
    with suppress(OSError):
        return next(map(date_of, copies_of(path)), "")
    return ""


def is_due(path: Path) -> bool:
    """Return whether the newest copy is a day old, and the database has changed since.

    Raises OSError.
    """
    if not is_there(path):
        return False
    newest = next(map(_moment_of, copies_of(path)), None)
    age = datetime.now(UTC) - newest if newest else _DUE
    if newest is None or age < timedelta():  # the clock was ahead
        return True
    changed_at = max(_changed_at(f"{path}{name}") for name in ("", "-wal"))
    return age >= _DUE and changed_at >= newest.timestamp()


def keep_copy(path: Path, write: Callable[[Path], object], check: Check) -> None:
    """Make a copy of a database, and remove all older ones but the last.

    write: writes a copy into an empty file. Raises OSError, sqlite3.Error, and what `check` raises;
    the copies that are there then stay.
    """
    _remove_abandoned(path)
    target = path.with_name(f"{path.name}.copy-{datetime.now(UTC):{_STAMP}}")
    unfinished = path.with_name(f".{path.name}.{os.urandom(8).hex()}.tmp")
    os.close(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, MODE))
    try:
        write(unfinished)
        _sync(unfinished)
        flaw = flaw_of(unfinished, check)
        if flaw:
            raise sqlite3.DatabaseError(flaw)
        if not is_due(path):  # another process was faster
            return
        rename(unfinished, target)
    except (OSError, sqlite3.Error):
        if os.path.lexists(unfinished):
            raise
        return  # something was removed for good meanwhile, and this copy with it
    finally:
        with suppress(OSError):
            unfinished.unlink()
    sync_directory(path.parent)
    for former in copies_of(path)[KEPT:]:
        former.unlink(missing_ok=True)


def remove_copies(path: Path) -> bool:
    """Remove the copies of a database, also those in the making; False where one is left.

    Called once something was removed from the database for good.
    """
    # The unfinished ones first: one that gets its name meanwhile is found among the others.
    is_clean = True
    if not is_there(path.parent):
        return is_clean
    for found in (_unfinished, _named):
        try:
            for copy in found(path):
                copy.unlink(missing_ok=True)
        except OSError:
            is_clean = False
    return is_clean


def newest_whole(path: Path, check: Check) -> Path | None:
    """Return the newest copy of a database in which everything can be read; None without one.

    Raises OSError.
    """
    return next((it for it in copies_of(path) if not flaw_of(it, check)), None)


def flaw_of(copy: Path, check: Check) -> str:
    """Return what is wrong with a copy, "" where all of it can be read. Nothing is changed."""
    name = f"{copy.absolute().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(name, uri=True)) as connection:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA cell_size_check = ON")
            check(connection)
            of_pages = flaw_of_pages(connection.execute("PRAGMA integrity_check(3)").fetchall())
            if of_pages:
                return of_pages
            ordinary = "type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
            tables = connection.execute(f"SELECT name FROM sqlite_master WHERE {ordinary}")
            names = tables.fetchall()
            if not names:
                return "it is empty"
            for (table,) in names:
                quoted = str(table).replace('"', '""')
                deque(connection.execute(f'SELECT * FROM "{quoted}"'), maxlen=0)  # is it text
    except (OSError, sqlite3.Error) as error:
        return "a text is not UTF-8" if is_no_text(error) else str(error)
    return ""


def flaw_of_pages(lines: Sequence[tuple[str]]) -> str:
    """Return the first line that a check of SQLite says of pages, not of an index; "" for none."""
    for (line,) in lines:
        if line != "ok" and _OF_INDEX not in line.lower():
            return line.partition("\n")[0]
    return ""


def is_no_text(error: BaseException) -> bool:
    """Return whether a text could not be read, which SQLite's own checks pass over.

    The message of such an error holds the text.
    """
    return isinstance(error, sqlite3.OperationalError) and "decode to UTF-8" in str(error)


def put_back(path: Path, check: Check, *, timeout_s: float) -> PutBack:
    """Put the newest whole copy in the place of a damaged database, which is kept beside it.

    Without a whole copy nothing is left in its place. Until the copy is complete nothing is taken
    away, and nobody can save what would be left behind. Raises OSError, and sqlite3.Error where
    another process goes on writing.
    """
    copy = newest_whole(path, check)
    aside = path.with_name(f"{path.name}.damaged-{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}")
    is_untouched = True
    with ExitStack() as stack:
        ready = stack.enter_context(_ready(copy, path)) if copy else None
        try:
            _keep_aside(path, aside)
            held = stack.enter_context(closing(_held(path, timeout_s)))
            _keep_aside(path, aside)  # a journal that was begun meanwhile
            sync_directory(path.parent)
            if os.name == "nt":  # where nothing that is open can be replaced
                held.close()
            is_untouched = False
            for name in JOURNALS:  # of the damaged file: beside another one they would destroy it
                Path(f"{path}{name}").unlink(missing_ok=True)
            if ready:
                rename(ready, path)
            else:
                path.unlink()
        except BaseException:
            if is_untouched:
                for name in ("", *JOURNALS):
                    with suppress(OSError):
                        os.unlink(f"{aside}{name}")
            raise
    sync_directory(path.parent)
    return PutBack(aside, copy)


def kept_aside(path: Path) -> list[Path]:
    """Return the damaged files that a repair has kept beside a database; they may hold anything."""
    return sorted(path.parent.glob(f"{glob.escape(path.name)}.damaged-*"))


def _named(path: Path) -> list[Path]:
    """Return what has the name of a copy of a database; no link is one."""
    return _listed(path.parent, f"{path.name}.copy-", "")


def _unfinished(path: Path) -> list[Path]:
    """Return the copies in the making, and those of processes that were killed."""
    return _listed(path.parent, f".{path.name}.", ".tmp")


def _listed(directory: Path, beginning: str, end: str) -> list[Path]:
    """Return the files of a directory by their names. Raises OSError: unread is not empty."""
    names = os.listdir(directory)
    paths = [directory / it for it in names if it.startswith(beginning) and it.endswith(end)]
    return [it for it in paths if stat.S_ISREG(os.lstat(it).st_mode)]


def _moment_of(copy: Path) -> datetime | None:
    """Return when a copy was begun; None for an unfinished one."""
    named = _NAME.match(copy.name)
    with suppress(ValueError):
        return datetime.strptime(named[1], _STAMP).replace(tzinfo=UTC) if named else None
    return None


def _changed_at(path: str | Path) -> float:
    status = status_of(path)
    return status.st_mtime if status else 0.0


def _remove_abandoned(path: Path) -> None:
    for it in _unfinished(path):
        if time.time() - _changed_at(it) > _ABANDONED_S:
            it.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _ready(source: Path, target: Path) -> Iterator[Path]:
    """Lend a file beside another one, on disk, with the content of a third one and its mode."""
    with (
        open(source, "rb") as file,
        prepared(target, iter(partial(file.read, _PIECE_BYTES), b""), like=source) as ready,
    ):
        yield ready


def _keep_aside(path: Path, aside: Path) -> None:
    """Give a damaged file and its journals a second name, or copy them where that cannot be."""
    for name in ("", "-wal", "-journal"):
        source, target = f"{path}{name}", f"{aside}{name}"
        is_needed = not name or size_of(source)  # who only looks makes an empty journal
        if is_needed and not os.path.lexists(target):
            try:
                os.link(source, target, follow_symlinks=False)
            except OSError:
                with _ready(Path(source), Path(target)) as ready:
                    rename(ready, Path(target))


def _held(path: Path, timeout_s: float) -> sqlite3.Connection:
    """Open a damaged file so that nobody writes to it what would be left behind."""
    name = path.absolute().as_uri()
    held = sqlite3.connect(f"{name}?mode=rw", uri=True, isolation_level=None, timeout=timeout_s)
    try:
        held.execute("BEGIN IMMEDIATE")
    except sqlite3.DatabaseError as error:  # what is no database any more cannot be written to
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_PROTOCOL):
            held.close()
            raise
    return held
