"""Tests that a Redis changes no answer: there, gone, empty, frozen, stale, full of rubbish."""

import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from redis import Redis
from redis.exceptions import RedisError

from core.config import read_settings
from rooms.fragments.fragment import Filter
from rooms.fragments.room import open_room
from rooms.fragments.storage import redis as layer
from rooms.fragments.storage.redis import VARIABLE, RedisServer, RedisSettingError, redis_server_of
from tests.rooms.fragments import test_engines as contract
from tests.rooms.fragments.test_engines import AGENTS, Engines, a_fragment, bare, beside
from tests.support.real_engines import Valkey, free_port, valkey
from tests.support.sentences import in_language
from tests.support.servers import until
from tests.support.stand_in_service import Answer, stand_in
from tests.support.tables import table, with_tuples
from tests.support.team_engines import TeamServer

PASSWORD = "of-a-test"
THREADS, WAIT_S = 3, 60.0
STEPS, LIVES = 30, 3


@pytest.fixture
def redis_server() -> Iterator[Valkey]:
    """A server that has nothing yet."""
    with valkey() as running:
        yield running


@pytest.fixture
def engines(
    team_server: TeamServer, redis_server: Valkey, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Engines]:
    """A busy machine is no failure of Redis; a test of one that does not answer sets it back."""
    monkeypatch.setattr(layer, "TIMEOUT_S", WAIT_S)
    made = contract.on_a_server(team_server, redis=redis_server)
    yield made
    made.close()


@pytest.fixture
def engine(engines: Engines) -> Any:
    return engines.new()


def told(engine: Any, agent: str) -> Any:
    """The answers to an agent to every question that may be remembered."""
    with engine.for_agent(agent).reading() as rows:
        return contract.everything(rows, agent), contract.held_by(rows)


# Which server is meant.

WATCHED = {"REDIS_ENABLED": "true", "REDIS_SENTINEL_ENABLED": "true"}
PLACES = table("redis_places")


@pytest.mark.row("002 2.72", "002 2.72.a", "002 2.72.b", "002 2.72.c", "002 2.72.d")
@pytest.mark.row("002 2.73", "002 2.73.a", "002 2.73.b", "002 2.74", "002 2.74.a")
@pytest.mark.parametrize(("given", "meant"), PLACES["meant"])
def test_the_settings_name_a_server(given: dict[str, str], meant: dict[str, Any] | None) -> None:
    place = redis_server_of(given)
    assert place == (RedisServer(**with_tuples(meant)) if meant else None)
    assert "p%40ss" not in repr(place)


@pytest.mark.parametrize(("variable", "value"), PLACES["refused"])
def test_an_unusable_variable_is_refused_by_its_name_alone(variable: str, value: str) -> None:
    with pytest.raises(RedisSettingError) as refused:
        redis_server_of(WATCHED | {variable: value})
    for lang in ("en", "ko"):
        text = in_language(lang, str, refused.value)
        assert variable in text and "hunter2" not in text and value not in text.split()


@pytest.mark.row("002 2.72")
def test_a_room_has_a_layer_where_a_server_keeps_the_fragments_alone() -> None:
    on = {VARIABLE: "redis://127.0.0.1:1/0", "HOME": "/nowhere"}
    for place, is_cached in {"postgresql://u@127.0.0.1:1/x": True, "/nowhere/x.db": False}.items():
        room = open_room(read_settings({}), on | {"SENTINEL_MEMORY_FRAGMENTS": place})
        for engine in (room.engine, room.for_agent("alice").engine):
            assert bool(getattr(engine, "cache", None)) == is_cached
    dsns = (f"postgresql://u@127.0.0.1:1/{name}" for name in "xy")  # a Redis may serve both
    rooms = [open_room(read_settings({}), on | {"SENTINEL_MEMORY_FRAGMENTS": dsn}) for dsn in dsns]
    assert len({getattr(room.engine, "cache").key_prefix for room in rooms}) == 2  # noqa: B009


# Failures of it.


# By the step before which it happens, in a life of so many steps.
HAPPENS = {
    "nothing": {},
    "killed": {8: "kill"},
    "restarted": {8: "kill", 12: "start", 24: "kill", 28: "start"},
    "frozen": {12: "freeze", 14: "thaw", 28: "freeze", 30: "thaw"},
    "emptied": dict.fromkeys(range(STEPS), "emptied"),
    "spoilt": dict.fromkeys(range(STEPS), "spoilt"),
}


