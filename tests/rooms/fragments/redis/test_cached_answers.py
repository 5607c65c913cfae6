"""Tests that a Redis changes no answer: there, gone, empty, frozen, stale, full of rubbish."""

import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from redis import Redis

from core.config import Settings
from rooms.fragments.fragment import Embedding, Wanted
from rooms.fragments.redis import client
from rooms.fragments.redis.engine import CachedEngine, keep_current
from rooms.fragments.room import Room, open_room
from rooms.fragments.upkeep.consolidation import consolidate
from rooms.fragments.upkeep.service import upkeep_of_server
from tests.support.cached_engines import (
    AGENTS,
    SOME_STEPS,
    STEPS,
    a_cached,
    an_engine,
    everything_asked,
    lived,
)
from tests.support.costly import one_in
from tests.support.engine_samples import a_fragment, a_vector
from tests.support.real_engines import Valkey, free_port
from tests.support.team_engines import TeamServer
from tests.support.team_engines import team_server as team_server

Disturb = Callable[[Valkey, int], None]
Plain = Callable[[int], list[list[Any]]]
THREADS = 3


@pytest.fixture(scope="module")
def plain(team_server: TeamServer) -> Plain:
    """What agents are told without a Redis, by how many steps are taken."""
    told = dict[int, list[list[Any]]]()

    def of(steps: int) -> list[list[Any]]:
        if steps not in told:
            engine = an_engine(team_server.emptied_dsn(1))
            told[steps] = lived(engine, steps)
            engine.close()
        return told[steps]

    return of


@pytest.fixture
def engine(team_server: TeamServer, redis_server: Valkey) -> Iterator[CachedEngine]:
    made = a_cached(team_server.emptied_dsn(), redis_server.address)
    yield made
    made.close()


def are_current(engine: CachedEngine) -> dict[str, bool]:
    """Whether the keyword sets of each agent are of the state of its fragments."""
    with engine.inner.reading() as reading:
        agents = reading.count(Wanted(state="all"), "agent")
    found = dict[str, bool]()
    for agent in agents:
        with engine.inner.for_agent(agent).reading() as reading:
            found[agent] = engine.cache.sets.are_of(agent, reading.revisions()[agent])
    return found


def nothing(server: Valkey, step: int) -> None:
    """The server is left alone."""


def killed(server: Valkey, step: int) -> None:
    if step == 8:
        server.kill()


def restarted(server: Valkey, step: int) -> None:
    if step % 20 == 10:
        server.kill()
    if step % 20 == 14:
        server.start()


def frozen(server: Valkey, step: int) -> None:
    if step in (30, 60):
        server.freeze()
    if step in (33, 63):
        server.thaw()


def emptied(server: Valkey, step: int) -> None:
    """As a server with too little memory does it: some keys are gone, others stay."""
    with Redis(port=server.port) as redis:
        if names := sorted(redis.keys("*"))[step % 2 :: 2]:
            redis.delete(*names)


