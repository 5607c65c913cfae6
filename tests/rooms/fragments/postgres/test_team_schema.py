"""Tests how the tables on a server come about: anew, by several at once, beside another's, from a
version before.
"""

import json
import multiprocessing
import re
import shlex
import shutil
import struct
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any, cast

import psycopg
import pytest

from core.config import FRAGMENTS_VARIABLE, Settings
from core.postgres.address import ServerError
from core.postgres.pool import Pool
from rooms.fragments.fragment import Filter, Query, hash_of
from rooms.fragments.recall import recall
from rooms.fragments.room import Config, Room
from rooms.fragments.storage import postgres_schema as schema
from rooms.fragments.storage.postgres import PostgresEngine
from rooms.fragments.storage.postgres_schema import Schema
from rooms.fragments.storage.rows import INDEX_STATE
from tests.support.cli_process import Run
from tests.support.real_engines import Postgres, postgres
from tests.support.sentences import raised
from tests.support.tables import DATA, ROOT, table, with_tuples
from tests.support.team_engines import TeamServer, a_server

# By table the declared columns, but `linked_to`, which follows from `fragment_links`; by name the
# definition of an index. With `fastupdate` each question would read the entries that wait.
DECLARED = table("team_tables")
COLUMNS: dict[str, str] = DECLARED["columns"]
COUNT = 300


@pytest.fixture
def empty(team_server: TeamServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pool]:
    """Connections to a database without the tables, which is also that of the commands."""
    pool = Pool(a_server(team_server.empty_dsn()))
    monkeypatch.setenv(FRAGMENTS_VARIABLE, pool.server.dsn)
    yield pool
    pool.close()


@pytest.fixture
def anothers(empty: Pool) -> Pool:
    """Connections to a database with the tables of another program."""
    run(empty, (DATA / "another_program.sql").read_text("utf-8"))
    return empty


def run(pool: Pool, statements: str) -> None:
    with pool.login_transaction() as connection:
        connection.execute(statements)


def rows(pool: Pool, statement: str, *values: Any) -> list[Any]:
    with pool.login_transaction(changes=False) as connection:
        return connection.execute(statement, values).fetchall()


def prepare(dsn: str) -> bool:
    """Make the tables; whether they are those of this version."""
    pool = Pool(a_server(dsn))
    made = Schema(pool)
    made.prepare()
    is_current = made.read_state().is_current
    pool.close()
    return is_current


@pytest.mark.row("002 2.80")
@pytest.mark.long
def test_twenty_processes_that_start_at_once_make_the_tables_once() -> None:
    with postgres() as running:  # without the roles, which are of a whole server
        dsn = running.dsn(running.new_database())
        forked = multiprocessing.get_context("fork")
        processes = [forked.Process(target=prepare, args=(dsn,)) for _ in range(20)]
        for process in processes:
            process.start()
        for process in processes:
            process.join(120)
        assert [it.exitcode for it in processes] == [0] * 20
        assert prepare(dsn)


def test_making_the_tables_again_changes_nothing_and_those_of_a_newer_program_are_refused(
    empty: Pool,
) -> None:
    Schema(empty).prepare()
    before = Schema(empty).read_state()
    with empty.login_transaction() as connection:
        Schema(empty).make_tables(connection, before)
    assert Schema(empty).read_state() == before
    run(empty, "INSERT INTO agent_memory.schema_version VALUES (99)")
    with raised(ServerError, "schema_newer", match="99"):
        Schema(empty).is_ready()
    with raised(ServerError, "schema_newer"):
        Schema(empty).prepare()


class Login:
    """A database, and a login for it that is no superuser's. before: statements to run first."""

    def __init__(self, server: Postgres, before: str = "") -> None:
        self.user, self.database = f"login_{next(_NUMBERS)}", server.new_database()
        self._dsn = server.dsn(self.database)
        self.pool = Pool(a_server(server.dsn(self.database, user=self.user)))
        self.run(f"CREATE ROLE {{user}} LOGIN; {before}")

    def run(self, statements: str) -> None:
        """Run statements as the superuser."""
        named = statements.replace("{user}", self.user).replace("{database}", self.database)
        with psycopg.connect(self._dsn, autocommit=True) as connection:
            connection.execute(named)


