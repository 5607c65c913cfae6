"""Tests who may take over another program's tables: all rows come along, or nothing changes."""

import threading
import time
from collections.abc import Iterator
from itertools import count
from typing import Any

import psycopg
import pytest

from core.postgres.errors import NoRightError, NotOwnerError, RoleError, ServerError
from core.postgres.pool import Pool
from rooms.fragments.postgres import schema, takeover
from rooms.fragments.postgres.schema import Schema
from tests.rooms.fragments.postgres.test_team_schema import ANOTHERS, COUNT, SHARED
from tests.support.cli_process import Run
from tests.support.real_engines import Postgres, postgres
from tests.support.team_engines import a_server

_NUMBERS = count(1)
_TABLES = ("fragments", "fragment_links", "fragment_versions", "tool_feedback", "task_feedback")
_ROLES = "GRANT sentinel_room, sentinel_upkeep TO {user};"
_OWNER = "ALTER DATABASE {database} OWNER TO {user}; ALTER SCHEMA agent_memory OWNER TO {user};"
_OWNS = (
    _ROLES + _OWNER + "".join(f"ALTER TABLE agent_memory.{it} OWNER TO {{user}};" for it in _TABLES)
)
_FORCED = "ALTER TABLE agent_memory.fragments FORCE ROW LEVEL SECURITY;"
_ELSEWHERE = "CREATE SCHEMA extensions; ALTER EXTENSION vector SET SCHEMA extensions;"
_ELSEWHERE += "GRANT USAGE ON SCHEMA extensions TO {user};"
_BOSS = "CREATE ROLE {user}_boss;"
_BOSS_HAS = _BOSS + "ALTER TABLE agent_memory.fragments OWNER TO {user}_boss;"
# What an administrator has done, and what is left to do for the user of the address.
LACKING = {
    "rows are hidden from the owner": (_OWNS + _FORCED, "NO FORCE ROW LEVEL SECURITY"),
    "the roles are not granted": (_OWNS.removeprefix(_ROLES), "GRANT sentinel_upkeep TO"),
    "the schema is not the login's": (_OWNS + "ALTER SCHEMA agent_memory OWNER TO owner;",
                                      "ALTER SCHEMA agent_memory OWNER TO"),
    "one table is of another role": (_OWNS + _BOSS_HAS, "_boss TO"),
    "its rows can only be read": (
        _OWNS + _BOSS_HAS + "GRANT SELECT ON agent_memory.fragments TO {user};", "_boss TO"
    ),
    "the database is not the login's": (_OWNS + "ALTER DATABASE {database} OWNER TO owner;",
                                        "GRANT CREATE ON DATABASE"),
    "the extension is in a schema of others": (_OWNS + _ELSEWHERE, "GRANT USAGE ON SCHEMA"),
    "the extension would go with the former schema": (
        _OWNS + "ALTER EXTENSION vector SET SCHEMA agent_memory;", "ALTER EXTENSION vector"
    ),
}  # fmt: skip
ENOUGH = {
    "it owns them": _OWNS,
    "it is a member of the owner": _OWNS + _BOSS_HAS + "GRANT {user}_boss TO {user};",
    "row security does not bind it": _OWNS + _FORCED + "ALTER ROLE {user} BYPASSRLS;",
    "its role has limits": _OWNS + "ALTER ROLE {user} SET statement_timeout = '1ms';"
    "ALTER ROLE {user} SET transaction_timeout = '50ms'; ALTER ROLE {user} SET search_path = '';"
    "ALTER ROLE {user} SET default_transaction_read_only = on;"
    "ALTER ROLE {user} SET row_security = off;",
}


@pytest.fixture(scope="module")
def running() -> Iterator[Postgres]:
    with postgres() as server:
        with psycopg.connect(server.dsn(), autocommit=True) as connection:
            for role in ("sentinel_room", "sentinel_upkeep"):
                connection.execute(f"CREATE ROLE {role} NOLOGIN NOSUPERUSER NOBYPASSRLS")
        yield server


class Managed:
    """A database with another program's tables, and a login that is no superuser."""

    def __init__(self, server: Postgres) -> None:
        self.user, self.database = f"login_{next(_NUMBERS)}", server.new_database()
        self._dsn = server.dsn(self.database)
        self.dsn = server.dsn(self.database, user=self.user)
        self.pool = Pool(a_server(self.dsn))
        self.run("CREATE ROLE {user} LOGIN")

    def run(self, statements: str) -> None:
        """Run statements as the superuser."""
        with psycopg.connect(self._dsn, autocommit=True) as connection:
            connection.execute(
                statements.replace("{user}", self.user).replace("{database}", self.database)
            )

    def rows(self, table: str, in_schema: str = "agent_memory") -> int:
        """Count rows as the superuser, from whom none is hidden."""
        with psycopg.connect(self._dsn) as connection:
            row = connection.execute(f"SELECT count(*) FROM {in_schema}.{table}").fetchone()
        return int(row[0]) if row else 0

    def state(self) -> list[tuple[Any, ...]]:
        """What is there, as the superuser sees it."""
        with psycopg.connect(self._dsn) as connection:
            return connection.execute(
                "SELECT nspname, nspowner, relname, relowner, relforcerowsecurity FROM pg_namespace"
                " n LEFT JOIN pg_class ON relnamespace = n.oid WHERE nspname LIKE 'agent%'"
                " ORDER BY 1, 3"
            ).fetchall() + [(it, self.rows(it)) for it in _TABLES]


