"""Opens the file that holds the archived sessions of a year."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.disk.database import Database
from rooms.sessions.schema import APPLICATION_ID, MIGRATIONS

NAME = re.compile(r"archive-[0-9]{4}\.db\Z")


@contextmanager
def opened(path: Path, *, timeout_s: float) -> Iterator[Database]:
    """Lend the database of an archive, which need not exist; it is one file again afterwards."""
    database = Database(path, MIGRATIONS, application_id=APPLICATION_ID, timeout_s=timeout_s)
    try:
        yield database
    finally:
        database.close()
