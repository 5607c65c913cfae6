"""Puts what can still be read of damaged sessions into a new database."""

import sqlite3
from contextlib import suppress
from pathlib import Path

from core.disk.database import Database
from core.upkeep import salvage as common
from core.upkeep.salvage import Numbered, Salvaged, take_over_numbers
from rooms.sessions.rows import sessions_where
from rooms.sessions.schema import APPLICATION_ID, MIGRATIONS
from rooms.sessions.search import index

_TABLES = (
    Numbered("contexts", "number", "created_at"),
    Numbered("actions", "rowid", "context_id"),
    Numbered("waiting_actions", "rowid", "agent"),
)


def salvage(path: Path, *, timeout_s: float) -> Salvaged:
    """Replace a damaged database by one with all that can be read of it.

    Raises OSError and DatabaseError.
    """

    def opened(new: Path) -> Database:
        return Database(new, MIGRATIONS, application_id=APPLICATION_ID, timeout_s=timeout_s)

    return common.salvage(path, _TABLES, opened, _take_over)


def _take_over(old: sqlite3.Connection, new: sqlite3.Connection) -> None:
    """Take over the small tables, so that no number or revision is given twice."""
    for session in list(sessions_where(new, "1")):
        index.add(new, session)
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
    take_over_numbers(old, new, ("contexts",))
