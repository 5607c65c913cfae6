"""Tests that answers stay the same while Sentinel makes another server the master."""

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import RedisError

from rooms.fragments.redis.cache import Cache
from rooms.fragments.redis.engine import CachedEngine
from rooms.fragments.redis.place import place_of
from tests.support.cached_engines import an_engine, everything_asked, lived
from tests.support.real_engines import Valkey, free_port, valkey
from tests.support.team_engines import TeamServer
from tests.support.team_engines import team_server as team_server

pytestmark = pytest.mark.long
PASSWORD = "of-a-test"
FAILOVER_S = 60.0


@pytest.fixture
def servers() -> Iterator[tuple[Valkey, Valkey]]:
    """A master, and a replica that follows it."""
    secured = ("--requirepass", PASSWORD, "--masterauth", PASSWORD)
    with valkey(*secured) as master, valkey(*secured) as replica:
        with Redis(port=replica.port, password=PASSWORD) as redis:
            redis.replicaof("127.0.0.1", master.port)
            wait_until(lambda: redis.info("replication")["master_link_status"] == "up")
        yield master, replica


@pytest.fixture
def sentinel(servers: tuple[Valkey, Valkey], tmp_path: Path) -> Iterator[int]:
    """The port of a Sentinel that watches the master."""
    master, port = servers[0], free_port()
    settings = tmp_path / "sentinel.conf"
    settings.write_text(
        f"port {port}\nbind 127.0.0.1\ndir {tmp_path}\n"
        f"sentinel monitor room 127.0.0.1 {master.port} 1\n"
        f"sentinel auth-pass room {PASSWORD}\n"
        "sentinel down-after-milliseconds room 300\nsentinel failover-timeout room 2000\n"
    )
    running = subprocess.Popen(
        [str(master._binary), str(settings), "--sentinel"], stdout=subprocess.DEVNULL
    )
    try:
        with Redis(port=port) as redis:
            wait_until(lambda: len(redis.sentinel_slaves("room")) == 1)
        yield port
    finally:
        running.kill()
        running.wait()


def wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + FAILOVER_S
    while time.monotonic() < end:
        with suppress(RedisError):  # while it starts
            if is_so():
                return
        time.sleep(0.05)
    raise TimeoutError("it has not come about")


@pytest.mark.row("002 2.73")
def test_answers_stay_the_same_while_another_server_becomes_the_master(
    team_server: TeamServer, servers: tuple[Valkey, Valkey], sentinel: int
) -> None:
    plain = an_engine(team_server.emptied_dsn())
    expected = lived(plain)
    plain.close()
    place = place_of(
        {
            "REDIS_ENABLED": "true",
            "REDIS_SENTINEL_ENABLED": "true",
            "REDIS_SENTINELS": f"127.0.0.1:{free_port()},127.0.0.1:{sentinel}",  # one is down
            "REDIS_MASTER_NAME": "room",
            "REDIS_PASSWORD": PASSWORD,
        }
    )
    assert place
    inner = an_engine(team_server.emptied_dsn())
    engine = CachedEngine(inner, Cache(place, inner.name, retry_s=0.02))

    def at(step: int) -> None:
        if step == 20:
            servers[0].kill()

    assert lived(engine, at=at) == expected
    with Redis(port=servers[1].port, password=PASSWORD) as redis:
        wait_until(lambda: redis.info("replication")["role"] == "master")
    wait_until(lambda: bool(engine.cache.client.ask(lambda redis: bool(redis.ping()))))
    hits = engine.cache.hits
    assert everything_asked(engine, "alice") == everything_asked(inner, "alice")
    assert engine.cache.hits > hits
    engine.close()
