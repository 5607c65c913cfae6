"""Finds what is wrong with a file as a database: its pages, and its full-text index."""

import sqlite3
from collections import deque
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from core.disk.database import Database, DatabaseDamagedError
from core.errors import DiskError

_OF_INDEX = "fts5"  # stands in what a check says of the index alone
_MOST_ERRORS = 3


class NotMendedError(DiskError):
    """A file could not be repaired. Facts: path, reason."""

    key = "not_mended"
    table = "upkeep"


class Flaw(NamedTuple):
    """What is wrong: pages are damaged, or the index alone. reason: what SQLite says of pages."""

    of: Literal["pages", "index"]
    reason: str = ""


def flaw_in(
    database: Database,
    tables: Sequence[str],
    is_index_whole: Callable[[sqlite3.Connection], bool],
) -> Flaw | None:
    """Return what is wrong with a database, None where nothing is. Nothing is changed.

    tables: those whose texts are read, all of them. Raises DatabaseError for another reason why it
    cannot be used.
    """
    try:
        with database.reading() as connection:
            if connection is None:
                return None
            said = [
                str(row[0]) for row in connection.execute(f"PRAGMA quick_check({_MOST_ERRORS})")
            ]
            of_pages = [line for line in said if line != "ok" and _OF_INDEX not in line.lower()]
            if of_pages:
                return Flaw("pages", of_pages[0].partition("\n")[0])
            for table in tables:
                deque(connection.execute(f"SELECT * FROM {table}"), maxlen=0)  # is all of it text
            is_whole = said == ["ok"] and is_index_whole(connection)
            return None if is_whole else Flaw("index")
    except DatabaseDamagedError as error:
        return Flaw("pages", str(error.facts["reason"]))