def spoilt(server: Valkey, step: int) -> None:
    """Every value is cut, changed, of another kind, of another key, or rubbish."""
    with Redis(port=server.port) as redis:
        names = sorted(it for it in redis.keys("*:answer:*") if redis.type(it) == b"string")
        values = [redis.get(it) or b"" for it in names]
        for at, (name, value) in enumerate(zip(names, values, strict=True)):
            new = [
                value[:-1],
                value[:40] + b"9" + value[41:],
                values[at - 1],
                b"\x80\x04cos\nsystem\n",
                b"[" * 5_000,
                b"",
            ][(at + step) % 7 % 6]
            redis.set(name, new)
            if at % 7 == 6:
                redis.delete(name)
                redis.lpush(name, "x")
        for name in redis.keys("*:keywords"):
            fields = sorted(redis.hkeys(name))
            field = fields[step % len(fields)]
            value = redis.hget(name, field) or b""
            redis.hset(name, field, [value[:-2] + b"9]", b"", value[32:], b"[1]"][step % 4])


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.23", "002 2.72.e")
@pytest.mark.parametrize(
    "disturb",
    one_in(6, [killed, restarted, frozen, emptied, nothing, spoilt]),
    ids=lambda it: it.__name__,
)
def test_the_same_is_told_whatever_happens_to_the_server(
    engine: CachedEngine,
    redis_server: Valkey,
    plain: Plain,
    disturb: Disturb,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if disturb is frozen:
        monkeypatch.setattr(client, "TIMEOUT_S", 0.1)
    steps = SOME_STEPS if disturb is killed else STEPS
    told = lived(engine, steps, at=lambda step: disturb(redis_server, step))
    assert told == plain(steps)
    assert engine.cache.hits


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.10.c")
def test_the_same_is_told_where_others_write_without_redis(
    engine: CachedEngine, plain: Plain
) -> None:
    assert lived(engine, SOME_STEPS, other=engine.inner) == plain(SOME_STEPS)
    assert engine.cache.client.errors == 0


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("steps", [SOME_STEPS, pytest.param(STEPS, marks=pytest.mark.long)])
def test_the_same_is_told_where_another_process_writes(
    engine: CachedEngine, redis_server: Valkey, plain: Plain, steps: int
) -> None:
    inner: Any = engine.inner
    other = a_cached(inner.server.dsn, redis_server.address)

    assert lived(engine, steps, other=other) == plain(steps)
    current = are_current(engine)
    assert len(current) > 1 and all(current.values())  # each has followed the other
    other.close()


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.72.e")
def test_two_processes_that_write_at_once_leave_nothing_stale(
    engine: CachedEngine, redis_server: Valkey
) -> None:
    inner: Any = engine.inner
    other = a_cached(inner.server.dsn, redis_server.address)

    def write(through: CachedEngine, name: str) -> None:
        for number in range(20):
            with through.for_agent("alice").writing() as writing:
                new = a_fragment(f"{name}{number}", keywords=("node", name), agent="alice")
                writing.add([new])
            everything_asked(through, "alice")

    threads = [
        threading.Thread(target=write, args=it) for it in ((engine, "one"), (other, "other"))
    ]
    for it in threads:
        it.start()
    for it in threads:
        it.join()
    for through in (engine, other):
        assert everything_asked(through, "alice") == everything_asked(inner, "alice")
    other.close()


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.20.a", "002 2.72.f")
def test_what_one_agent_was_told_is_given_to_no_other(
    engine: CachedEngine, redis_server: Valkey
) -> None:
    for agent in AGENTS:
        with engine.for_agent(agent).writing() as writing:
            new = [a_fragment(agent, "node redis deploy", keywords=("node", "redis"), agent=agent)]
            [added] = writing.add(new)
            writing.put_vectors([Embedding(added.number, a_vector(1.0, 0.0))])
    for agent in AGENTS:
        assert everything_asked(engine, agent) == everything_asked(engine.inner, agent)
    with Redis(port=redis_server.port) as redis:
        names = [it.decode().split(":") for it in redis.keys("*")]
    assert {it[2] for it in names} == {*AGENTS}


@pytest.mark.row("002 2.72.f")
def test_names_of_agents_and_keywords_cannot_be_taken_for_others(engine: CachedEngine) -> None:
    names = ["a", "a:keywords", "a%3Akeywords", "a b", "a*", "é", ""]
    keys = {engine.cache.sets.name_of(it) for it in names}
    assert len(keys) == len(names)
    assert {it.count(":") for it in keys} == {3}
    with engine.for_agent("alice").writing() as writing:
        writing.add([a_fragment("x", keywords=("head", "=head"), agent="alice")])
    with engine.for_agent("alice").reading() as reading:
        found = reading.with_keywords(("head", "=head", "="), Wanted(agents=("alice",)), 9)
    assert [count for _, count in found] == [2]


@pytest.mark.row("002 2.20.a")
def test_keywords_are_answered_by_the_sets_and_made_anew_when_behind(
    engine: CachedEngine, redis_server: Valkey
) -> None:
    alice = engine.for_agent("alice")
    with alice.writing() as writing:
        [first] = writing.add([a_fragment("a", keywords=("node",), agent="alice")])
    with alice.inner.writing() as writing:  # by a process that has no Redis
        [second] = writing.add([a_fragment("b", keywords=("node",), agent="alice")])
    assert are_current(engine) == {"alice": False}
    keep_current(engine)
    assert are_current(engine) == {"alice": True}
    with Redis(port=redis_server.port) as redis:
        before = redis.keys("*:answer:*")
        with alice.reading() as reading:
            found = reading.with_keywords(("node",), Wanted(agents=("alice",)), 9)
        assert redis.keys("*:answer:*") == before == []
    assert found == [(second.number, 1), (first.number, 1)]


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("gone", ["the package", "the server", "the protocol"])
def test_what_was_never_there_changes_nothing(
    team_server: TeamServer, gone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        port = stranger.getsockname()[1]
        threading.Thread(target=_talk, args=(stranger,), daemon=True).start()
        if gone == "the package":
            monkeypatch.setitem(sys.modules, "redis", None)
        if gone == "the server":
            port = free_port()
        engine = a_cached(team_server.emptied_dsn(), f"redis://127.0.0.1:{port}/0")
        with engine.for_agent("alice").writing() as writing:
            writing.add([a_fragment("a", "node", keywords=("node",), agent="alice")])
        assert everything_asked(engine, "alice") == everything_asked(engine.inner, "alice")
        assert engine.cache.client.errors
        engine.close()


def _talk(stranger: socket.socket) -> None:
    """Answer as a web server does."""
    while True:
        try:
            with stranger.accept()[0] as connection:
                connection.recv(100)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        except OSError:
            return


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.72.e")
@pytest.mark.parametrize("fault", ["killed", "frozen"])
def test_a_server_that_goes_away_under_load_holds_nobody_up(
    engine: CachedEngine, redis_server: Valkey, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At most one question of each thread waits for it; the others do not even ask."""
    if fault == "frozen":
        monkeypatch.setattr(client, "TIMEOUT_S", 0.1)
    engine.cache.client._retry_s = 3_600.0
    everything_asked(engine, "alice")
    is_gone, together = threading.Event(), threading.Barrier(THREADS + 1)

    def ask() -> None:
        number = 0
        with engine.for_agent("alice").reading() as reading:
            reading.holding("node", 3_000)
            together.wait(60)
            while not is_gone.is_set():
                number += 1
                reading.holding(f"node {number}", 3_000)
            for number in range(20):
                reading.holding(f"deploy {number}", 3_000)

    threads = [threading.Thread(target=ask) for _ in range(THREADS)]
    for it in threads:
        it.start()
    together.wait(60)
    redis_server.kill() if fault == "killed" else redis_server.freeze()
    is_gone.set()
    for it in threads:
        it.join()
    redis_server.thaw()
    asked = engine.cache.client
    assert not asked.works
    assert 1 <= asked.errors <= THREADS
    assert asked.skipped >= 20 * THREADS - THREADS


@pytest.fixture
def environment(team_server: TeamServer, redis_server: Valkey) -> dict[str, str]:
    return {
        "SENTINEL_MEMORY_FRAGMENTS": team_server.emptied_dsn(),
        "SENTINEL_MEMORY_REDIS": redis_server.address,
    }


@pytest.fixture
def room(environment: dict[str, str]) -> Iterator[Room]:
    """A room in which three agents have a keyword, of which Redis has lost all sets."""
    made = open_room(Settings(), environment)
    for agent in AGENTS:
        with made.engine.for_agent(agent).writing() as writing:
            writing.add([a_fragment(agent, keywords=("node", agent), agent=agent)])
    cache_of(made).cache.clear()
    yield made
    made.engine.close()


def cache_of(room: Room) -> CachedEngine:
    assert isinstance(room.engine, CachedEngine)
    return room.engine


def written(server: Valkey) -> int:
    """How often a set was written since the server runs."""
    with Redis(port=server.port) as redis:
        return int(redis.info("commandstats").get("cmdstat_hset", {}).get("calls", 0))


def sets(server: Valkey) -> int:
    with Redis(port=server.port) as redis:
        return len(redis.keys("*:keywords"))


def assert_each_has_its_own(room: Room) -> None:
    """Every agent's set answers for it, and counts nothing of another agent."""
    cache = cache_of(room).cache
    for agent in AGENTS:
        with room.engine.for_agent(agent).reading() as reading:
            [own] = reading.by_ids([agent])
            revision = reading.revisions()[agent]
            told = cache.sets.having(["node", *AGENTS], {agent: revision}, 9)
            assert told == [(own.number, 2)]
            seen = reading.with_keywords(["node"], Wanted(), 9)
        assert {number for number, _ in seen} <= {own.number, default_number(room)}


def default_number(room: Room) -> int:
    with room.engine.reading() as reading:
        return reading.by_ids(["default"])[0].number


@pytest.mark.long  # it costs much
def test_a_consolidation_makes_what_is_behind_anew_and_no_more(
    room: Room, redis_server: Valkey
) -> None:
    consolidate(room)
    assert sets(redis_server) == 3
    assert_each_has_its_own(room)
    before = written(redis_server)
    consolidate(room)
    assert written(redis_server) == before
    with cache_of(room).inner.for_agent("bob").writing() as writing:  # without Redis
        writing.add([a_fragment("other", keywords=("node",), agent="bob")])
    consolidate(room)
    assert sets(redis_server) == 3 and written(redis_server) > before


def test_a_consolidation_goes_on_where_redis_is_gone(room: Room, redis_server: Valkey) -> None:
    redis_server.kill()
    assert len(consolidate(room).steps) == 11


@pytest.mark.long  # it costs much
def test_the_thread_of_a_server_makes_them_anew(
    room: Room, environment: dict[str, str], redis_server: Valkey
) -> None:
    stop = threading.Event()
    thread = threading.Thread(target=upkeep_of_server, args=(Settings(), environment, stop))
    thread.start()
    try:
        ends = time.monotonic() + 60
        while sets(redis_server) < 3 and time.monotonic() < ends:
            time.sleep(0.02)
    finally:
        stop.set()
        thread.join()
    assert_each_has_its_own(room)
