"""Puts what can still be read of damaged fragments into a new database."""

import sqlite3
from contextlib import suppress
from pathlib import Path

from core.disk.database import Database
from core.upkeep import salvage as common
from core.upkeep.salvage import Numbered, Salvaged, take_over_numbers
from rooms.fragments.sqlite import index
from rooms.fragments.sqlite.schema import APPLICATION_ID, MIGRATIONS

_TABLES = (
    Numbered("fragments", "number", "created_at"),
    Numbered("fragment_links", "id", "to_id"),
    Numbered("fragment_versions", "id", "fragment_id"),
    Numbered("fragment_vectors", "revision", "number"),
    Numbered("tool_feedback", "id", "created_at"),
    Numbered("task_feedback", "id", "created_at"),
)
_SMALL = "activities", "suspicions", "state"


def salvage(path: Path, *, timeout_s: float) -> Salvaged:
    """Replace a damaged database by one with all that can be read of it.

    Raises OSError and DatabaseError.
    """

    def opened(new: Path) -> Database:
        return Database(new, MIGRATIONS, application_id=APPLICATION_ID, timeout_s=timeout_s)

    return common.salvage(path, _TABLES, opened, _take_over)


def _take_over(old: sqlite3.Connection, new: sqlite3.Connection) -> None:
    """Take over the small tables, and make the indexes anew."""
    for table in _SMALL:
        columns = [row[1] for row in new.execute(f"PRAGMA table_info({table})")]
        places = ", ".join("?" * len(columns))
        with suppress(sqlite3.DatabaseError):  # up to where it is damaged
            for row in old.execute(f"SELECT {', '.join(columns)} FROM {table}"):
                new.execute(f"INSERT OR IGNORE INTO {table} VALUES ({places})", row)
    take_over_numbers(old, new, [table.name for table in _TABLES])
    index.make_anew(new)
