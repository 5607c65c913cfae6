"""Tests how the tables on a server come about: anew, by several at once, from another program's."""

import multiprocessing
from collections import Counter
from collections.abc import Iterator

import pytest

from core.postgres.errors import NoRightError, NotOwnerError, SchemaForeignError, SchemaNewerError
from core.postgres.pool import Pool
from rooms.fragments.engine import Wanted
from rooms.fragments.fragment import Fragment, hash_of
from rooms.fragments.postgres import schema, tables, takeover
from rooms.fragments.postgres.adapter import PostgresEngine
from rooms.fragments.postgres.schema import Schema
from tests.support.cli_process import Run
from tests.support.real_engines import postgres
from tests.support.team_engines import TeamServer, a_server
from tests.support.team_engines import team_server as team_server

COUNT = 300
ALICES = COUNT // 3
SHARED = COUNT - ALICES
# The tables as another program makes them.
ANOTHERS = f"""
CREATE EXTENSION IF NOT EXISTS vector;
CREATE SCHEMA agent_memory;
CREATE TABLE agent_memory.fragments (
  id text PRIMARY KEY, content text NOT NULL, topic text NOT NULL,
  keywords text[] NOT NULL DEFAULT '{{}}', type text NOT NULL CHECK (type IN ('fact', 'decision',
  'error', 'preference', 'procedure', 'relation')), importance real CHECK (importance <= 1.0),
  content_hash text UNIQUE, source text, linked_to text[] DEFAULT '{{}}',
  agent_id text NOT NULL DEFAULT 'default', access_count integer DEFAULT 0,
  accessed_at timestamptz, created_at timestamptz DEFAULT now(), ttl_tier text DEFAULT 'warm',
  estimated_tokens integer DEFAULT 0, utility_score real DEFAULT 1.0,
  verified_at timestamptz DEFAULT now(), embedding vector(1536), is_anchor boolean DEFAULT false);
CREATE TABLE agent_memory.fragment_links (id bigserial PRIMARY KEY,
  from_id text REFERENCES agent_memory.fragments ON DELETE CASCADE,
  to_id text REFERENCES agent_memory.fragments ON DELETE CASCADE,
  relation_type text DEFAULT 'related', created_at timestamptz DEFAULT now(),
  UNIQUE (from_id, to_id));
CREATE TABLE agent_memory.fragment_versions (id bigserial PRIMARY KEY,
  fragment_id text REFERENCES agent_memory.fragments ON DELETE CASCADE, content text, topic text,
  keywords text[], type text, importance real, amended_at timestamptz DEFAULT now(),
  amended_by text);
CREATE TABLE agent_memory.tool_feedback (id bigserial PRIMARY KEY, tool_name text, relevant boolean,
  sufficient boolean, suggestion text, context text, session_id text, trigger_type text,
  created_at timestamptz DEFAULT now());
CREATE TABLE agent_memory.task_feedback (id bigserial PRIMARY KEY, session_id text,
  overall_success boolean, tool_highlights text[], tool_pain_points text[],
  created_at timestamptz DEFAULT now());
ALTER TABLE agent_memory.fragments ENABLE ROW LEVEL SECURITY;
CREATE POLICY fragment_isolation_policy ON agent_memory.fragments USING
  (agent_id = current_setting('app.current_agent_id', true) OR agent_id = 'default'
   OR current_setting('app.current_agent_id', true) IN ('system', 'admin'));
INSERT INTO agent_memory.fragments (id, content, topic, keywords, type, importance, content_hash,
  linked_to, agent_id, ttl_tier, is_anchor, embedding, access_count)
  SELECT 'f' || i, 'Text number ' || i, 'Topic', ARRAY['Key', 'k' || i],
  CASE WHEN i % 2 = 0 THEN 'procedure' ELSE 'fact' END, 0.3, 'h' || i,
  CASE WHEN i > 1 AND i <= 11 THEN ARRAY['f1'] END, CASE WHEN i % 3 = 0 THEN 'alice' ELSE 'default'
  END, CASE WHEN i % 5 = 0 THEN 'permanent' ELSE 'warm' END, i % 7 = 0,
  CASE WHEN i % 10 = 0 THEN (SELECT array_agg((i % 13 + d) % 17) FROM generate_series(1, 1536)
  d)::vector END, NULLIF(i % 4, 0) FROM generate_series(1, {COUNT}) i;
INSERT INTO agent_memory.fragment_links (from_id, to_id, relation_type)
  VALUES ('f1', 'f2', 'caused_by'), ('f20', 'f30', 'related');
INSERT INTO agent_memory.fragment_versions (fragment_id, content, topic, keywords, type, importance,
  amended_by) SELECT 'f' || i, 'before', 't', ARRAY['old'], 'fact', 0.7, 'alice'
  FROM generate_series(1, 50) i;
INSERT INTO agent_memory.tool_feedback (tool_name, relevant, sufficient)
  SELECT 'recall', true, false FROM generate_series(1, 20);
INSERT INTO agent_memory.task_feedback (overall_success) VALUES (true);
"""


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
    with pytest.raises(SchemaNewerError, match="99"):
        Schema(empty).is_ready()
    with pytest.raises(SchemaNewerError):
        Schema(empty).prepare()