_NUMBERS = count(1)
OWNER = "ALTER DATABASE {database} OWNER TO {user};"
MEMBER = "GRANT sentinel_room, sentinel_upkeep TO {user};"
EXTENSION = "CREATE SCHEMA extensions; CREATE EXTENSION vector SCHEMA extensions;"
LOGINS = {  # by the statements of an administrator: the part that a login is told to lack
    "": "--sql",
    f"{OWNER} {MEMBER} CREATE EXTENSION vector;": "",
    f"{OWNER} {MEMBER} {EXTENSION} GRANT USAGE ON SCHEMA extensions TO {{user}};":
        "schema extensions",
}  # fmt: skip


@pytest.mark.long  # it costs a server
@pytest.mark.row("002 2.80")
def test_a_login_makes_the_tables_or_is_told_the_script_for_an_administrator() -> None:
    with postgres() as server:  # roles are of a whole server: the first makes them with the tables
        owner = Login(server, OWNER + "ALTER ROLE {user} CREATEROLE;")
        assert prepare(owner.pool.server.dsn)
        for before, missing in LOGINS.items():
            login = Login(server, before)
            made = Schema(login.pool)
            assert not made.is_ready()
            if missing:
                with raised(ServerError, "no_right", match=missing):
                    made.prepare()
                login.run(";".join(schema.statements_for_admin(made.read_state())))
            made.prepare()
            assert made.is_ready() and made.has_vectors and made.read_state().is_current
            with login.pool.transaction(agent="alice") as lent:
                lent.execute("INSERT INTO tool_feedback (tool_name, relevant, sufficient)"
                             " VALUES ('x', true, true)")  # fmt: skip
                assert lent.execute("SELECT count(*) FROM fragments").fetchone() == (0,)
            if not missing:
                assert PostgresEngine(login.pool.server, timeout_s=5).purge()
            login.pool.close()
        stranger = Login(server)  # without the roles
        prepare(server.dsn(stranger.database))
        with raised(ServerError, "not_member", match="GRANT sentinel_room") as caught:
            Schema(stranger.pool).read_state()
        stranger.run(str(caught.value).rpartition(": ")[2])
        assert Schema(stranger.pool).read_state().is_current
        stranger.pool.close()


# The tables of another program.


def anothers_contents(pool: Pool) -> list[tuple[object, ...]]:
    """The tables of another program, their owners, and their rows."""
    owned = rows(pool, "SELECT relname::text, relowner, relforcerowsecurity FROM pg_class"
                 " WHERE relnamespace = 'agent_memory'::regnamespace ORDER BY 1")  # fmt: skip
    texts = "SELECT id, content, linked_to FROM agent_memory.fragments ORDER BY 1"
    return owned + rows(pool, texts)


