"""Puts what can still be read of a damaged database into a new one, and keeps the damaged file."""

import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from core.disk.atomic import sync_directory
from core.disk.database import Database
from rooms.sessions.rows import sessions_where
from rooms.sessions.schema import APPLICATION_ID, MIGRATIONS
from rooms.sessions.search import index

_JOURNALS = "-wal", "-shm"
_NEW = ".mending.tmp"
_WAIT_S = 5
_MOST_TRIED = 1_000_000  # numbers of rows; damage may name any as the last one
# By table the column that numbers its rows, and another one of which there is an index.
_TABLES = {
    "contexts": ("number", "created_at"),
    "actions": ("rowid", "context_id"),
    "waiting_actions": ("rowid", "agent"),
}


class Salvaged(NamedTuple):
    """What came out of a damaged database.

    aside: where the damaged file is now. lost: rows of sessions that are there but unreadable.
    """

    aside: Path
    sessions: int
    actions: int
    lost: int


def salvage(path: Path, *, timeout_s: float) -> Salvaged:
    """Replace a damaged database by one with all that can be read of it.

    First the damaged file is copied with its journals, synced; until the new one is complete,
    nothing is taken from its place. Raises OSError and DatabaseError.
    """
    aside = _kept_aside(path)
    new = path.with_name(path.name + _NEW)
    for name in ("", *_JOURNALS):
        Path(f"{new}{name}").unlink(missing_ok=True)
    database = Database(new, MIGRATIONS, application_id=APPLICATION_ID, timeout_s=timeout_s)
    with closing(database), database.writing() as connection:
        told = _copied(path, connection)
    for name in _JOURNALS:  # of the damaged file: beside another one they would destroy that
        Path(f"{path}{name}").unlink(missing_ok=True)
    os.replace(new, path)
    sync_directory(path.parent)
    return Salvaged(aside, *told)


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


def _copied(path: Path, new: sqlite3.Connection) -> tuple[int, int, int]:
    """Copy every row that can be read; return how many sessions, actions and lost sessions."""
    name = path.absolute().as_uri()
    counts, lost = dict.fromkeys(_TABLES, 0), 0
    connected = sqlite3.connect(f"{name}?mode=rw", uri=True, isolation_level=None, timeout=_WAIT_S)
    with closing(connected) as old:
        old.text_factory = lambda data: data.decode("utf-8", "replace")
        with suppress(sqlite3.DatabaseError):
            old.execute("PRAGMA writable_schema = ON")  # reads a file that was cut off, too
            old.execute("BEGIN IMMEDIATE")  # nobody writes meanwhile what would be left behind
        for table in _TABLES:
            columns = [row[1] for row in new.execute(f"PRAGMA table_info({table})")]
            for row in _rows(old, table, columns):
                is_kept = row is not None and _put(new, table, columns, row)
                counts[table] += is_kept
                lost += table == "contexts" and not is_kept
        _take_over(old, new)
    for session in list(sessions_where(new, "1")):
        index.add(new, session)
    return counts["contexts"], counts["actions"], lost


def _rows(
    old: sqlite3.Connection, table: str, columns: Sequence[str]
) -> Iterator[Sequence[Any] | None]:
    """Yield the rows of a table, None for each that may be there and cannot be read."""
    number, _ = _TABLES[table]
    statement = f"SELECT {', '.join(columns)} FROM {table} WHERE {number} = ?"
    for at in _numbers(old, table):
        try:
            row = old.execute(statement, (at,)).fetchone()
        except sqlite3.DatabaseError:
            yield None
            continue
        if row:
            yield row


def _numbers(old: sqlite3.Connection, table: str) -> Iterable[int]:
    """Return the numbers of the rows, with those that nothing lists any more but may be there."""
    number, indexed = _TABLES[table]
    found = {0}
    for statement in (
        f"SELECT {number} FROM {table}",
        f"SELECT {number} FROM {table} ORDER BY {indexed}",
        f"SELECT max({number}) FROM {table}",
        f"SELECT seq FROM sqlite_sequence WHERE name = '{table}'",
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


def _take_over(old: sqlite3.Connection, new: sqlite3.Connection) -> None:
    """Take over the small tables, so that no number or revision is given twice."""
    with suppress(sqlite3.DatabaseError):
        rows = old.execute("SELECT agent, client_session, context_id, seen_at FROM conversations")
        new.executemany("INSERT OR IGNORE INTO conversations VALUES (?, ?, ?, ?)", rows)
    new.execute(
        "UPDATE counters SET value = (SELECT coalesce(max(revision), 0) FROM contexts)"
        " WHERE name = 'revision'"
    )
    with suppress(sqlite3.DatabaseError):
        for name, value in old.execute("SELECT name, value FROM counters").fetchall():
            new.execute("UPDATE counters SET value = max(value, ?) WHERE name = ?", (value, name))
    new.execute("UPDATE counters SET value = value + 1 WHERE name = 'removed'")
    with suppress(sqlite3.DatabaseError):
        for (last,) in old.execute("SELECT seq FROM sqlite_sequence WHERE name = 'contexts'"):
            new.execute(
                "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'contexts'", (last,)
            )
