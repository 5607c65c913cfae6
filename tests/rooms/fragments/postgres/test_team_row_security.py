"""Tests who sees, adds, changes and removes what, as the database itself guarantees it.

The login is a superuser's, whom row security would not bind; the statements are plain SQL.
"""

from collections.abc import Iterator
from contextlib import suppress
from itertools import product
from typing import Any

import pytest

from core.postgres.address import ServerError
from core.postgres.pool import Pool
from core.room.database import DatabaseError
from rooms.fragments.storage.postgres_schema import TABLES, Schema
from tests.support import tables
from tests.support.real_engines import postgres
from tests.support.sentences import raised
from tests.support.team_engines import a_server

AGENTS = ("alice", "bob", "default")
STRANGERS = ("system", "admin", "sentinel_upkeep", "' OR true --")
EVERYBODY = (*AGENTS, *STRANGERS)

# By table the condition that names a row's owner, and a change that changes nothing; the rows that
# one agent, {0}, adds for another, {1}; forbidden statements; one row of each owner in each table.
SECURITY = tables.table("row_security")
OWNER: dict[str, tuple[str, str]] = SECURITY["owners"]
CLAIMS: dict[str, str] = SECURITY["claims"]
SHARED = frozenset("fragments fragment_links fragment_versions suspicions revisions".split())
WITH_DEFAULT = frozenset(("link to", "link from"))  # both ends are seen, one of them is own


@pytest.fixture
def pool(team_pool: Pool) -> Iterator[Pool]:
    with team_pool.transaction() as connection:
        for owner in AGENTS:
            connection.execute(";".join(SECURITY["rows"]).format(owner))
        connection.execute(";".join(SECURITY["rows for all"]))
    yield team_pool


def owners(pool: Pool, agent: str, statement: str) -> list[str]:
    with pool.transaction(agent=agent) as connection:
        return sorted({row[0] for row in connection.execute(statement)})


def expected(table: str, agent: str, *, writes: bool) -> list[str]:
    own = {agent} & set(AGENTS)
    if not writes:
        own |= {"default"} if table in SHARED else {""} if table == "state" else set()
    return sorted(own)


@pytest.mark.row("002 2.19.b", "002 2.19.c")
def test_every_table_is_in_the_table_and_forces_row_security(pool: Pool) -> None:
    assert {*OWNER, "schema_version", "papers"} == {*TABLES}
    with pool.login_transaction() as connection:
        rows = connection.execute(
            "SELECT relname, relrowsecurity AND relforcerowsecurity, pg_get_userbyid(relowner)"
            " FROM pg_class WHERE relnamespace = 'agent_memory'::regnamespace AND relkind = 'r'"
        ).fetchall()
    assert sorted(rows) == sorted((it, True, "sentinel_upkeep") for it in TABLES)


@pytest.mark.row("002 2.19", "002 2.19.b", "002 2.70.d")
def test_an_agent_sees_its_own_rows_and_those_for_all(pool: Pool) -> None:
    for agent, (table, (owner, _)) in product(EVERYBODY, OWNER.items()):
        seen = owners(pool, agent, f"SELECT {owner} FROM {table}")
        assert seen == expected(table, agent, writes=False), (agent, table)


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.19.d")
@pytest.mark.parametrize("agent", EVERYBODY)
@pytest.mark.parametrize("verb", ["UPDATE", "DELETE"])
def test_an_agent_changes_and_removes_its_own_alone(pool: Pool, agent: str, verb: str) -> None:
    for table, (owner, change) in reversed(OWNER.items()):
        statement = f"UPDATE {table} SET {change}" if verb == "UPDATE" else f"DELETE FROM {table}"
        changed = owners(pool, agent, f"{statement} RETURNING {owner}")
        assert changed == expected(table, agent, writes=True), table
    with pool.transaction() as connection:
        [count] = connection.execute("SELECT count(*) FROM fragments").fetchone() or [0]
    removed = 2 if verb == "DELETE" and agent in AGENTS else 0
    assert count == 2 * len(AGENTS) - removed


def rows_of_undone(pool: Pool, agent: str, *statements: str) -> int:
    """How many rows the last of these statements is about; nothing is left of them. -1: refused."""
    rows = -1
    with suppress(ZeroDivisionError, DatabaseError), pool.transaction(agent=agent) as connection:
        for statement in statements:
            rows = -1
            rows = max(connection.execute(statement).rowcount, 0)
        raise ZeroDivisionError  # so nothing is left
    return rows


@pytest.mark.row("002 2.19.d")
@pytest.mark.parametrize("agent", ["alice", "system"])
@pytest.mark.parametrize("other", ["bob", "default", ""])
def test_an_agent_adds_nothing_for_another(pool: Pool, agent: str, other: str) -> None:
    if agent == "system":  # which has its own, as any agent
        with pool.transaction() as connection:
            connection.execute(";".join(SECURITY["rows"]).format("system"))
    for claim, statement in CLAIMS.items():
        is_allowed = other == "default" and claim in WITH_DEFAULT
        made = rows_of_undone(pool, agent, statement.format(agent, other))
        assert made == (1 if is_allowed else -1), claim
        if claim not in ("gift", *WITH_DEFAULT):  # it adds for itself
            assert rows_of_undone(pool, agent, statement.format(agent, agent)) == 1, claim


