"""Opens databases of others to read: they are not trusted, and they stay as they are."""

import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SQLITE = b"SQLite format 3\0"  # with which each begins

_MOST_S = 60
_MOST_VALUE_BYTES = 10_000_000
_STEPS = 100_000  # of the database between two looks at the clock
_TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table'"  # a view may never end


def open_foreign(path: Path) -> sqlite3.Connection:
    """Open a database to read it for a minute at most. Raises sqlite3.Error, OSError."""
    wal = Path(f"{path}-wal")
    is_settled = not wal.exists() or not wal.stat().st_size
    name = f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if is_settled else ''}"
    connection = sqlite3.connect(name, uri=True, isolation_level=None)
    deadline = time.monotonic() + _MOST_S
    connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_VALUE_BYTES)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def tables_of(connection: sqlite3.Connection) -> set[str]:
    """Return the names of the tables. Raises sqlite3.Error."""
    return {name for (name,) in connection.execute(_TABLES)}


def rows_of(connection: sqlite3.Connection, table: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table by the names of its columns. Raises sqlite3.Error."""
    cursor = connection.execute(f"SELECT * FROM {table}")
    names = [column[0] for column in cursor.description]
    for row in cursor:
        yield dict(zip(names, row, strict=True))
