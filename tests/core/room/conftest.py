"""A database of notes, which each test opens as often as it likes."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from core.room.database import Database
from tests.support.notes import ONE, OURS, Opened


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
