"""Tests servers as they are found elsewhere, and a team's fragments while processes are killed and
servers and connections end.
"""

import contextlib
import os
import random
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import psycopg
import pytest

from core.config import FRAGMENTS_VARIABLE, Settings
from core.postgres.address import ConnectionCutError, Server, ServerError
from core.postgres.pool import Pool
from core.room.database import DatabaseError
from core.room.full_text import INDEXED_VERSION
from rooms.fragments.activity import statistics_of
from rooms.fragments.draft import remember
from rooms.fragments.fragment import Embedding, Filter, Fragment, Query, ServiceError
from rooms.fragments.links import explore
from rooms.fragments.models.vectors import embed_missing, vector_of
from rooms.fragments.recall import recall, restore_context
from rooms.fragments.room import Config, Room, read_config, repeats_when_cut
from rooms.fragments.storage import postgres_schema as schema
from rooms.fragments.storage.postgres import PostgresEngine
from rooms.fragments.storage.postgres_schema import Schema
from rooms.fragments.storage.rows import Engine, Rows
from rooms.fragments.upkeep.health import examine
from tests.rooms.crowds import Outcome, all_of, draft, stored, wrong_with
from tests.support.cli_process import Run
from tests.support.faults import Child, Say
from tests.support.real_engines import postgres
from tests.support.stand_in_service import StandIn, embedder
from tests.support.stand_in_service import service as service
from tests.support.team_engines import TeamServer, a_server

KILLS, SEED = 10, 20261123
CALL_S = 60.0  # the most that a call may take in any case: two waits of 5 s and some work
DURABLE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}


def wrong(server: Server) -> list[str]:
    """The faults found in the fragments of a server."""
    found = examine(Settings(), {FRAGMENTS_VARIABLE: server.dsn})
    return [it.kind.rpartition(".")[2] for it in found if it.severity != "ok"]


@pytest.fixture
def without_vectors(team_server: TeamServer) -> Iterator[PostgresEngine]:
    """A server whose tables were made before it got the extension, with one fragment."""
    engine = PostgresEngine(a_server(team_server.empty_dsn()), timeout_s=10.0)
    pool = Pool(engine.server)
    statements = schema.statements_for_admin(replace(Schema(pool).read_state(), has_vectors=False))
    pool.close()
    with psycopg.connect(engine.server.dsn, autocommit=True) as connection:
        connection.execute(";".join(statements))
    with engine.writing() as rows:
        rows.add([Fragment(id="one", content="kept as it is", topic="t", keywords=("kept",))])
    yield engine
    engine.close()


def test_no_service_is_asked_for_embeddings_that_the_server_would_not_keep(
    without_vectors: PostgresEngine, service: StandIn
) -> None:
    room = Room(engine=without_vectors, settings=Settings(), config=read_config({}))
    with pytest.raises(ServiceError, match="CREATE EXTENSION"):
        embed_missing(room, embedder(service))
    assert service.asked == []


