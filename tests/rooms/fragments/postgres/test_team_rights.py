"""Tests that a login that lacks a right on a server is told the statement that gives it."""

from collections.abc import Iterator
from itertools import count

import psycopg
import pytest

from core.postgres.errors import NoRightError, RoleError
from core.postgres.pool import Pool
from rooms.fragments.postgres import schema
from rooms.fragments.postgres.schema import Schema
from tests.support.real_engines import Postgres, postgres
from tests.support.team_engines import a_server

_NUMBERS = count(1)


@pytest.fixture(scope="module")
def running() -> Iterator[Postgres]:
    with postgres() as server:
        with psycopg.connect(server.dsn(), autocommit=True) as connection:
            for role in ("sentinel_room", "sentinel_upkeep"):
                connection.execute(f"CREATE ROLE {role} NOLOGIN NOSUPERUSER NOBYPASSRLS")
        yield server


class Managed:
    """A database, and a login that is no superuser."""

    def __init__(self, server: Postgres) -> None:
        self.user, self.database = f"login_{next(_NUMBERS)}", server.new_database()
        self._dsn = server.dsn(self.database)
        self.pool = Pool(a_server(server.dsn(self.database, user=self.user)))
        self.run("CREATE ROLE {user} LOGIN")

    def run(self, statements: str) -> None:
        """Run statements as the superuser."""
        with psycopg.connect(self._dsn, autocommit=True) as connection:
            connection.execute(
                statements.replace("{user}", self.user).replace("{database}", self.database)
            )


@pytest.fixture
def managed(running: Postgres) -> Iterator[Managed]:
    made = Managed(running)
    yield made
    made.pool.close()


def test_a_login_without_the_roles_is_told_the_statement_that_grants_them(
    running: Postgres, managed: Managed
) -> None:
    administrator = Pool(a_server(running.dsn(managed.database)))
    Schema(administrator).prepare()
    administrator.close()
    with pytest.raises(RoleError, match="GRANT sentinel_room") as caught:
        Schema(managed.pool).look()
    managed.run(str(caught.value).rpartition(": ")[2])
    assert Schema(managed.pool).look().is_current


def test_an_extension_that_the_roles_do_not_reach_is_a_right_that_is_missing(
    managed: Managed,
) -> None:
    managed.run("CREATE SCHEMA extensions; CREATE EXTENSION vector SCHEMA extensions;"
                "GRANT USAGE ON SCHEMA extensions TO {user}; ALTER DATABASE {database} OWNER TO"
                " {user}; GRANT sentinel_room, sentinel_upkeep TO {user};")  # fmt: skip
    made = Schema(managed.pool)
    with pytest.raises(NoRightError, match="schema extensions"):
        made.prepare()
    managed.run(";".join(schema.script(made.look())))
    assert made.is_ready() and made.has_vectors