def test_making_the_tables_again_changes_nothing(empty: Pool) -> None:
    Schema(empty).prepare()
    before = Schema(empty).look()
    with empty.as_login() as connection:
        schema.make(connection, before)
    assert Schema(empty).look() == before


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.80")
def test_a_user_without_rights_works_after_the_administrators_statements() -> None:
    with postgres() as running:
        database = running.new_database()
        administrator = Pool(a_server(running.dsn(database)))
        with administrator.as_login() as connection:
            connection.execute("CREATE ROLE plain_one LOGIN")
        plain = Pool(a_server(running.dsn(database, user="plain_one")))
        made = Schema(plain)
        assert not made.is_ready()
        with pytest.raises(NoRightError, match="--sql"):
            made.prepare()
        script = schema.script(made.look())
        import psycopg

        with psycopg.connect(running.dsn(database), autocommit=True) as connection:
            for statement in script:
                connection.execute(statement)
        assert made.is_ready() and made.has_vectors
        with plain.transaction(agent="alice") as lent:
            lent.execute("INSERT INTO tool_feedback (tool_name, relevant, sufficient)"
                         " VALUES ('x', true, true)")  # fmt: skip
        plain.close()
        administrator.close()


@pytest.mark.long  # it costs much
def test_an_owner_who_may_make_roles_makes_the_tables() -> None:
    with postgres() as running:
        database = running.new_database()
        administrator = Pool(a_server(running.dsn(database)))
        with administrator.as_login() as connection:
            connection.execute("CREATE ROLE maker LOGIN CREATEROLE")
            connection.execute(f'ALTER DATABASE "{database}" OWNER TO maker')
        maker = Pool(a_server(running.dsn(database, user="maker")))
        Schema(maker).prepare()
        assert Schema(maker).look().is_current
        with maker.transaction(agent="alice", changes=False) as lent:
            assert lent.execute("SELECT count(*) FROM fragments").fetchone() == (0,)
        maker.close()
        administrator.close()


