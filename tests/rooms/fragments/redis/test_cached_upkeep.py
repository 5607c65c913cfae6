"""Tests that the upkeep makes keyword sets anew that are behind, and no others."""

import threading
import time
from collections.abc import Iterator

import pytest
from redis import Redis

from core.settings import Settings
from rooms.fragments.engine import Wanted
from rooms.fragments.redis.engine import CachedEngine
from rooms.fragments.room import Room, open_room
from rooms.fragments.upkeep.consolidating import consolidate
from rooms.fragments.upkeep.of_server import upkeep_of_server
from tests.support.engine_samples import a_fragment
from tests.support.real_engines import Valkey
from tests.support.team_engines import TeamServer

AGENTS = ("alice", "bob", "default")


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
