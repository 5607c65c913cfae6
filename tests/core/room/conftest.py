"""A database of notes: one table of texts, of which the first version has one row."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from core.room.database import Database

OURS, PAGE = 7, 4096
ONE = (("CREATE TABLE notes (text TEXT)", "CREATE INDEX idx_notes ON notes(text)"),)
DAMAGED = b"overwritten by something else " * 900
Opened = Callable[..., Database]


def put(database: Database, *given: str) -> None:
    with database.writing() as connection:
        connection.executemany("INSERT INTO notes (text) VALUES (?)", [(it,) for it in given])


def texts(database: Database) -> list[str]:
    with database.reading() as connection:
        assert connection is not None
        return [text for (text,) in connection.execute("SELECT text FROM notes ORDER BY rowid")]


def from_outside(path: Path, *statements: str) -> list[tuple[object, ...]]:
    """The rows that the last of these statements gives to a connection of another program."""
    with closing(sqlite3.connect(path)) as connection, connection:
        return [connection.execute(it).fetchall() for it in statements][-1]


def filled(database: Database) -> None:
    """Put notes of many pages into the file itself."""
    put(database, *(f"{at} " * 300 for at in range(90)))
    database.close()
    from_outside(database.path, "PRAGMA wal_checkpoint(TRUNCATE)")


def without_a_page(path: Path) -> None:
    """Overwrite the page that has the text of note 40."""
    data = path.read_bytes()
    pages = (data[at : at + PAGE] for at in range(0, len(data), PAGE))
    path.write_bytes(b"".join(
        b"\xee" * PAGE if page[0] == 13 and b"40 40 " in page else page for page in pages
    ))  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "room" / "data.db"
    path.parent.mkdir()
    return path


@pytest.fixture
def opened(path: Path) -> Iterator[Opened]:
    with ExitStack() as kept:

        def make(migrations: object = ONE, **more: object) -> Database:
            settings = {"application_id": OURS, "timeout_s": 60.0, **more}
            database = Database(path, migrations, **settings)  # type: ignore[arg-type]
            kept.callback(database.close)
            return database

        yield make
