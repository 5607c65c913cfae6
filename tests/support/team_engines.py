"""Gives tests of the fragments the server of the run, databases on it, and both engines.

A file of tests imports the fixtures that it uses. `team_database` is emptied for each test, a
hundred times as fast as a new one is made; a test that changes the tables takes `new_dsn`.
`kept_in` runs the tests of a file with their rooms in files and on a server; the mark `IN_A_FILE`
is for single tests.
"""

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from core.postgres.address import Server, server_of
from core.postgres.pool import Pool
from core.program import NO_CANCELLATION, Cancellation
from rooms.fragments.storage.postgres import PostgresEngine
from rooms.fragments.storage.postgres_schema import TABLES, Schema
from rooms.fragments.storage.rows import Engine
from tests.support import fragments_room
from tests.support.real_engines import Postgres, shared_postgres

TEMPLATE = "memory_template"
# Without the triggers, which would note the deletions.
EMPTIED = "SET LOCAL session_replication_role = replica;" + ";".join(
    f"DELETE FROM agent_memory.{it}" for it in TABLES if it != "schema_version"
)
# Connections that a test left open must neither hold the tables nor change them later.
_ALONE = """SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid()"""
_FROM_ONE = """SELECT setval(oid::regclass, 1, false) FROM pg_class
  WHERE relnamespace = 'agent_memory'::regnamespace AND relkind = 'S'"""
_MADE = """SELECT string_agg(concat_ws(' ', relname, relkind, relnatts, relowner), ', '
  ORDER BY relname) FROM pg_class WHERE relnamespace = 'agent_memory'::regnamespace"""


class _Kept:
    """A database that is emptied for each test, over one connection, as a new one takes 9 ms."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self._connection = psycopg.connect(dsn, autocommit=True)
        self._made = self._connection.execute(_MADE).fetchone()

    def empty(self) -> bool:
        """Return whether its tables are still as they were made, and empty them."""
        try:
            self._connection.execute(_ALONE)
        except psycopg.OperationalError:  # a test has ended all connections
            self._connection = psycopg.connect(self.dsn, autocommit=True)
            self._connection.execute(_ALONE)
        if self._connection.execute(_MADE).fetchone() != self._made:
            self._connection.close()
            return False
        self._connection.execute(f"{EMPTIED};{_FROM_ONE}")
        return True


@dataclass(slots=True)
class TeamServer:
    """A server, and a database on it that has the tables and no rows."""

    postgres: Postgres
    template: str = TEMPLATE
    _kept: list[_Kept] = field(default_factory=list)

    def new_dsn(self, **more: str) -> str:
        """Return the address of a fresh database with the tables; the user is a superuser."""
        return self.postgres.dsn(self.postgres.new_database(self.template), **more)

    def emptied_dsn(self, at: int = 0) -> str:
        """Return the address of a database with the tables, which is emptied at each call.

        at: which one of several. Where a test has changed the tables, it is another database.
        """
        for thread in threading.enumerate():
            if thread.name in ("fragments-use", "upkeep"):  # it would write into this test's rows
                thread.join(60)
        while len(self._kept) <= at:
            self._kept.append(self._new())
        if not self._kept[at].empty():
            self._kept[at] = self._new()
        return self._kept[at].dsn

    def _new(self) -> _Kept:
        name = self.postgres.new_database(self.template, is_kept=True)
        return _Kept(self.postgres.dsn(name))

    def empty_dsn(self) -> str:
        """Return the address of a fresh database without the tables."""
        return self.postgres.dsn(self.postgres.new_database())


@pytest.fixture(scope="session")
def team_server(tmp_path_factory: pytest.TempPathFactory) -> TeamServer:
    base = tmp_path_factory.getbasetemp()
    return _server_of_run(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base)


@cache  # each file that imports the fixture has one of its own
def _server_of_run(run: Path) -> TeamServer:
    def make_template(server: Postgres) -> None:
        with psycopg.connect(server.dsn(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {TEMPLATE}")
        pool = Pool(a_server(server.dsn(TEMPLATE)))
        Schema(pool).prepare()
        pool.close()

    return TeamServer(shared_postgres(run / "servers", make_template))


@pytest.fixture
def team_database(team_server: TeamServer) -> str:
    """The address of an emptied database with the tables, with a superuser's login."""
    return team_server.emptied_dsn()


@pytest.fixture
def team_pool(team_database: str) -> Iterator[Pool]:
    """Connections to an emptied database with the tables."""
    pool = Pool(a_server(team_database))
    Schema(pool).is_ready()
    yield pool
    pool.close()


def a_server(dsn: str, **environment: str) -> Server:
    """The server of an address. environment: such as DB_MAX_CONNECTIONS, a few by default."""
    given = {"DB_MAX_CONNECTIONS": "5", "DB_CONN_TIMEOUT_MS": "60000", **environment}
    return server_of(dsn, given)


IN_A_FILE = pytest.mark.parametrize("kept_in", ["file"], indirect=True)


class Databases:
    """Keeps each room of a test in a database of its own, which is emptied and given again."""

    def __init__(self, server: TeamServer) -> None:
        self._server, self.by_path = server, dict[Path, PostgresEngine]()

    def engine_at(self, path: Path, cancellation: Cancellation = NO_CANCELLATION) -> Engine:
        if path not in self.by_path:
            dsn = self._server.emptied_dsn(len(self.by_path))
            self.by_path[path] = PostgresEngine(a_server(dsn), timeout_s=5)
        engine = self.by_path[path]
        if cancellation is NO_CANCELLATION:
            return engine
        return PostgresEngine(engine.server, timeout_s=5, cancellation=cancellation)

    def copy(self, path: Path, other: Path) -> None:
        database = conninfo_to_dict(self.by_path[path].server.dsn)["dbname"]
        copied = self._server.postgres.new_database(str(database))
        dsn = self._server.postgres.dsn(copied)
        self.by_path[other] = PostgresEngine(a_server(dsn), timeout_s=5)


@pytest.fixture
def databases(team_server: TeamServer) -> Iterator[Databases]:
    made = Databases(team_server)
    yield made
    for engine in made.by_path.values():
        engine.close()


@pytest.fixture(autouse=True, params=["file", pytest.param("server", marks=pytest.mark.long)])
def kept_in(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where the rooms of a test are kept; on a server only where tests may cost much."""
    if request.param == "server":
        monkeypatch.setattr(fragments_room, "here", request.getfixturevalue("databases"))
    return str(request.param)