@pytest.mark.row("002 2.100")
def test_another_programs_tables_are_refused_with_the_way_out_and_stay_as_they_are(
    anothers: Pool, capsys: pytest.CaptureFixture[str]
) -> None:
    before, tables = anothers_contents(anothers), Schema(anothers)
    for call in (tables.is_ready, tables.prepare, tables.bring_up_to_date):
        with raised(ServerError, "schema_foreign", match="import former"):
            call()
    for words in (("--yes",), ("--sql",), ("--dry-run",)):
        refused = Run.of(capsys, "fragments", "migrate", *words)
        assert (refused.code, refused.out) == (1, "")
        assert "import former.jsonl" in " ".join(refused.errors.split())
    assert anothers_contents(anothers) == before


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.100")
def test_the_statement_of_the_documents_gives_another_programs_fragments_to_an_import(
    anothers: Pool,
    team_server: TeamServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    # One from whom rows are hidden.
    run(anothers, "CREATE ROLE former_reader LOGIN; GRANT USAGE ON SCHEMA agent_memory TO"
        " former_reader; GRANT SELECT ON ALL TABLES IN SCHEMA agent_memory TO former_reader"
    )  # fmt: skip
    before, former = anothers_contents(anothers), tmp_path / "former.jsonl"
    team = (ROOT / "docs" / "team.md").read_text("utf-8")
    [command] = re.findall(r"^psql ADDRESS .*$", team, re.MULTILINE)
    with raised(ServerError, "schema_foreign") as caught:
        Schema(anothers).is_ready()
    assert command in str(caught.value)

    def export(dsn: str) -> tuple[bytes, list[str]]:
        psql = shlex.quote(str(team_server.postgres.binaries / "psql"))
        line = command.replace("psql ADDRESS", f"{psql} {shlex.quote(dsn)}")
        done = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, check=False)
        return done.stderr, former.read_text("utf-8").splitlines()

    errors, lines = export(anothers.server.dsn.replace("user=owner", "user=former_reader"))
    assert b"row-level security" in errors and lines == []
    assert len(export(anothers.server.dsn)[1]) == COUNT + 2
    monkeypatch.setenv(FRAGMENTS_VARIABLE, new := team_server.empty_dsn())
    brought = Run.of(capsys, "import", str(former), "--yes")
    assert brought.code == 0, brought.errors
    engine = PostgresEngine(a_server(new), timeout_s=10.0)
    with engine.reading() as reading:
        found = reading.find(Filter(state="all"), limit=COUNT + 1)
        texts = {it.id: it.content for it in found}
        links = reading.links([*texts])
    engine.close()
    one = next(it for it in found if it.content == "Text number 10")
    assert (one.keywords, one.importance, one.lifetime) == (("Key", "k10"), 0.3, "procedural")
    assert (one.tier, one.access_count) == ("permanent", 2)
    assert one.content_hash == hash_of(one.content)
    assert sum(it.is_anchor for it in found) == COUNT // 7
    agents = Counter(it.agent for it in found)
    assert agents == {"alice": COUNT // 3, "default": COUNT - COUNT // 3}
    assert len(links) == 2 + 9  # f2 is linked with f1 already
    [cause] = [it for it in links if it.relation == "caused_by"]
    assert (texts[cause.from_id], texts[cause.to_id]) == ("Text number 1", "Text number 2")
    assert anothers_contents(anothers) == before


# The tables as they are declared.


@pytest.mark.row("002 2.11", "002 2.12.r", "002 2.13.h", "002 2.13.j", "002 2.13.k", "002 2.13.l")
@pytest.mark.row("002 2.14")
def test_the_tables_and_indexes_of_a_server_are_the_declared_ones(team_pool: Pool) -> None:
    statement = """SELECT column_name::text, data_type::text, udt_name::text
      FROM information_schema.columns WHERE table_schema = 'agent_memory' AND table_name = %s"""
    for name, declared in COLUMNS.items():
        found = {column: kinds for column, *kinds in rows(team_pool, statement, name)}
        assert {*declared.split()} <= found.keys(), name
        moments = {kind for column, (kind, _) in found.items() if column.endswith("_at")}
        assert moments == {"timestamp with time zone"}
        lists = [found[it][1] for it in ("keywords", "tool_highlights") if it in found]
        assert {*lists} <= {"_text"}
        assert name != "fragments" or found["embedding"][1] == "vector"
    statement = "SELECT indexname::text, indexdef FROM pg_indexes WHERE schemaname = 'agent_memory'"
    indexes = dict(rows(team_pool, statement))
    for name, said in DECLARED["indexes"].items():
        assert said in indexes[name], indexes[name]
    near = indexes["idx_fragments_embedding_1536"]
    for said in ("USING hnsw", "vector_cosine_ops", "m='16'", "ef_construction='64'"):
        assert said in near
    assert "embedding IS NOT NULL" in near


# Versions before.

# Made by version 0.10 with `pg_dump --no-comments`, and the answers of that version over it.
DUMP, RECORDED = DATA / "team_version_3.sql", table("team_version_3")
OTHER_TABLES = {"schema_version", "fragment_terms"}
OTHER_COLUMNS = {"found_by", "former", "revision", "made_in", "made_at"}  # of the index


@pytest.fixture
def dsn(team_server: TeamServer) -> str:
    """The address of a new database into which the dump was read, as docs/operators has it."""
    dsn = team_server.empty_dsn()
    copy = team_server.postgres.directory / DUMP.name
    shutil.copyfile(DUMP, copy)
    copy.chmod(0o644)
    team_server.postgres.run("psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-f", str(copy), "-d", dsn)
    return dsn


def contents(dsn: str) -> dict[str, list[str]]:
    """The rows of each table, but for those that an upgrade is there to change."""
    tables = """SELECT relname::text FROM pg_class WHERE relkind = 'r'
      AND relnamespace = 'agent_memory'::regnamespace ORDER BY 1"""
    found = dict[str, list[str]]()
    with psycopg.connect(dsn) as connection:
        for (name,) in connection.execute(tables).fetchall():
            told = connection.execute(f"SELECT to_jsonb(t) FROM agent_memory.{name} t")
            kept = [{key: row[key] for key in row.keys() - OTHER_COLUMNS} for (row,) in told
                    if row.get("name") != INDEX_STATE]  # fmt: skip
            found[name] = sorted(json.dumps(row, sort_keys=True) for row in kept)
    return {name: rows for name, rows in found.items() if name not in OTHER_TABLES}


def vector(text: str) -> bytes:
    """The vector that the texts of the dump have."""
    floats = [byte / 255 - 0.5 for byte in sha256(text.encode()).digest()[:8]]
    norm = sum(number * number for number in floats) ** 0.5
    return struct.pack("<8f", *(number / norm for number in floats))


def answers(dsn: str) -> dict[str, Any]:
    """The answers to the questions of the recording over a database."""
    engine = PostgresEngine(a_server(dsn), timeout_s=5)
    config, clock = Config(path=Path("unused")), lambda: str(RECORDED["clock"])
    room = Room(engine=engine, config=config, settings=Settings(), clock=clock)

    def recalled(each: dict[str, Any]) -> dict[str, Any]:
        of = room.for_agent(each["agent"]) if each["agent"] else room
        answer = recall(of, Query(**with_tuples(each["query"])), count=lambda *_: None)
        ids = [fragment.id for fragment in answer.fragments]
        return each | {"found": ids, "linked": [it.fragment.id for it in answer.linked]}

    asks: dict[str, Callable[[Any, Any], Any]] = {
        "keywords": lambda rows, each: rows.count_keywords(each["words"], Filter(), 20),
        "near": lambda rows, each: rows.nearest_cosines(vector(each["text"]), Filter(), 5),
        "worth": lambda rows, _: [it.id for it in rows.find(Filter(), order="worth", limit=12)],
    }
    found: dict[str, Any] = {**RECORDED, "recalls": [*map(recalled, RECORDED["recalls"])]}
    for name, ask in asks.items():
        found[name] = []
        for each in RECORDED[name]:
            with engine.for_agent(each["agent"]).reading() as rows:
                found[name].append(each | {"found": ask(rows, each)})
    engine.close()
    return cast(dict[str, Any], json.loads(json.dumps(found)))


def test_a_database_of_version_3_is_upgraded_with_its_data_and_answers_alike(dsn: str) -> None:
    before = contents(dsn)
    assert answers(dsn) == RECORDED  # by the terms that the tables had
    engine, pool = PostgresEngine(a_server(dsn), timeout_s=5), Pool(a_server(dsn))
    with engine.writing() as writing:  # as the upkeep, which also looks after the index
        assert not writing.mend_index()
    assert contents(dsn) == before
    assert answers(dsn) == RECORDED
    engine.close()
    run(pool, ";".join(DECLARED["columns and tables of later versions, away"]))
    assert Schema(pool).read_state().version == 1
    assert answers(dsn) == RECORDED
    assert Schema(pool).read_state().version == schema.SCHEMA_VERSION
    assert contents(dsn) == before
    pool.close()


SECURITY = """SELECT tablename::text, policyname::text, cmd, qual, with_check FROM pg_policies
  UNION ALL SELECT relname, relrowsecurity::text, relforcerowsecurity::text, ARRAY(SELECT it::text
    FROM unnest(relacl) it WHERE it::text !~ '^sentinel_upkeep=')::text, ''
  FROM pg_class WHERE relnamespace = 'agent_memory'::regnamespace
  UNION ALL SELECT proname, prosecdef::text, proconfig::text, proacl::text, prosrc
  FROM pg_proc WHERE pronamespace = 'agent_memory'::regnamespace ORDER BY 1, 2, 3"""


@pytest.mark.row("002 2.80")
def test_a_dump_of_the_tables_is_restored_with_data_answers_and_security(
    team_server: TeamServer, dsn: str
) -> None:
    assert answers(dsn) == RECORDED  # which upgrades the tables
    server, dump = team_server.postgres, team_server.postgres.directory / "memory.dump"
    server.run("pg_dump", "--format=custom", "--file", str(dump), dsn)
    other = team_server.empty_dsn()
    server.run("pg_restore", "--exit-on-error", "--single-transaction", "-d", other, str(dump))
    assert contents(other) == contents(dsn)
    with psycopg.connect(dsn) as one, psycopg.connect(other) as another:
        assert one.execute(SECURITY).fetchall() == another.execute(SECURITY).fetchall()
    assert answers(other) == RECORDED