@pytest.fixture
def managed(running: Postgres) -> Iterator[Managed]:
    made = Managed(running)
    made.run(ANOTHERS)
    yield made
    made.pool.close()


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.100")
@pytest.mark.parametrize("name", LACKING)
def test_who_lacks_a_right_changes_nothing_until_the_administrators_statements_give_it(
    managed: Managed,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given, left = LACKING[name]
    managed.run(given)
    before = managed.state()
    monkeypatch.setenv("SENTINEL_MEMORY_FRAGMENTS", managed.dsn)
    refused = Run.of(capsys, "fragments", "migrate", "--yes")
    assert refused.code == 1
    said = " ".join(refused.errors.split())
    assert "Nothing was changed." in said and "fragments migrate --sql" in said
    assert managed.state() == before
    statements = Run.of(capsys, "fragments", "migrate", "--sql").out
    assert left in statements and "CREATE TABLE" not in statements
    managed.run(statements)
    done = Run.of(capsys, "fragments", "migrate", "--yes")
    assert done.code == 0, done.errors
    for table in ("fragments", "fragment_versions", "tool_feedback", "task_feedback"):
        assert managed.rows(table) == managed.rows(table, takeover.FORMER)
    assert managed.rows("fragments") == COUNT
    managed.run(f"DROP SCHEMA {takeover.FORMER} CASCADE")
    assert Schema(managed.pool).look().embedding == "vector"


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.100")
@pytest.mark.parametrize("name", ENOUGH)
def test_who_has_the_rights_takes_every_row_over(managed: Managed, name: str) -> None:
    given = ENOUGH[name]
    with psycopg.connect(managed.dsn) as connection:
        if connection.info.server_version < 170_000:
            given = given.replace("transaction_timeout", "lock_timeout")
    managed.run(given)
    assert takeover.script(managed.pool) == []
    assert takeover.take_over(managed.pool).rows["fragments"] == COUNT
    assert managed.rows("fragments") == managed.rows("fragments", takeover.FORMER) == COUNT
    with managed.pool.transaction(agent="bob", changes=False) as connection:
        row = connection.execute("SELECT count(*) FROM agent_memory.fragments").fetchone()
    assert row == (SHARED,)


def test_what_another_writes_meanwhile_is_taken_over_too(managed: Managed) -> None:
    managed.run(_OWNS)
    writer = psycopg.connect(managed.dsn)
    writer.execute("INSERT INTO agent_memory.fragments (id, content, topic, type, importance)"
                   " VALUES ('late', 'Late', 't', 'fact', 0.5)")  # fmt: skip
    later = threading.Thread(target=_commit_when_waited_for, args=(writer, managed))
    later.start()
    counted = takeover.take_over(managed.pool)
    later.join()
    writer.close()
    assert counted.rows["fragments"] == COUNT + 1 == managed.rows("fragments")


def _commit_when_waited_for(writer: psycopg.Connection[Any], managed: Managed) -> None:
    with psycopg.connect(managed.dsn, autocommit=True) as connection:
        waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted"
        ends = time.monotonic() + 60
        while connection.execute(waiting).fetchone() == (0,) and time.monotonic() < ends:
            time.sleep(0.01)
    writer.commit()


def test_a_row_that_does_not_fit_is_named_and_nothing_changes(managed: Managed) -> None:
    managed.run(_OWNS + "UPDATE agent_memory.fragments SET importance = NULL WHERE id = 'f3'")
    before = managed.state()
    with pytest.raises(ServerError, match=r'"importance".*Nothing was changed'):
        takeover.take_over(managed.pool)
    assert managed.state() == before


def test_a_login_without_the_roles_is_told_the_statement_that_grants_them(
    running: Postgres, managed: Managed
) -> None:
    administrator = Pool(a_server(running.dsn(managed.database)))
    takeover.take_over(administrator)
    administrator.close()
    with pytest.raises(RoleError, match="GRANT sentinel_room") as caught:
        Schema(managed.pool).look()
    managed.run(str(caught.value).rpartition(": ")[2])
    assert Schema(managed.pool).look().is_current


def test_an_extension_that_the_roles_do_not_reach_is_a_right_that_is_missing(
    running: Postgres,
) -> None:
    fresh = Managed(running)
    fresh.run("CREATE SCHEMA extensions; CREATE EXTENSION vector SCHEMA extensions;"
              "GRANT USAGE ON SCHEMA extensions TO {user}; ALTER DATABASE {database} OWNER TO"
              " {user};" + _ROLES)  # fmt: skip
    made = Schema(fresh.pool)
    with pytest.raises(NoRightError, match="schema extensions") as caught:
        made.prepare()
    assert not isinstance(caught.value, NotOwnerError)
    fresh.run(";".join(schema.script(made.look())))
    assert made.is_ready() and made.has_vectors
    fresh.pool.close()
