"""Tests that the layer goes to the server that a real Sentinel names, also after a failover."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from rooms.fragments.redis.client import Client
from rooms.fragments.redis.place import place_of
from tests.support.real_engines import valkey

pytestmark = pytest.mark.long  # a Sentinel decides by its clock
WAIT_S = 60.0


@pytest.mark.row("002 2.73")
def test_after_a_failover_the_new_master_is_asked(tmp_path: Path) -> None:
    settings = tmp_path / "sentinel.conf"
    with valkey() as first, valkey("--replicaof", "127.0.0.1", str(first.port)) as second:
        settings.write_text(
            f"sentinel monitor memory 127.0.0.1 {first.port} 1\n"
            "sentinel down-after-milliseconds memory 300\n"
            "sentinel failover-timeout memory 2000\n"
        )
        with valkey(str(settings), "--sentinel") as sentinel:
            place = place_of(
                {
                    "REDIS_ENABLED": "true",
                    "REDIS_SENTINEL_ENABLED": "true",
                    "REDIS_SENTINELS": f"127.0.0.1:{sentinel.port}",
                    "REDIS_MASTER_NAME": "memory",
                }
            )
            assert place
            client = Client(place, retry_s=0.05)

            def port() -> int | None:
                """Of the server that takes what is written."""

                def ask(redis: Any) -> int:
                    redis.set("written", "1")
                    return int(redis.config_get("port")["port"])

                return client.ask(ask)

            assert awaited(port, first.port)
            # A Sentinel hears of replicas from their master.
            with Redis(port=sentinel.port) as redis:
                assert awaited(lambda: len(redis.sentinel_slaves("memory")), 1)
            first.kill()
            assert awaited(port, second.port)
            client.close()


def awaited(port: Callable[[], int | None], wanted: int) -> bool:
    ends = time.monotonic() + WAIT_S
    while time.monotonic() < ends:
        if port() == wanted:
            return True
        time.sleep(0.05)
    return False
