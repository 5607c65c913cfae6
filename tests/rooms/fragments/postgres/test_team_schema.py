"""Tests how the tables on a server come about: anew, by several at once, beside another's."""

import multiprocessing
import os
import re
import shlex
import subprocess
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest

from core.postgres.pool import Pool
from core.postgres.server import ServerError
from rooms.fragments.fragment import Fragment, Wanted, hash_of
from rooms.fragments.storage import postgres_schema as schema
from rooms.fragments.storage.postgres import PostgresEngine
from rooms.fragments.storage.postgres_schema import Schema
from tests.support.cli_process import Run
from tests.support.real_engines import Postgres, postgres
from tests.support.sentences import raised
from tests.support.tables import ROOT, table
from tests.support.team_engines import TeamServer, a_server

OPERATORS = ROOT / "docs" / "team.md"
COUNT = 300
ALICES = COUNT // 3
SHARED = COUNT - ALICES
ANOTHERS = (ROOT / "tests/data/another_program.sql").read_text("utf-8")


@pytest.fixture
def empty(team_server: TeamServer) -> Iterator[Pool]:
    pool = Pool(a_server(team_server.empty_dsn()))
    yield pool
    pool.close()


@pytest.fixture
def anothers(empty: Pool) -> Pool:
    with empty.as_login() as connection:
        connection.execute(ANOTHERS)
    return empty


def _prepare(dsn: str) -> None:
    pool = Pool(a_server(dsn, DB_CONN_TIMEOUT_MS="60000"))
    Schema(pool).prepare()
    pool.close()


@pytest.mark.row("002 2.80")
@pytest.mark.long
def test_twenty_processes_that_start_at_once_make_the_tables_once() -> None:
    with postgres() as running:  # without the roles, which are of a whole server
        dsn = running.dsn(running.new_database())
        processes = [
            multiprocessing.get_context("fork").Process(target=_prepare, args=(dsn,))
            for _ in range(20)
        ]
        for process in processes:
            process.start()
        for process in processes:
            process.join(120)
        assert [it.exitcode for it in processes] == [0] * 20
        pool = Pool(a_server(dsn))
        assert Schema(pool).look().is_current
        pool.close()


def test_the_tables_of_a_newer_program_are_refused(empty: Pool) -> None:
    Schema(empty).prepare()
    with empty.transaction() as connection:
        connection.execute("INSERT INTO schema_version VALUES (99)")
    with raised(ServerError, "schema_newer", match="99"):
        Schema(empty).is_ready()
    with raised(ServerError, "schema_newer"):
        Schema(empty).prepare()


def test_making_the_tables_again_changes_nothing(empty: Pool) -> None:
    Schema(empty).prepare()
    before = Schema(empty).look()
    with empty.as_login() as connection:
        Schema(empty).make(connection, before)
    assert Schema(empty).look() == before


# Logins that are no superuser's, on a server of their own: roles are of a whole server.


class Login:
    """A database, and a login for it. before: what an administrator runs for it first."""

    def __init__(self, server: Postgres, before: str = "") -> None:
        self.user, self.database = f"login_{next(_NUMBERS)}", server.new_database()
        self._dsn = server.dsn(self.database)
        self.pool = Pool(a_server(server.dsn(self.database, user=self.user)))
        self.run(f"CREATE ROLE {{user}} LOGIN; {before}")

    def run(self, statements: str) -> None:
        """Run statements as the superuser."""
        with psycopg.connect(self._dsn, autocommit=True) as connection:
            connection.execute(
                statements.replace("{user}", self.user).replace("{database}", self.database)
            )


_NUMBERS = count(1)
OWNER = "ALTER DATABASE {database} OWNER TO {user};"
MEMBER = "GRANT sentinel_room, sentinel_upkeep TO {user};"
EXTENSION = "CREATE SCHEMA extensions; CREATE EXTENSION vector SCHEMA extensions;"


@pytest.fixture(scope="module")
def maker() -> Iterator[tuple[Postgres, Schema]]:
    """The server, and the tables that an owner who may make roles has made as the first."""
    with postgres() as server:
        login = Login(server, OWNER + "ALTER ROLE {user} CREATEROLE;")
        made = Schema(login.pool)
        made.prepare()
        yield server, made
        login.pool.close()


@pytest.mark.long  # it costs a server
def test_an_owner_who_may_make_roles_makes_the_tables(maker: tuple[Postgres, Schema]) -> None:
    assert maker[1].look().is_current


