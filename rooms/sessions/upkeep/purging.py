"""Takes the bytes of what was deleted out of a database: from free pages, its index and journal.

SQLite marks what is deleted as free and leaves it in the file until something else is written
there. https://sqlite.org/lang_vacuum.html, https://sqlite.org/fts5.html#the_optimize_command
"""

import sqlite3
from contextlib import closing

from core.disk.database import Database
from core.errors import SentinelError

_INDEX = "contexts_fts"
_WAIT_MS = 5_000  # for whoever still reads the state before


def purge(database: Database) -> bool:
    """Write a database anew with only what it holds; False where that was not possible just now.

    Then the bytes stay until the next purge: another process reads them, or there is no room.
    """
    try:
        with database.writing() as connection:
            [has_index] = connection.execute(
                "SELECT count(*) FROM sqlite_schema WHERE name = ?", (_INDEX,)
            ).fetchone()
            if has_index:
                connection.execute(f"INSERT INTO {_INDEX}({_INDEX}) VALUES ('optimize')")
        database.close()
        name = database.path.absolute().as_uri()
        with closing(sqlite3.connect(f"{name}?mode=rw", uri=True, isolation_level=None)) as own:
            own.execute(f"PRAGMA busy_timeout = {_WAIT_MS}")
            own.execute("PRAGMA synchronous = FULL")
            own.execute("VACUUM")
            [is_busy, *_] = own.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return not is_busy
    except (sqlite3.Error, SentinelError):
        return False
