"""Tests that `cli.py scan` finds secrets in every room, and takes them out of every byte."""

import sqlite3
from pathlib import Path
from typing import NamedTuple

import pytest

from core.postgres.pool import Pool
from rooms.fragments.fragment import Fragment, Version, hash_of
from rooms.fragments.storage.postgres import PostgresEngine
from rooms.fragments.storage.redis import Cache, redis_server_of
from rooms.fragments.storage.sqlite import SqliteEngine
from tests.support.cli_process import TOKEN, Desk, Run
from tests.support.real_engines import valkey
from tests.support.session_samples import a_room, act, every_byte, saved, store_unchecked
from tests.support.team_engines import TeamServer, a_server
from tests.support.team_engines import team_server as team_server

DATE = "2026-05-01T10:00:00+00:00"


class Held(NamedTuple):
    """A room in which one item is clean and one holds a secret."""

    desk: Desk
    name: str
    place: str  # the name of the whole room for people
    path: Path
    shown: str
    item: str

    def scan(self, *words: str, **variables: str) -> Run:
        fragments = {"SENTINEL_MEMORY_FRAGMENTS": str(self.path)} if "memory" in self.shown else {}
        done = self.desk.run("scan", *words, **fragments, **variables)
        assert TOKEN not in done.out + done.errors
        return done

    @property
    def line(self) -> str:
        return f"{self.shown}: github-token in {self.name.removesuffix('s')} {self.item}"


@pytest.fixture(params=["sessions", "fragments"])
def held(request: pytest.FixtureRequest, desk: Desk, tmp_path: Path) -> Held:
    if request.param == "sessions":
        store = a_room(desk.root)
        saved(store, "Fix the login")
        session = store_unchecked(store, goal=f"Rotate {TOKEN}")
        act(store, session, f"export TOKEN={TOKEN}")
        saved(store, "Add a basket")
        store.database.close()
        printed = ".context/sessions/history.db"
        return Held(desk, "sessions", "sessions", store.path, printed, "#2")
    engine = SqliteEngine(tmp_path / "kept" / "memory.db", timeout_s=5)
    with engine.writing() as writing:
        for id_, content in (("aaaa", "Fix the login"), ("bbbb", f"Rotate {TOKEN}")):
            writing.add([Fragment(id=id_, content=content, created_at=DATE)])
    engine.close()
    place = "fragments (on this machine, over all projects)"
    return Held(desk, "fragments", place, engine.path, str(engine.path), "bbbb")


@pytest.mark.row("003 T91", "002 2.99")
def test_a_secret_is_said_with_its_place_and_taken_out_of_every_byte(held: Held) -> None:
    done = held.scan()
    assert (done.code, done.errors) == (1, "")
    assert done.lines[-3:] == [
        held.line,
        f"Places with secrets among the {held.place}: 1.",
        f"Run python cli.py scan --redact to remove them from the log and from: {held.place}."
        " Rotate every real secret at its provider.",
    ]
    as_data = {"path": held.shown, held.name[:-1]: held.item, "kinds": ["github-token"]}
    assert held.scan("--json").told[held.name] == [as_data]
    assert "에서 비밀 값이 있는 곳 1군데." in held.scan(SENTINEL_MEMORY_LANG="ko").out
    planned = held.scan("--redact", "--dry-run")
    asked_for = f"Places among the {held.place} from which secrets are to be removed: 1."
    assert planned.lines[:2] == [asked_for, f"  {held.line}"]
    assert held.scan("--redact").code == 1  # nobody is asked
    assert TOKEN.encode() in every_byte(held.path.parent)
    reader = sqlite3.connect(held.path, isolation_level=None)
    reader.execute("BEGIN").execute("SELECT * FROM sqlite_master").fetchall()
    done = held.scan("--redact", "--yes", SENTINEL_MEMORY_LOCK_TIMEOUT_S="1")
    reader.close()
    redacted, line, left, last = done.lines
    assert (redacted, line) == (f"Redacted among the {held.place}: 1", f"  {held.line}")
    assert "the bytes of what was removed are still in this file" in left and done.code == 1
    assert last == "1. Rotate every real secret at its provider."
    held.scan("--redact", "--yes")
    assert TOKEN.encode() not in every_byte(held.path.parent)
    assert held.scan().code == 0
    assert held.scan("--redact", "--yes").lines == ["No secrets found; nothing was written."]