@pytest.mark.long  # it costs a server
@pytest.mark.row("002 2.80")
@pytest.mark.parametrize(
    ("before", "missing"),
    [
        ("", "--sql"),
        (f"{OWNER} {MEMBER} CREATE EXTENSION vector;", ""),
        (f"{OWNER} {MEMBER} {EXTENSION} GRANT USAGE ON SCHEMA extensions TO {{user}};",
         "schema extensions"),
    ],
)  # fmt: skip
def test_a_login_makes_the_tables_or_is_told_what_an_administrator_runs(
    maker: tuple[Postgres, Schema], before: str, missing: str
) -> None:
    login = Login(maker[0], before)
    made = Schema(login.pool)
    assert not made.is_ready()
    if missing:
        with raised(ServerError, "no_right", match=missing):
            made.prepare()
        login.run(";".join(schema.script(made.look())))
    made.prepare()
    assert made.is_ready() and made.has_vectors and made.look().is_current
    with login.pool.transaction(agent="alice") as lent:
        lent.execute("INSERT INTO tool_feedback (tool_name, relevant, sufficient)"
                     " VALUES ('x', true, true)")  # fmt: skip
        assert lent.execute("SELECT count(*) FROM fragments").fetchone() == (0,)
    if not missing:
        assert PostgresEngine(login.pool.server, timeout_s=5).purge()
    login.pool.close()


@pytest.mark.long  # it costs a server
def test_a_login_without_the_roles_is_told_the_statement_that_grants_them(
    maker: tuple[Postgres, Schema],
) -> None:
    login = Login(maker[0])
    administrator = Pool(a_server(maker[0].dsn(login.database)))
    Schema(administrator).prepare()
    administrator.close()
    with raised(ServerError, "not_member", match="GRANT sentinel_room") as caught:
        Schema(login.pool).look()
    login.run(str(caught.value).rpartition(": ")[2])
    assert Schema(login.pool).look().is_current
    login.pool.close()


# The tables of another program.


