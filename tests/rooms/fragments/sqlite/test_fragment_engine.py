"""Tests that the fragments in a SQLite file keep the contract of engines."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from rooms.fragments.engine import Engine
from rooms.fragments.sqlite.adapter import SqliteEngine
from tests.support import engine_contract as contract


class SqliteEngines:
    """See `contract.Engines`. directory: below which each engine has one of its own."""

    def __init__(self, directory: Path) -> None:
        self._directory, self._numbers = directory, count(1)
        self._made = list[Engine]()

    def new(self, *, is_untouched: bool = False) -> Engine:
        """See `contract.Engines`."""
        return self._at(self._directory / str(next(self._numbers)) / "memory.db")

    def again(self, engine: Engine) -> Engine:
        """See `contract.Engines`."""
        return self._at(Path(engine.name))

    def close(self) -> None:
        """Close all that were made."""
        for engine in self._made:
            engine.close()

    def _at(self, path: Path) -> Engine:
        self._made.append(SqliteEngine(path, timeout_s=30))
        return self._made[-1]


@pytest.fixture
def engines(tmp_path: Path) -> Iterator[SqliteEngines]:
    made = SqliteEngines(tmp_path)
    yield made
    made.close()


@pytest.mark.row("002 2.13.b", "002 2.13.c", "002 2.13.d", "002 2.13.e", "002 2.13.f", "002 2.13.g")
class TestFinding(contract.Finding):
    pass


@pytest.mark.row("002 2.10.c", "002 2.12.a", "004 4.10.a")
class TestStoring(contract.Storing):
    pass


class TestNoting(contract.Noting):
    pass


@pytest.mark.row("002 2.14")
class TestSearching(contract.Searching):
    pass


class TestTransacting(contract.Transacting):
    pass
