"""Tests that `cli.py scan` finds secrets among the fragments of a server, and takes them out."""

import pytest

from core.postgres.pool import Pool
from rooms.fragments.fragment import (
    Activity,
    Fragment,
    TaskFeedback,
    ToolFeedback,
    Version,
    Wanted,
    hash_of,
)
from rooms.fragments.storage.postgres import PostgresEngine
from rooms.fragments.storage.redis import Cache, place_of
from tests.support.cli_process import TOKEN, Run
from tests.support.desk import Desk
from tests.support.real_engines import valkey
from tests.support.team_engines import TeamServer, a_server, team_server

__all__ = ["team_server"]  # a fixture

DATE = "2026-05-01T10:00:00+00:00"
# What another program leaves: no terms, no hash, and an agent that nobody here would let in.
RAW = """INSERT INTO agent_memory.fragments 
  (id, content, topic, keywords, type, importance, agent_id)
  VALUES ('raw', %(text)s, 't', ARRAY['fine', %(token)s], 'fact', 0.5, %(token)s)"""
WORDS = """SELECT string_agg(t::text, ' ') FROM (
  SELECT f::text FROM agent_memory.fragments f UNION ALL
  SELECT v::text FROM agent_memory.fragment_versions v UNION ALL
  SELECT b::text FROM agent_memory.tool_feedback b UNION ALL
  SELECT k::text FROM agent_memory.task_feedback k UNION ALL
  SELECT a::text FROM agent_memory.activities a UNION ALL
  SELECT r::text FROM agent_memory.revisions r UNION ALL
  SELECT s::text FROM agent_memory.state s) AS every(t)"""


@pytest.fixture
def dsn(team_server: TeamServer) -> str:
    """A clean fragment, and secrets in every place that there is."""
    dsn = team_server.new_dsn()
    engine = PostgresEngine(a_server(dsn), timeout_s=5)
    with engine.writing() as writing:
        writing.add([
            Fragment(id="clean", content="The shop runs on Node 20", agent="alice",
                     created_at=DATE, content_hash=hash_of("The shop runs on Node 20")),
            Fragment(id="amended", content="fine now", agent="robert", created_at=DATE),
        ])  # fmt: skip
        writing.note([
            Version(fragment_id="amended", content=f"Rotate {TOKEN}", amended_at=DATE),
            Version(fragment_id="gone", content=TOKEN, keywords=(TOKEN,), amended_at=DATE),
            ToolFeedback(tool_name="recall", relevant=True, sufficient=True, created_at=DATE,
                         suggestion=TOKEN, context=TOKEN),
            TaskFeedback(tool_pain_points=("fine", TOKEN), created_at=DATE),
            Activity(session_id=TOKEN, agent="alice", started_at=DATE, last_at=DATE),
            Activity(session_id="[REDACTED]", agent="alice", started_at=DATE, last_at=DATE),
        ])  # fmt: skip
        writing.set_state({"model": TOKEN, "purged": "3"})
    engine.close()
    raw(dsn, RAW, text=f"Rotate {TOKEN}", token=TOKEN)
    return dsn


def raw(dsn: str, statement: str, **values: str) -> str:
    """Carry out a statement as the superuser; the first value of the first row, if there is one."""
    pool = Pool(a_server(dsn))
    with pool.as_login() as connection:
        done = connection.execute(statement, values)
        row = done.fetchone() if done.description else None
    pool.close()
    return str(row[0]) if row else ""


def scan(desk: Desk, dsn: str, *options: str, **variables: str) -> Run:
    """With all rights of whoever runs the tests: the server's socket is in a folder of its own."""
    given = {"SENTINEL_MEMORY_FRAGMENTS": dsn, **variables}
    done = Run.placed("scan", *options, **desk.place(**given), is_bound=False)
    assert TOKEN not in done.out + done.errors
    return done


@pytest.mark.long  # it costs much
def test_secrets_of_all_agents_are_named_and_taken_out_and_all_else_stays(
    desk: Desk, dsn: str
) -> None:
    before = raw(dsn, WORDS)
    assert TOKEN in before
    done, name = scan(desk, dsn), a_server(dsn).name
    assert done.code == 1
    place = "the fragments (on the server, of all agents)"
    lines = {f"{name}: github-token in fragment {it}" for it in ("amended", "raw")}
    assert lines | {f"Places with secrets among {place}: 7."} <= {*done.lines}
    told = scan(desk, dsn, "--json").told["fragments"]
    assert [it["fragment"] for it in told] == ["amended", "raw", *[None] * 5]
    korean = scan(desk, dsn, SENTINEL_MEMORY_LANG="ko")
    assert "조각(서버에 있는 모든 에이전트의 것)에서 비밀 값이 있는 곳 7군데." in korean.lines
    assert "on the server, of all agents" in scan(desk, dsn, "--redact", "--dry-run").out
    assert raw(dsn, WORDS) == before
    done = scan(desk, dsn, "--redact", "--yes")
    assert (done.code, done.errors) == (0, "")
    assert done.lines[0].startswith(f"Redacted among {place}: 7")
    left = raw(dsn, WORDS)
    assert TOKEN not in left and TOKEN[4:24].lower() not in left.lower()
    assert scan(desk, dsn).code == 0
    engine = PostgresEngine(a_server(dsn), timeout_s=5)
    with engine.reading() as reading:
        found = {it.id: it for it in reading.find(Wanted(state="all"))}
        assert found["clean"].agent == "alice"
        assert found["clean"].content_hash == hash_of(found["clean"].content)
        assert found["raw"].content == "Rotate [REDACTED]"
        assert found["raw"].content_hash == hash_of("Rotate [REDACTED]")
        assert found["raw"].keywords == ("fine", "[REDACTED]")
        assert [it.content for it in reading.entries(Version, of="amended")] == [
            "Rotate [REDACTED]"
        ]
        assert reading.entries(TaskFeedback)[0].tool_pain_points == ("fine", "[REDACTED]")
        assert [it.session_id for it in reading.entries(Activity)] == ["[REDACTED]"]
        assert reading.state()["purged"] == "3"
        held = reading.holding("rotate", 9).shares(0.25)
        assert held.keys() == {found["raw"].number}  # the row of another program is found now
    engine.close()
    again = scan(desk, dsn, "--redact", "--json", "--yes").told
    assert (again["fragments"], again["fragments_left"]) == ([], [])


@pytest.mark.long  # it costs much
def test_a_redaction_empties_what_redis_keeps(desk: Desk, dsn: str) -> None:
    with valkey() as running:
        place = place_of({"SENTINEL_MEMORY_REDIS": running.address})
        assert place
        cache = Cache(place, a_server(dsn).name)
        name = f"{cache.base}:kept"
        cache.keep(lambda pipe: pipe.set(name, TOKEN), name)
        assert cache.ask(lambda redis: redis.get(name)) == TOKEN.encode()
        scan(desk, dsn, "--redact", "--yes", SENTINEL_MEMORY_REDIS=running.address)
        assert cache.ask(lambda redis: redis.keys("*")) == []
        cache.close()


def test_a_server_without_tables_stays_without(desk: Desk, team_server: TeamServer) -> None:
    dsn = team_server.empty_dsn()
    assert scan(desk, dsn).code == 0
    assert scan(desk, dsn, "--redact", "--yes").code == 0
    assert raw(dsn, "SELECT to_regnamespace('agent_memory')::text") == "None"
