"""Runs the tests of a file over both engines: with their rooms in files, and on a server.

    from tests.support.both_engines import kept_in as kept_in

The mark `IN_A_FILE` is for single tests. The databases are emptied after each test, as to make one
takes a hundred times as long.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.program import NO_CANCELLATION, Cancellation
from rooms.fragments.storage import Engine
from rooms.fragments.storage.postgres import PostgresEngine
from tests.support.fragments_room import Places
from tests.support.team_engines import EMPTIED, TeamServer, a_server

IN_A_FILE = pytest.mark.parametrize("kept_in", ["file"], indirect=True)


class Databases:
    """Gives each path of a test a database; those of earlier tests are emptied and given again."""

    def __init__(self, server: TeamServer) -> None:
        self._server = server
        self._kept, self._copies = list[PostgresEngine](), list[PostgresEngine]()
        self._by_path = dict[Path, PostgresEngine]()

    def engine_at(self, path: Path, cancellation: Cancellation = NO_CANCELLATION) -> Engine:
        """See `Files`."""
        if path not in self._by_path:
            taken = len(self._by_path) - len(self._copies)
            if taken == len(self._kept):
                self._kept.append(self._new())
            self._by_path[path] = self._kept[taken]
        engine = self._by_path[path]
        if cancellation is NO_CANCELLATION:
            return engine
        return PostgresEngine(engine.server, timeout_s=5, cancellation=cancellation)

    def copy(self, path: Path, other: Path) -> None:
        """See `Files`."""
        engine = self._by_path[path]
        engine.close()
        with engine.pool.as_login(changes=False) as connection:
            name = connection.info.dbname
        engine.close()
        server = self._server.postgres
        copied = server.dsn(server.new_database(name))
        self._copies.append(PostgresEngine(a_server(copied), timeout_s=5))
        self._by_path[other] = self._copies[-1]

    def empty(self) -> None:
        """Forget all paths, and what their databases hold."""
        for engine in self._by_path.values():
            if engine not in self._copies:
                with engine.pool.as_login() as connection:
                    connection.execute(EMPTIED)
            if engine is not self._kept[0]:
                engine.close()
        self._by_path.clear()
        self._copies.clear()

    def close(self) -> None:
        """Let go of all connections."""
        for engine in self._kept:
            engine.close()

    def _new(self) -> PostgresEngine:
        server = self._server.postgres  # its databases are emptied and used by several files
        name = server.new_database(self._server.template, is_kept=True)
        return PostgresEngine(a_server(server.dsn(name)), timeout_s=5)


@pytest.fixture(scope="session")
def databases(team_server: TeamServer) -> Iterator[Databases]:
    """The databases of this worker."""
    made = Databases(team_server)
    yield made
    made.close()


@pytest.fixture(autouse=True, params=["file", pytest.param("server", marks=pytest.mark.long)])
def kept_in(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Where the rooms of a test are kept; on a server only where tests may cost much."""
    place: str = request.param
    if place == "file":
        yield place
        return
    databases: Databases = request.getfixturevalue("databases")
    monkeypatch.setattr(Places, "here", databases)
    yield place
    databases.empty()
