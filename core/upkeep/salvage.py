"""Puts what can still be read of a damaged database into a new one, and keeps the damaged file."""

import glob
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from core.disk.atomic import sync_directory
from core.disk.database import Database, DatabaseBusyError

_JOURNALS = "-wal", "-shm"
_NEW = ".mending.tmp"
_WAIT_S = 5
_MOST_TRIED = 1_000_000  # numbers of rows; damage may name any as the last one


class Numbered(NamedTuple):
    """A table whose rows are read one by one.

    number: the column that numbers its rows. indexed: another one of which there is an index.
    """

    name: str
    number: str
    indexed: str


class Salvaged(NamedTuple):
    """What came out of a damaged database.

    aside: where the damaged file is now. counts: rows by table. lost: rows of the first table that
    are there but unreadable.
    """

    aside: Path
    counts: dict[str, int]
    lost: int


def salvage(
    path: Path,
    tables: Sequence[Numbered],
    open_new: Callable[[Path], Database],
    finish: Callable[[sqlite3.Connection, sqlite3.Connection], object],
) -> Salvaged:
    """Replace a damaged database by one with all that can be read of it.

    First the damaged file is copied with its journals, synced; until the new one is complete,
    nothing is taken from its place, and nobody can write to the damaged one.
    tables: the first is what the database is for. open_new: returns the new database at a path.
    finish: gets the connections to the damaged one and to the new one, which has all rows of
    `tables`; it takes over the rest. Raises OSError, DatabaseError.
    """
    aside = _kept_aside(path)  # before it is held: to close a file lets go of its locks
    new = path.with_name(path.name + _NEW)
    _remove(new)
    with ExitStack() as stack:
        try:
            old = stack.enter_context(closing(_held(path)))
        except DatabaseBusyError:
            _remove(aside)
            raise
        with closing(open_new(new)) as database, database.writing() as connection:
            counts, lost = _copied(old, connection, tables, finish)
        if os.name == "nt":  # where nothing that is open can be replaced
            stack.close()
        for name in _JOURNALS:  # of the damaged file: beside another one they would destroy that
            Path(f"{path}{name}").unlink(missing_ok=True)
        os.replace(new, path)
    sync_directory(path.parent)
    return Salvaged(aside, counts, lost)


def kept_aside(path: Path) -> list[Path]:
    """Return the damaged files that a repair has kept beside a database; they may hold anything."""
    return sorted(path.parent.glob(f"{glob.escape(path.name)}.damaged-*"))


def _kept_aside(path: Path) -> Path:
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    aside = path.with_name(f"{path.name}.damaged-{stamp}")
    for name in ("", *_JOURNALS):
        if os.path.exists(f"{path}{name}"):
            shutil.copy2(f"{path}{name}", f"{aside}{name}", follow_symlinks=False)
            with open(f"{aside}{name}", "rb+") as file:
                os.fsync(file.fileno())
    sync_directory(path.parent)
    return aside


def _remove(path: Path) -> None:
    for name in ("", *_JOURNALS):
        Path(f"{path}{name}").unlink(missing_ok=True)


def _held(path: Path) -> sqlite3.Connection:
    """Open a damaged file so that nobody writes to it what would be left behind.

    Raises DatabaseBusyError where another process goes on writing.
    """
    name = path.absolute().as_uri()
    old = sqlite3.connect(f"{name}?mode=rw", uri=True, isolation_level=None, timeout=_WAIT_S)
    old.text_factory = lambda data: data.decode("utf-8", "replace")
    try:
        old.execute("PRAGMA writable_schema = ON")  # reads a file that was cut off, too
        old.execute("BEGIN IMMEDIATE")
    except sqlite3.DatabaseError as error:  # what is no database any more cannot be written to
        if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
            old.close()
            raise DatabaseBusyError(path=str(path), waited_s=_WAIT_S) from error
    return old


def _copied(
    old: sqlite3.Connection,
    new: sqlite3.Connection,
    tables: Sequence[Numbered],
    finish: Callable[[sqlite3.Connection, sqlite3.Connection], object],
) -> tuple[dict[str, int], int]:
    """Copy every row that can be read; return how many by table, and how many are lost."""
    counts, lost = {table.name: 0 for table in tables}, 0
    for table in tables:
        columns = [row[1] for row in new.execute(f"PRAGMA table_info({table.name})")]
        for row in _rows(old, table, columns):
            is_kept = row is not None and _put(new, table.name, columns, row)
            counts[table.name] += is_kept
            lost += table is tables[0] and not is_kept
    finish(old, new)
    return counts, lost


def _rows(
    old: sqlite3.Connection, table: Numbered, columns: Sequence[str]
) -> Iterator[Sequence[Any] | None]:
    """Yield the rows of a table, None for each that may be there and cannot be read."""
    statement = f"SELECT {', '.join(columns)} FROM {table.name} WHERE {table.number} = ?"
    for at in _numbers(old, table):
        try:
            row = old.execute(statement, (at,)).fetchone()
        except sqlite3.DatabaseError:
            yield None
            continue
        if row:
            yield row


def _numbers(old: sqlite3.Connection, table: Numbered) -> Iterable[int]:
    """Return the numbers of the rows, with those that nothing lists any more but may be there."""
    name, number, indexed = table
    found = {0}
    for statement in (
        f"SELECT {number} FROM {name}",
        f"SELECT {number} FROM {name} ORDER BY {indexed}",
        f"SELECT max({number}) FROM {name}",
        f"SELECT seq FROM sqlite_sequence WHERE name = '{name}'",
    ):
        with suppress(sqlite3.DatabaseError):
            found.update(at for (at,) in old.execute(statement) if isinstance(at, int))
    tried = min(max(found), _MOST_TRIED)
    return chain(range(1, tried + 1), sorted(at for at in found if at < 0 or at > tried))


def _put(new: sqlite3.Connection, table: str, columns: Sequence[str], row: Sequence[Any]) -> bool:
    """Store a row; False for one that damage has made impossible, such as a second of its id."""
    places = ", ".join("?" * len(columns))
    try:
        new.execute(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})", row)
    except sqlite3.IntegrityError:
        return False
    return True


def take_over_numbers(
    old: sqlite3.Connection, new: sqlite3.Connection, tables: Iterable[str]
) -> None:
    """Let the new tables go on numbering where the old ones are, so that none is given twice."""
    with suppress(sqlite3.DatabaseError):
        for name, last in old.execute("SELECT name, seq FROM sqlite_sequence").fetchall():
            if name in tables and isinstance(last, int):
                new.execute(
                    "INSERT INTO sqlite_sequence SELECT ?, 0 WHERE NOT EXISTS"
                    " (SELECT 1 FROM sqlite_sequence WHERE name = ?)",
                    (name, name),
                )
                new.execute(
                    "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (last, name)
                )