@pytest.mark.long  # it costs much
def test_the_extension_added_later_is_taken_up_by_the_command_and_by_nothing_else(
    without_vectors: PostgresEngine,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def migrated(*words: str) -> str:
        done = Run.of(capsys, "fragments", "migrate", *words)
        assert done.code == 0, done.errors
        return " ".join(done.out.split())

    server, vector = without_vectors.server, vector_of([0.6, 0.8])
    without_vectors.close()
    pool = Pool(server)
    monkeypatch.setenv(FRAGMENTS_VARIABLE, server.dsn)
    assert "up to date" in migrated("--yes")
    with pool.login_transaction() as connection:
        connection.execute("CREATE EXTENSION vector")
    assert wrong(server) == ["server_vectors"]
    tables = Schema(pool)
    assert tables.is_ready() and not tables.has_vectors
    shown = migrated("--dry-run")
    assert "written anew" in shown and "Nothing was changed." in shown
    assert "TYPE vector" in migrated("--sql")
    assert Run.of(capsys, "fragments", "migrate").code == 1  # nobody can be asked
    assert Schema(pool).read_state().embedding_type == "_float4"
    migrated("--yes")
    assert wrong(server) == []
    engine = PostgresEngine(server, timeout_s=10.0)
    with engine.writing() as rows:
        [one] = rows.find(Filter(keywords=("kept",)))
        rows.put_vectors([Embedding(one.number, vector)])
        assert rows.nearest_cosines(vector, Filter(), 1) == [(one.number, 1.0)]
    engine.close()
    assert "Nothing was changed." in migrated("--yes")
    pool.close()


def test_terms_of_another_version_are_made_anew_by_the_upkeep(team_pool: Pool) -> None:
    engine = PostgresEngine(team_pool.server, timeout_s=10.0)
    with engine.for_agent("alice").writing() as rows:
        rows.add([Fragment(id="one", content="a lighthouse", topic="sea", agent="alice")])
    with team_pool.transaction() as connection:
        connection.execute("UPDATE fragments SET found_by = NULL")
        connection.execute("INSERT INTO state VALUES ('', 'index', '1')"
                           " ON CONFLICT (agent_id, name) DO UPDATE SET value = '1'")  # fmt: skip
    with engine.writing() as rows:  # as upkeep, whose work does not touch the index
        assert not rows.mend_index()
        assert "index" not in rows.state()
    with team_pool.transaction() as connection:
        noted = connection.execute("SELECT value FROM state WHERE name = 'index'").fetchall()
        found = connection.execute("SELECT id FROM fragments WHERE found_by @@ 'lighthouse'")
        assert (noted, found.fetchall()) == ([(str(INDEXED_VERSION),)], [("one",)])
    engine.close()


@pytest.mark.long  # it costs much
def test_a_standby_is_read_and_says_that_it_takes_no_changes() -> None:
    with postgres() as running:
        engine = PostgresEngine(a_server(running.dsn(running.new_database())), timeout_s=5.0)
        with engine.writing() as rows:
            rows.add([Fragment(id="one", content="kept", topic="t")])
        engine.close()
        running.stop("fast")
        (running.directory / "data" / "standby.signal").touch()
        running.start()
        with engine.reading() as rows:
            assert [it.id for it in rows.find(Filter())] == ["one"]
        with pytest.raises(ServerError, match="standby"), engine.writing():
            pass
        assert wrong(engine.server) == ["server_unusable"]
        engine.close()


@contextmanager
def pooler(place: str, behind: str) -> Iterator[None]:
    """Pass a connection on as a pooler does: it names a process that is not that of the server."""
    with socket.socket(socket.AF_UNIX) as listening, socket.socket(socket.AF_UNIX) as to_server:
        listening.bind(f"{place}/.s.PGSQL.5432")
        listening.listen()
        to_server.connect(f"{behind}/.s.PGSQL.5432")

        def pass_on(source: socket.socket, target: socket.socket) -> None:
            with contextlib.suppress(OSError):
                while some := source.recv(65_536):
                    at = some.find(b"K\0\0\0\x0c")
                    if target is not to_server and at >= 0:
                        some = some[: at + 5] + (1).to_bytes(4, "big") + some[at + 9 :]
                    target.sendall(some)

        def serve() -> None:
            client, _ = listening.accept()
            threading.Thread(target=pass_on, args=(client, to_server), daemon=True).start()
            pass_on(to_server, client)

        threading.Thread(target=serve, daemon=True).start()
        yield


def test_nothing_is_prepared_where_a_pooler_is_between(
    team_server: TeamServer, tmp_path: os.PathLike[str]
) -> None:
    def prepared(place: str) -> int:
        """How many statements the server has prepared for who asks the same again and again."""
        pool, told = Pool(a_server(place, DB_MAX_CONNECTIONS="1")), 0
        for _ in range(8):
            with pool.transaction(agent="alice") as connection:
                connection.execute("SELECT id FROM agent_memory.fragments WHERE id = %s", ("a",))
                found = connection.execute("SELECT count(*)::int FROM pg_prepared_statements")
                [(told,)] = found.fetchall()
        pool.close()
        return told

    dsn, real = team_server.emptied_dsn(), str(team_server.postgres.directory)
    assert prepared(dsn) > 0
    with pooler(str(tmp_path), real):
        assert prepared(dsn.replace(real, str(tmp_path))) == 0


# Processes that are killed, servers and connections that end.


def team_room(dsn: str, timeout_s: float = 60.0, **environment: str) -> Room:
    """The room of every agent on a server. environment: such as DB_MAX_CONNECTIONS."""
    engine = PostgresEngine(a_server(dsn, **environment), timeout_s=timeout_s)
    return Room(engine=engine, config=Config(Path("memory.db")), settings=Settings())


@pytest.fixture
def room(team_database: str) -> Iterator[Room]:
    one = team_room(team_database)
    yield one
    one.engine.close()


@pytest.mark.row("002 2.95.a")
@pytest.mark.long
def test_processes_killed_while_they_remember_lose_and_double_nothing(team_database: str) -> None:
    chance, outcomes, last = random.Random(SEED), list[Outcome](), 0

    def work(agent: str, say: Say) -> str:
        own = team_room(team_database).for_agent(agent)
        for number in range(100_000):
            say(f"{remember(own, draft(f'{agent} {number}')).fragment.content}\n")
        return ""

    for turn in range(KILLS):
        names = [f"p{turn}{at}" for at in range(2)]
        with all_of([Child(partial(work, name)) for name in names]) as pair:
            assert all(child.hear() for child in pair)
            time.sleep(chance.random() * 0.3)
            for name, child in zip(names, pair, strict=True):
                child.kill()
                said = child.end()[1].splitlines()
                whole = [it for it in said if it.endswith("country")]
                following = draft(f"{name} {len(whole)}").content
                outcomes.append(Outcome(whole, [following], []))
                last += len(whole)
    assert last > KILLS
    assert wrong_with(team_database, outcomes) == []


def write_until(ended: threading.Event, room: Room, agent: str) -> Outcome:
    """Remember one fragment after the other until it is over, also while the server is away."""
    kept, unknown, refused = list[str](), list[str](), list[str]()
    own, number, longest_s = room.for_agent(agent), 0, 0.0
    while not ended.is_set():
        number += 1
        given, begun = draft(f"{agent} {number}"), time.monotonic()
        try:
            kept.append(remember(own, given).fragment.content)
        except DatabaseError as error:
            if isinstance(error, ServerError) and error.key == "unknown":
                unknown.append(given.content)
            else:
                refused.append(str(error))
                ended.wait(0.02)
        longest_s = max(longest_s, time.monotonic() - begun)
    return Outcome(kept, unknown, refused, longest_s)


@contextmanager
def four_writing(room: Room) -> Iterator[list[Future[Outcome]]]:
    """Four agents who remember until this ends."""
    ended = threading.Event()
    with ThreadPoolExecutor(4) as threads:
        yield [threads.submit(write_until, ended, room, f"agent{at}") for at in range(4)]
        ended.set()


@pytest.mark.long
def test_a_server_that_is_killed_and_comes_back_has_all_it_acknowledged() -> None:
    with postgres(**DURABLE) as server:  # it keeps every row that it acknowledges
        dsn = server.dsn(server.new_database())
        room = team_room(dsn, 5.0, DB_CONN_TIMEOUT_MS="1000")
        with four_writing(room) as writing:
            for _ in range(2):
                time.sleep(1.5)
                server.stop("immediate")
                time.sleep(0.7)
                server.start()
            time.sleep(1.5)
        outcomes = [it.result() for it in writing]
        assert wrong_with(dsn, outcomes) == []
        refused = [sentence for one in outcomes for sentence in one.refused]
        assert refused and all("Nothing" in it for it in refused)
        assert max(one.longest_s for one in outcomes) < CALL_S
        remember(room.for_agent("agent0"), draft("after all"))  # without a restart of the process
        room.engine.close()


def test_a_lock_of_another_session_is_told_and_ends(team_database: str) -> None:
    room = team_room(team_database, 0.5, DB_CONN_TIMEOUT_MS="500", DB_QUERY_TIMEOUT="60000")
    alice = room.for_agent("alice")
    kept = remember(alice, draft("before")).fragment.content
    with psycopg.connect(team_database) as other:
        other.execute("LOCK TABLE agent_memory.fragments IN EXCLUSIVE MODE")
        with pytest.raises(DatabaseError, match="Nothing"):
            remember(alice, draft("meanwhile"))
        assert recall(alice, Query(text="zebra")).fragments  # who reads does not wait
        assert not alice.engine.purge()
    assert alice.engine.purge()
    after = remember(alice, draft("after")).fragment.content
    assert stored(team_database) == {kept: 1, after: 1}
    room.engine.close()


class Cut:
    """An engine whose connections end in its next transactions, before their first question."""

    def __init__(self, engine: Engine, dsn: str, times: int) -> None:
        self._engine, self._dsn, self._left = engine, dsn, times

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    @contextmanager
    def _cut(self, transaction: AbstractContextManager[Rows]) -> Iterator[Rows]:
        with transaction as rows:
            if self._left:
                self._left -= 1
                with psycopg.connect(self._dsn, autocommit=True) as connection:
                    connection.execute(  # as a server does that hands over to another
                        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                    )
            yield rows

    def reading(self) -> AbstractContextManager[Rows]:
        return self._cut(self._engine.reading())

    def writing(self, *, wait_s: float | None = None) -> AbstractContextManager[Rows]:
        return self._cut(self._engine.writing(wait_s=wait_s))


def test_a_call_that_reads_is_made_anew_when_it_is_cut_and_one_that_changes_is_refused(
    team_database: str, room: Room
) -> None:
    alice, tries = room.for_agent("alice"), list[int]()

    def cut(times: int = 1) -> Room:
        return replace(alice, engine=cast(Engine, Cut(alice.engine, team_database, times)))

    with pytest.raises(ConnectionCutError, match="Make the same call again"):
        remember(cut(), draft("one"))
    assert not stored(team_database)
    one = remember(alice, draft("one")).fragment
    assert stored(team_database) == {one.content: 1}
    calls: list[Callable[[Room], Any]] = [
        lambda it: [found.id for found in recall(it, Query(text="zebra tax")).fragments],
        lambda it: restore_context(it, types=("fact",)),
        lambda it: explore(it, one.id),
        lambda it: statistics_of(it),
    ]
    for call in calls:
        # An answer of recall depends on the counts before it: the same question each time.
        assert call(cut()) == call(alice)
    with pytest.raises(ConnectionCutError):
        explore(cut(2), one.id)

    @repeats_when_cut
    def counted(of: Room) -> tuple[int, int]:  # in one state, whoever writes meanwhile
        tries.append(1)
        with of.engine.reading() as rows:
            before = rows.count(Filter())[""]
            remember(alice, draft("meanwhile"))
            return before, rows.count(Filter())[""]

    assert counted(cut()) == (1, 1) and len(tries) == 2

    @repeats_when_cut
    def refuses() -> None:  # for another reason: it is not tried again
        tries.append(1)
        raise ValueError

    with pytest.raises(ValueError):
        refuses()
    assert len(tries) == 3
