"""Gives tests of the team's fragments a server for each worker, and a fresh database for each test.

    from tests.support.team_engines import team_database, team_server

A file of tests imports the fixtures that it uses.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from core.postgres.pool import Pool
from core.postgres.server import Server, server_of
from rooms.fragments.engine import Engine
from rooms.fragments.postgres.adapter import PostgresEngine
from rooms.fragments.postgres.schema import Schema
from tests.support.real_engines import Postgres, postgres


@dataclass(slots=True)
class TeamServer:
    """A server, and a database on it that has the tables and no rows."""

    postgres: Postgres
    template: str

    def new_dsn(self, **more: str) -> str:
        """Return the address of a fresh database with the tables; the user is a superuser."""
        return self.postgres.dsn(self.postgres.new_database(self.template), **more)

    def empty_dsn(self) -> str:
        """Return the address of a fresh database without the tables."""
        return self.postgres.dsn(self.postgres.new_database())


@pytest.fixture(scope="session")
def team_server() -> Iterator[TeamServer]:
    """The server of this worker; it is started once."""
    with postgres() as running:
        template = running.new_database(is_kept=True)
        pool = Pool(a_server(running.dsn(template)))
        Schema(pool).prepare()
        pool.close()
        yield TeamServer(running, template)


@pytest.fixture
def team_database(team_server: TeamServer) -> str:
    """The address of a fresh database with the tables, with a superuser's login."""
    return team_server.new_dsn()


@pytest.fixture
def team_pool(team_database: str) -> Iterator[Pool]:
    """Connections to a fresh database with the tables."""
    pool = Pool(a_server(team_database))
    Schema(pool).is_ready()
    yield pool
    pool.close()


def a_server(dsn: str, **environment: str) -> Server:
    """The server of an address. environment: such as DB_MAX_CONNECTIONS, a few by default."""
    given = {"DB_MAX_CONNECTIONS": "5", "DB_CONN_TIMEOUT_MS": "5000", **environment}
    return server_of(dsn, given)


@dataclass(slots=True)
class PostgresEngines:
    """Makes engines for the contract suite, each with a database of its own."""

    server: TeamServer
    agent: str = ""
    made: list[Engine] = field(default_factory=list)

    def new(self) -> Engine:
        """Return an engine that has stored nothing; not even its tables are there.

        Those before it let go of their connections, and open others where they are used again.
        """
        self.close()
        return self._made(a_server(self.server.empty_dsn()))

    def again(self, engine: Any) -> Engine:
        """Return another engine with the same data, as another process has it."""
        return self._made(engine.server)

    def close(self) -> None:
        """Close all that were made."""
        for engine in self.made:
            engine.close()

    def _made(self, server: Server) -> Engine:
        engine = PostgresEngine(server, timeout_s=10.0, agent=self.agent)
        self.made.append(engine)
        return engine
