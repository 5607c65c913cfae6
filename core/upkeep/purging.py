"""Takes the bytes of what was deleted out of a database: free pages, index, journal and copies.

SQLite marks what is deleted as free and leaves it in the file until something else is written
there. https://sqlite.org/lang_vacuum.html, https://sqlite.org/fts5.html#the_optimize_command
"""

from core.disk.copies import remove_copies
from core.disk.database import Database
from core.errors import SentinelError

_INDEXES = "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE % USING fts5(%'"


def purge(database: Database) -> bool:
    """Write a database anew with only what it holds; False where that was not possible just now.

    Then the bytes stay until the next purge: another process reads them, or there is no room. The
    daily copies go in any case, since they hold what was deleted; the next save makes a new one.
    """
    is_without_copies = remove_copies(database.path)
    try:
        with database.writing() as connection:
            for (index,) in connection.execute(_INDEXES).fetchall():
                connection.execute(f"INSERT INTO {index}({index}) VALUES ('optimize')")
        return database.purge() and is_without_copies
    except SentinelError:
        return False