def test_no_agent_gets_at_the_papers_or_the_tables(pool: Pool) -> None:
    with pool.login_transaction() as connection:  # somebody gave it all of them
        connection.execute("GRANT ALL ON SCHEMA agent_memory TO PUBLIC, sentinel_room")
        connection.execute("GRANT ALL ON ALL TABLES IN SCHEMA agent_memory TO sentinel_room")
    Schema(pool).secure()
    tried = product(EVERYBODY, SECURITY["privileged"])
    assert [each for each in tried if rows_of_undone(pool, *each) != -1] == []


@pytest.mark.row("002 2.19.a")
def test_upkeep_sees_and_changes_all(pool: Pool) -> None:
    for table, (owner, change) in OWNER.items():
        room = [""] if table == "state" else []
        every = sorted([*AGENTS, *room])
        assert owners(pool, "", f"SELECT {owner} FROM {table}") == every
        assert owners(pool, "", f"UPDATE {table} SET {change} RETURNING {owner}") == every


@pytest.mark.row("002 2.19.b")
def test_nothing_is_left_for_the_next_borrower(pool: Pool) -> None:
    left = "SELECT current_user, current_setting('app.current_agent_id', true)"

    def left_for_login() -> Any:
        with pool.login_transaction() as connection:
            assert connection.info.backend_pid == process
            return connection.execute(left).fetchone()

    with pytest.raises(DatabaseError), pool.transaction(agent="alice") as connection:
        process = connection.info.backend_pid
        connection.execute("SELECT nothing")
    assert left_for_login() == ("owner", "")
    with pool.transaction(agent="bob") as connection:
        assert connection.execute(left).fetchone() == ("sentinel_room", "bob")
    assert left_for_login() == ("owner", "")  # nor of one that ended well


def test_any_name_of_an_agent_is_a_name_and_no_statement(pool: Pool) -> None:
    told = "SELECT current_setting('app.current_agent_id'), current_user"
    for name in ("o'brien", "x', true), set_config('role', 'owner", "back\\slash'", "이름"):
        with pool.transaction(agent=name) as connection:
            assert connection.execute(told).fetchone() == (name, "sentinel_room")


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.19.c")
def test_a_role_that_row_security_does_not_bind_is_refused() -> None:
    with postgres() as running:  # roles are of a whole server
        pool = Pool(a_server(running.dsn(running.new_database())))
        Schema(pool).prepare()
        for rights in ("SUPERUSER NOBYPASSRLS", "NOSUPERUSER BYPASSRLS"):
            with pool.login_transaction() as connection:
                connection.execute(f"ALTER ROLE sentinel_room {rights}")
            with raised(ServerError, "bypasses") as refused, pool.transaction(agent="alice"):
                pytest.fail("a transaction began")
            assert "sentinel_room" in str(refused.value)
        pool.close()


# For each function that sees more than an agent does, a call that every row answers.
FUNCTIONS = {
    "matching": "matching(ARRAY['same'::tsquery, 'x'::tsquery], 100)",
    "keyworded": "keyworded(ARRAY['k', 'alice', 'bob'], 100, false)",
}


@pytest.mark.row("002 2.19.b", "002 2.21")
def test_a_function_that_sees_more_tells_an_agent_of_no_others_rows(pool: Pool) -> None:
    for call, agent in product(FUNCTIONS.values(), (*EVERYBODY, "", None)):
        with pool.transaction(agent=agent or "nobody") as connection:
            if agent is None:  # who says no name at all
                connection.execute("RESET app.current_agent_id")
            elif not agent:
                connection.execute("SELECT set_config('app.current_agent_id', '', true)")
            numbers = [number for (number,) in connection.execute(f"SELECT number FROM {call}")]
        among = ", ".join(map(str, numbers))
        told = owners(pool, "", f"SELECT agent_id FROM fragments WHERE number IN ({among})")
        assert told == sorted({"default"} | ({agent or ""} & {*AGENTS})), (call, agent)


def test_functions_that_see_more_are_closed_and_led_astray_by_no_name(pool: Pool) -> None:
    with pool.login_transaction() as connection:
        rows = connection.execute(
            "SELECT proname, pg_get_userbyid(proowner), EXISTS (SELECT FROM"
            " aclexplode(coalesce(proacl, acldefault('f', proowner))) WHERE grantee = 0)"
            " FROM pg_proc WHERE pronamespace = 'agent_memory'::regnamespace AND prosecdef"
        ).fetchall()
        views = connection.execute(
            "SELECT FROM pg_class WHERE relnamespace = 'agent_memory'::regnamespace"
            " AND relkind IN ('v', 'm')"
        )
        assert views.rowcount == 0
    assert {*rows} == {(name, "sentinel_upkeep", False) for name in FUNCTIONS}
    theirs = "CREATE TEMPORARY TABLE fragments (LIKE agent_memory.fragments)"
    path = "SET LOCAL search_path = pg_temp, agent_memory"
    for call in FUNCTIONS.values():
        asked = f"SELECT number FROM agent_memory.{call}"
        assert rows_of_undone(pool, "alice", theirs, path, asked) == 4