def spoil(redis: Any, step: int, *, is_emptied: bool) -> None:
    """Drop every second key, as a full server does, or put rubbish in the place of values."""
    names = sorted(redis.keys("*"))
    if is_emptied:
        for name in names[step % 2 :: 2]:
            redis.delete(name)
        return
    for at, name in enumerate(names):
        new = [b"", b"[3, [", b"\x80\x04cos\nsystem\n", b"[" * 5_000, None][(at + step) % 5]
        redis.delete(name)
        if new is None:
            redis.lpush(name, "x")
        elif at % 2:
            redis.set(name, new)
        else:
            redis.sadd(name, b"0", new or b"x")


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.20.a", "002 2.23", "002 2.72.e")
@pytest.mark.parametrize("case", HAPPENS)
def test_any_mishap_of_the_server_changes_no_answer(
    engines: Engines, redis_server: Valkey, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if case == "frozen":
        monkeypatch.setattr(layer, "TIMEOUT_S", 0.1)

    figures, mishaps = list[Any](), set[str]()

    def happen(step: int) -> None:
        figures.extend(it.cache.figures for it in cast(Any, engines.made))
        what = HAPPENS[case].get(step, "")
        mishaps.add(what)  # a life may be short
        if what in ("emptied", "spoilt"):
            with Redis(port=redis_server.port) as redis:
                spoil(redis, step, is_emptied=what == "emptied")
        elif what:
            getattr(redis_server, what)()

    contract.lived(engines, LIVES, STEPS, at=happen)
    assert any(it["hits"] for it in figures)
    assert any(it["errors"] for it in figures) == bool(mishaps - {"", "emptied"})


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.10.c")
def test_the_same_is_told_where_another_process_writes_without_a_redis(engines: Engines) -> None:
    make = engines.make

    def every_second(place: str) -> Any:
        made: Any = make(place)
        return bare(made, "") if place else made

    engines.make = every_second
    contract.lived(engines, 9, STEPS, at=lambda step: None)


@pytest.mark.row("002 2.20.a", "002 2.72.f", "002 2.74", "002 2.74.a")
def test_keywords_are_sets_and_an_agent_is_told_nothing_of_anothers(
    engine: Any, redis_server: Valkey, monkeypatch: pytest.MonkeyPatch
) -> None:
    for agent in AGENTS:
        with engine.for_agent(agent).writing() as rows:
            new = [
                a_fragment(f"{agent}{it}", f"node redis {agent}", keywords=it.split(), agent=agent)
                for it in ("node redis", "node", agent)
            ]
            rows.add([replace(it, id=f"{agent}{at}") for at, it in enumerate(new)])
    for agent in AGENTS:
        for most in (9, 1):
            for words in (["node"], ["node", "redis"], ["node", "redis", "alice"], ["none"]):
                found = []
                for through in (engine, engine, bare(engine, "")):
                    with through.for_agent(agent).reading() as rows:
                        found.append(rows.count_keywords(words, Filter(), most))
                assert found[0] == found[1] == found[2]
        assert told(engine, agent) == told(bare(engine, agent), agent)
    assert engine.cache.figures["hits"] > engine.cache.figures["misses"] > 0
    with Redis(port=redis_server.port) as redis:
        kinds = {redis.type(name) for name in redis.keys("*")}
        assert kinds == {b"set", b"string"}
        assert all(layer.TTL_S < redis.ttl(name) <= 900 for name in redis.keys("*"))
        redis.sadd("sentinel-memory:anothers", "x")
    engine.purge()
    with monkeypatch.context() as bounds:
        bounds.setattr(layer, "MOST_NUMBERS", 1)
        bounds.setattr(layer, "MOST_BYTES", 1)
        assert told(engine, "alice") == told(bare(engine, "alice"), "alice")
    with Redis(port=redis_server.port) as redis:
        assert redis.keys("*") == [b"sentinel-memory:anothers"]
        engine.cache.server = replace(engine.cache.server, keeps_answers=False)
        told(engine, "alice")
        assert {redis.type(name) for name in redis.keys("*")} == {b"set"}


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("gone", ["the package", "the server", "the protocol"])
def test_a_cache_that_was_never_there_changes_nothing(
    team_server: TeamServer, gone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layer, "TIMEOUT_S", WAIT_S)
    with stand_in(lambda _: Answer()) as stranger:
        address = stranger.address.replace("http", "redis")
        if gone == "the package":
            monkeypatch.setitem(sys.modules, "redis", None)
        if gone == "the server":
            address = f"redis://127.0.0.1:{free_port()}"
        engine = beside(team_server.emptied_dsn(), **{VARIABLE: address})
        with engine.for_agent("alice").writing() as rows:
            rows.add([a_fragment("a", "node", keywords=("node",), agent="alice")])
        assert told(engine, "alice") == told(bare(engine, "alice"), "alice")
        assert engine.figures()["redis_errors"]
        engine.close()


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.72.e")
@pytest.mark.parametrize("fault", ["killed", "frozen"])
def test_a_server_that_goes_away_under_load_holds_nobody_up(
    engine: Any, redis_server: Valkey, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At most one question of each thread waits for it; the others do not even ask."""
    if fault == "frozen":
        monkeypatch.setattr(layer, "TIMEOUT_S", 0.1)
    engine.cache._pause_s = 3_600.0
    told(engine, "alice")
    is_gone, together = threading.Event(), threading.Barrier(THREADS + 1)

    def ask() -> None:
        number = 0
        with engine.for_agent("alice").reading() as rows:
            rows.coverage("node", 3_000)
            together.wait(WAIT_S)
            while not is_gone.is_set():
                number += 1
                rows.coverage(f"node {number}", 3_000)
            for number in range(20):
                rows.coverage(f"deploy {number}", 3_000)

    with ThreadPoolExecutor(THREADS) as threads:
        asking = [threads.submit(ask) for _ in range(THREADS)]
        together.wait(WAIT_S)
        redis_server.kill() if fault == "killed" else redis_server.freeze()
        is_gone.set()
        for it in asking:
            it.result(WAIT_S)
    redis_server.thaw()
    assert engine.cache.is_paused
    assert 1 <= engine.cache.figures["errors"] <= THREADS


# Sentinel.


def test_sentinels_of_a_server_with_tls_are_asked_over_tls() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ends = {"REDIS_TLS": "on", "REDIS_SENTINELS": f"127.0.0.1:{listener.getsockname()[1]}"}
        server = redis_server_of(WATCHED | ends)
        assert server and not layer.Cache(server, "x").is_reachable()
        with listener.accept()[0] as connection:
            assert connection.recv(1) == b"\x16"  # a greeting of TLS


def wait_until(is_so: Callable[[], bool]) -> None:
    def look() -> bool:
        with suppress(RedisError):  # while it starts
            return is_so()
        return False

    until(look)


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[tuple[Valkey, Valkey, int]]:
    """A master, a replica that follows it, and the port of a Sentinel that watches the master."""
    secured = ("--requirepass", PASSWORD, "--masterauth", PASSWORD)
    with valkey(*secured) as master, valkey(*secured) as replica, ExitStack() as running:
        with Redis(port=replica.port, password=PASSWORD) as redis:
            redis.replicaof("127.0.0.1", master.port)
            wait_until(lambda: redis.info("replication")["master_link_status"] == "up")
        port, place = free_port(), tmp_path / "sentinel.conf"
        place.write_text(
            f"port {port}\nbind 127.0.0.1\ndir {tmp_path}\n"
            f"sentinel monitor room 127.0.0.1 {master.port} 1\n"
            f"sentinel auth-pass room {PASSWORD}\nrequirepass {PASSWORD}-2\n"
            "sentinel down-after-milliseconds room 300\nsentinel failover-timeout room 2000\n"
        )
        command = [str(master._binary), str(place), "--sentinel"]
        sentinel = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        running.callback(sentinel.wait)
        running.callback(sentinel.kill)
        with Redis(port=port, password=f"{PASSWORD}-2") as redis:
            wait_until(lambda: len(redis.sentinel_slaves("room")) == 1)
        yield master, replica, port


@pytest.mark.long
@pytest.mark.row("002 2.73")
def test_answers_stay_the_same_while_another_server_becomes_the_master(
    team_server: TeamServer, watched: tuple[Valkey, Valkey, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layer, "TIMEOUT_S", WAIT_S)
    master, replica, port = watched
    passwords = {"REDIS_PASSWORD": PASSWORD, "REDIS_SENTINEL_PASSWORD": f"{PASSWORD}-2"}
    login = {"REDIS_MASTER_NAME": "room", **passwords}
    sentinels = f"127.0.0.1:{free_port()},127.0.0.1:{port}"  # one is down
    engine = beside(team_server.emptied_dsn(), **WATCHED, **login, REDIS_SENTINELS=sentinels)
    assert engine.cache

    def write(number: int) -> None:
        for agent in AGENTS:
            with engine.for_agent(agent).writing() as rows:
                rows.add([a_fragment(f"{agent}{number}", keywords=("node",), agent=agent)])
            assert told(engine, agent) == told(bare(engine, agent), agent)

    for number in range(10):
        if number == 5:
            master.kill()
        write(number)
    with Redis(port=replica.port, password=PASSWORD) as redis:
        wait_until(lambda: redis.info("replication")["role"] == "master")
    wait_until(engine.cache.is_reachable)
    hits = engine.cache.figures["hits"]
    write(10)
    assert engine.cache.figures["hits"] > hits
    engine.close()