@pytest.mark.row("002 2.100")
def test_another_programs_tables_are_refused_with_the_way_out_and_stay_as_they_are(
    anothers: Pool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(anothers)
    schema = Schema(anothers)
    for call in (schema.is_ready, schema.prepare, schema.bring_up_to_date):
        with raised(ServerError, "schema_foreign", match="import former"):
            call()
    monkeypatch.setenv("SENTINEL_MEMORY_FRAGMENTS", anothers.server.dsn)
    for words in (("--yes",), ("--sql",), ("--dry-run",)):
        refused = Run.of(capsys, "fragments", "migrate", *words)
        assert (refused.code, refused.out) == (1, "")
        assert "import former.jsonl" in " ".join(refused.errors.split())
    assert contents(anothers) == before


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.100")
@pytest.mark.parametrize("user", ["owner", "one from whom rows are hidden"])
def test_the_statement_of_the_documents_gives_another_programs_fragments_to_an_import(
    anothers: Pool,
    team_server: TeamServer,
    user: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before, dsn = contents(anothers), anothers.server.dsn
    if user != "owner":
        with anothers.as_login() as connection:
            connection.execute(
                "CREATE ROLE former_reader LOGIN;"
                " GRANT USAGE ON SCHEMA agent_memory TO former_reader;"
                " GRANT SELECT ON ALL TABLES IN SCHEMA agent_memory TO former_reader"
            )
        dsn = dsn.replace("user=owner", "user=former_reader")
    [command] = re.findall(r"^psql ADDRESS .*$", OPERATORS.read_text("utf-8"), re.MULTILINE)
    with raised(ServerError, "schema_foreign") as caught:
        Schema(anothers).is_ready()
    assert command in str(caught.value)
    psql = shlex.quote(str(team_server.postgres.binaries / "psql"))
    line = command.replace("psql ADDRESS", f"{psql} {shlex.quote(dsn)}")
    done = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, check=False)
    lines = (tmp_path / "former.jsonl").read_text("utf-8").splitlines()
    if user != "owner":
        assert b"row-level security" in done.stderr and lines == []
        return
    assert len(lines) == COUNT + 2
    monkeypatch.setenv("SENTINEL_MEMORY_FRAGMENTS", team_server.empty_dsn())
    brought = Run.of(capsys, "import", str(tmp_path / "former.jsonl"), "--yes")
    assert brought.code == 0, brought.errors
    engine = PostgresEngine(a_server(os.environ["SENTINEL_MEMORY_FRAGMENTS"]), timeout_s=10.0)
    with engine.reading() as reading:
        found = reading.find(Wanted(state="all"), limit=COUNT + 1)
        one = next(it for it in found if it.content == "Text number 10")
        assert (one.keywords, one.importance, one.lifetime) == (("Key", "k10"), 0.3, "procedural")
        assert (one.tier, one.access_count, one.content_hash) == (
            *("permanent", 2),
            hash_of(one.content),
        )
        assert sum(it.is_anchor for it in found) == COUNT // 7
        assert Counter(it.agent for it in found) == {"alice": ALICES, "default": SHARED}
        texts = {it.id: it.content for it in found}
        links = reading.links([*texts])
        assert len(links) == 2 + 9  # f2 is linked with f1 already
        assert [
            (texts[it.from_id], texts[it.to_id]) for it in links if it.relation == "caused_by"
        ] == [("Text number 1", "Text number 2")]
    engine.close()
    assert contents(anothers) == before


def contents(pool: Pool) -> list[tuple[object, ...]]:
    """What another program's schema holds, and whose it is."""
    with pool.as_login(changes=False) as connection:
        owned = connection.execute(
            "SELECT relname::text, relowner, relforcerowsecurity FROM pg_class"
            " WHERE relnamespace = 'agent_memory'::regnamespace ORDER BY 1"
        ).fetchall()
        return (
            owned
            + connection.execute(
                "SELECT id, content, linked_to FROM agent_memory.fragments ORDER BY 1"
            ).fetchall()
        )


@pytest.mark.long  # it costs much
def test_the_command_shows_then_does(
    empty: Pool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SENTINEL_MEMORY_FRAGMENTS", empty.server.dsn)
    shown = Run.of(capsys, "fragments", "migrate", "--dry-run")
    assert "Nothing was changed." in shown.out
    assert not Schema(empty).look().version
    statements = Run.of(capsys, "fragments", "migrate", "--sql").out
    assert "CREATE POLICY" in statements
    assert Run.of(capsys, "fragments", "migrate").code == 1  # nobody can be asked
    done = Run.of(capsys, "fragments", "migrate", "--yes")
    assert done.code == 0, done.errors
    assert Schema(empty).look().is_current
    assert "up to date" in " ".join(Run.of(capsys, "fragments", "migrate").out.split())


def test_tables_of_the_first_version_are_brought_up_to_date(empty: Pool) -> None:
    engine = PostgresEngine(empty.server, timeout_s=5)
    texts = [("a", "The shop runs on Node"), ("b", "Node 22 it is"), ("c", "Node 18 it was")]
    fragments = [Fragment(id=id_, content=text, agent="ann") for id_, text in texts]
    fragments.append(Fragment(id="d", content="Everybody has Node"))
    with engine.writing() as writing:
        added = writing.add(fragments)
        writing.touch([added[2].number], {"deleted_at": "2026-01-01T00:00:00+00:00"})
    with engine.reading() as reading:
        before = reading.holding("node shop", 100)
    engine.close()
    assert before.total == 3
    with empty.as_login() as connection:
        connection.execute(";".join(DECLARED["what later versions added, away"]))
    assert Schema(empty).look().version == 1
    later = PostgresEngine(empty.server, timeout_s=5)
    with later.reading() as reading:
        assert reading.holding("node shop", 100) == before
    assert Schema(empty).look().version == schema.KNOWN
    with later.writing() as writing:
        assert not writing.mend_index()
    later.close()


# By table the columns that are declared, but `linked_to`, which is what `fragment_links` say; by
# name what the definition of an index says. With `fastupdate` each question would read what waits.
DECLARED = table("team_tables")
COLUMNS: dict[str, str] = DECLARED["columns"]


def rows(pool: Pool, statement: str, *values: Any) -> list[Any]:
    with pool.as_login(changes=False) as connection:
        return connection.execute(statement, values).fetchall()


@pytest.mark.row("002 2.11", "002 2.12.r")
@pytest.mark.parametrize("table", COLUMNS)
def test_the_tables_of_a_server_have_the_declared_columns(team_pool: Pool, table: str) -> None:
    found = rows(
        team_pool,
        "SELECT column_name::text, data_type::text, udt_name::text FROM information_schema.columns"
        " WHERE table_schema = 'agent_memory' AND table_name = %s",
        table,
    )
    assert {*COLUMNS[table].split()} <= {name for name, _, _ in found}
    kinds = {name: kind for name, kind, _ in found}
    assert {kind for name, kind in kinds.items() if name.endswith("_at")} == {
        "timestamp with time zone"
    }
    udts = {name: it for name, _, it in found}
    assert all(
        it == "_text" for name, it in udts.items() if name in ("keywords", "tool_highlights")
    )
    assert table != "fragments" or udts["embedding"] == "vector"


@pytest.mark.row("002 2.11", "002 2.13.h", "002 2.13.j", "002 2.13.k", "002 2.13.l", "002 2.14")
def test_the_indexes_of_a_server_are_the_declared_ones(team_pool: Pool) -> None:
    statement = "SELECT indexname::text, indexdef FROM pg_indexes WHERE schemaname = 'agent_memory'"
    found = dict(rows(team_pool, statement))
    for name, said in DECLARED["indexes"].items():
        assert said in found[name], found[name]
    near = found["idx_fragments_embedding_1536"]
    for said in ("USING hnsw", "vector_cosine_ops", "m='16'", "ef_construction='64'"):
        assert said in near
    assert "embedding IS NOT NULL" in near