def test_another_programs_tables_are_refused_with_the_command(anothers: Pool) -> None:
    for call in (Schema(anothers).is_ready, Schema(anothers).prepare):
        with pytest.raises(SchemaForeignError, match="fragments migrate"):
            call()


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.100")
def test_another_programs_tables_are_taken_over_whole(
    anothers: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(takeover, "_AT_ONCE", COUNT // 3 + 1)
    counted = takeover.former(anothers)
    assert counted.rows == {
        "fragments": COUNT,
        "fragment_links": 2,
        "fragment_versions": 50,
        "tool_feedback": 20,
        "task_feedback": 1,
    }
    assert (counted.linked, counted.vectors) == (10, COUNT // 10)
    assert takeover.take_over(anothers) == counted
    engine = PostgresEngine(anothers.server, timeout_s=10.0)
    with engine.writing() as writing:
        found = writing.find(Wanted(state="all"))
        assert len(found) == COUNT
        one = writing.by_ids(["f10"])[0]
        assert (one.content, one.keywords, one.importance) == (
            *("Text number 10", ("Key", "k10")),
            0.3,
        )
        assert (one.content_hash, one.lifetime) == (hash_of(one.content), "procedural")
        assert (one.tier, one.access_count) == ("permanent", 2)
        assert sum(it.is_anchor for it in found) == COUNT // 7
        assert Counter(it.agent for it in found) == {"alice": ALICES, "default": SHARED}
        links = writing.links([it.id for it in found])
        assert len(links) == 2 + 9  # f2 is linked with f1 already
        assert {it.from_id for it in links if it.relation == "caused_by"} == {"f1"}
        assert len(writing.vectors(it.number for it in found)) == COUNT // 10
        assert writing.find(Wanted(keywords=("K10",)))[0].id == "f10"
        assert not writing.mend_index()
    with anothers.transaction() as connection:
        counts = "SELECT (SELECT count(*) FROM agent_memory.{}), (SELECT count(*) FROM {}.{})"
        with anothers.as_login() as login:
            for table, rows in counted.rows.items():
                if table != "fragment_links":
                    row = login.execute(counts.format(table, takeover.FORMER, table)).fetchone()
                    assert row == (rows, rows)
        policies = connection.execute(
            "SELECT count(*) FROM pg_policies WHERE schemaname = 'agent_memory'"
            " AND policyname = 'fragment_isolation_policy'"
        ).fetchone()
        assert policies == (0,)
        connection.execute(
            "INSERT INTO agent_memory.fragment_links (from_id, to_id) VALUES ('f5', 'f6')"
        )
    with engine.for_agent("bob").reading() as reading:
        assert len(reading.find(Wanted())) == SHARED
    engine.close()


@pytest.mark.row("002 2.100")
def test_a_takeover_that_fails_leaves_all_as_it_was(anothers: Pool) -> None:
    with anothers.as_login() as connection:
        connection.execute("ALTER TABLE agent_memory.fragments DROP COLUMN keywords CASCADE")
    before = Schema(anothers).look()
    with pytest.raises(Exception, match="keywords"):
        takeover.take_over(anothers)
    assert Schema(anothers).look() == before


@pytest.mark.long  # it costs much
def test_a_user_who_does_not_own_another_programs_tables_is_told_how_they_are_taken_over(
    anothers: Pool, team_server: TeamServer
) -> None:
    with anothers.as_login() as connection:
        connection.execute("CREATE ROLE stranger LOGIN; GRANT sentinel_room TO stranger")
        connection.execute("GRANT sentinel_upkeep TO stranger")
    dsn = anothers.server.dsn.replace("//owner@", "//stranger@")
    stranger = Pool(a_server(dsn))
    for call in (takeover.former, takeover.take_over):
        with pytest.raises(NotOwnerError, match="--sql"):
            call(stranger)
    takeover.take_over(anothers)
    engine = PostgresEngine(stranger.server, timeout_s=10.0)
    with engine.for_agent("bob").reading() as reading:
        assert len(reading.find(Wanted())) == SHARED
    engine.close()
    stranger.close()


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.100")
@pytest.mark.parametrize("kind", ["empty", "another's"])
def test_the_command_shows_then_does(
    empty: Pool, kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if kind != "empty":
        with empty.as_login() as connection:
            connection.execute(ANOTHERS)
    monkeypatch.setenv("SENTINEL_MEMORY_FRAGMENTS", empty.server.dsn)
    shown = Run.of(capsys, "fragments", "migrate", "--dry-run")
    assert "Nothing was changed." in shown.out
    assert not Schema(empty).look().version
    assert (f"fragments: {COUNT}" in shown.out) == (kind != "empty")
    statements = Run.of(capsys, "fragments", "migrate", "--sql").out
    assert ("CREATE POLICY" in statements) == (kind == "empty")
    assert Run.of(capsys, "fragments", "migrate").code == 1  # nobody can be asked
    done = Run.of(capsys, "fragments", "migrate", "--yes")
    assert done.code == 0, done.errors
    assert Schema(empty).look().is_current
    assert "up to date" in " ".join(Run.of(capsys, "fragments", "migrate").out.split())


@pytest.mark.long  # it costs much
def test_an_owner_without_any_right_makes_the_tables_where_the_roles_are_there() -> None:
    with postgres() as running:
        database = running.new_database()
        administrator = Pool(a_server(running.dsn(database)))
        with administrator.as_login() as connection:
            for statement in (
                "CREATE ROLE sentinel LOGIN",
                "CREATE ROLE sentinel_room NOLOGIN NOSUPERUSER NOBYPASSRLS",
                "CREATE ROLE sentinel_upkeep NOLOGIN NOSUPERUSER NOBYPASSRLS",
                "GRANT sentinel_room, sentinel_upkeep TO sentinel",
                f'ALTER DATABASE "{database}" OWNER TO sentinel',
                "CREATE EXTENSION vector",
            ):
                connection.execute(statement)
        owner = Pool(a_server(running.dsn(database, user="sentinel")))
        tables = Schema(owner)
        tables.prepare()
        assert tables.look().is_current and tables.has_vectors
        tables.vacuum()
        owner.close()
        administrator.close()


# What later versions added, away.
FIRST = """
ALTER TABLE agent_memory.fragments DROP COLUMN promoted;
ALTER TABLE agent_memory.revisions DROP COLUMN texts;
DROP INDEX agent_memory.idx_fragments_working, agent_memory.idx_fragments_unembedded;
DELETE FROM agent_memory.schema_version WHERE version > 1;
"""


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
        connection.execute(FIRST)
    assert Schema(empty).look().version == 1
    later = PostgresEngine(empty.server, timeout_s=5)
    with later.reading() as reading:
        assert reading.holding("node shop", 100) == before
    assert Schema(empty).look().version == tables.KNOWN
    with later.writing() as writing:
        assert not writing.mend_index()
    later.close()