def test_a_file_that_cannot_be_read_is_not_taken_for_clean(desk: Desk) -> None:
    archive = a_room(desk.root).path.with_name("archive") / "sessions-1.json"
    archive.parent.mkdir(parents=True)
    archive.touch(0o200)
    done = desk.run("scan")
    assert done.code == 2 and f"{archive} could not be read" in done.errors


# A server. The state of every row after a redaction is held by tests/rooms/fragments/upkeep.

# A row of another program: no terms, no hash, and an agent that would be refused here.
RAW = """INSERT INTO agent_memory.fragments
  (id, content, topic, keywords, type, importance, agent_id)
  VALUES ('raw', %(text)s, 't', ARRAY['fine', %(token)s], 'fact', 0.5, %(token)s)"""
WORDS = """SELECT string_agg(t::text, ' ') FROM (SELECT f::text FROM agent_memory.fragments f
  UNION ALL SELECT v::text FROM agent_memory.fragment_versions v) AS every(t)"""


def raw(dsn: str, statement: str, **values: str) -> str:
    """Carry out a statement as the superuser; the first value of the first row, if there is one."""
    pool = Pool(a_server(dsn))
    with pool.login_transaction() as connection:
        done = connection.execute(statement, values)
        row = done.fetchone() if done.description else None
    pool.close()
    return str(row[0]) if row else ""


def scan(desk: Desk, dsn: str, *options: str, **variables: str) -> Run:
    """With all rights of whoever runs the tests: the server's socket is in a folder of its own."""
    place = {"SENTINEL_MEMORY_FRAGMENTS": dsn, **variables}
    done = Run.placed("scan", *options, **desk.place(**place), is_bound=False)
    assert TOKEN not in done.out + done.errors
    return done


@pytest.mark.long  # it costs much
def test_secrets_of_all_agents_of_a_server_are_removed(desk: Desk, team_server: TeamServer) -> None:
    dsn = team_server.new_dsn()
    engine = PostgresEngine(a_server(dsn), timeout_s=5)
    with engine.writing() as writing:
        writing.add([Fragment(id="amended", content="fine now", agent="robert", created_at=DATE)])
        writing.put_entries([Version(fragment_id="amended", content=TOKEN, amended_at=DATE)])
    raw(dsn, RAW, text=f"Rotate {TOKEN}", token=TOKEN)
    before, name = raw(dsn, WORDS), a_server(dsn).name
    place = "the fragments (on the server, of all agents)"
    lines = {f"{name}: github-token in fragment {id_}" for id_ in ("amended", "raw")}
    done = scan(desk, dsn)
    assert done.code == 1
    assert lines | {f"Places with secrets among {place}: 2."} <= {*done.lines}
    rows = scan(desk, dsn, "--json").told["fragments"]
    assert [row["fragment"] for row in rows] == ["amended", "raw"]
    korean = scan(desk, dsn, SENTINEL_MEMORY_LANG="ko")
    assert "조각(서버에 있는 모든 에이전트의 것)에서 비밀 값이 있는 곳 2군데." in korean.lines
    assert "on the server, of all agents" in scan(desk, dsn, "--redact", "--dry-run").out
    assert TOKEN in before == raw(dsn, WORDS)
    with valkey() as running:
        redis = redis_server_of({"SENTINEL_MEMORY_REDIS": running.address})
        assert redis
        cache = Cache(redis, name)
        key = f"{cache.key_prefix}:kept"
        cache.ask(lambda redis: redis.set(key, TOKEN))
        assert cache.ask(lambda redis: redis.get(key)) == TOKEN.encode()
        done = scan(desk, dsn, "--redact", "--yes", SENTINEL_MEMORY_REDIS=running.address)
        assert cache.ask(lambda redis: redis.keys("*")) == []
        cache.close()
    assert (done.code, done.lines[0]) == (0, f"Redacted among {place}: 2")
    assert TOKEN not in raw(dsn, WORDS)
    assert scan(desk, dsn).code == 0
    with engine.reading() as reading:
        [row] = reading.by_ids(["raw"])
        assert (row.content, row.keywords) == ("Rotate [REDACTED]", ("fine", "[REDACTED]"))
        assert row.content_hash == hash_of(row.content)
        assert reading.coverage("rotate", 9).shares(0.25).keys() == {row.number}  # it is found now
    engine.close()


def test_a_server_without_tables_stays_without(desk: Desk, team_server: TeamServer) -> None:
    dsn = team_server.empty_dsn()
    assert scan(desk, dsn).code == 0
    assert scan(desk, dsn, "--redact", "--yes").code == 0
    assert raw(dsn, "SELECT to_regnamespace('agent_memory')::text") == "None"
