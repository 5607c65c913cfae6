"""Tests what /health says of a PostgreSQL and a Redis, while they are there and when they go."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.http_server import HttpServer
from tests.support.real_engines import postgres, valkey
from tests.support.waiting import until


def checks_of(server: HttpServer) -> tuple[int, dict[str, Any]]:
    status, _, body = server.ask("GET", "/health")
    found = json.loads(body).get("checks", {})  # none where nobody can tell whose the key is
    return status, {name: it["status"] for name, it in found.items()}


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.6")
def test_health_says_which_of_postgresql_and_redis_is_gone(tmp_path: Path) -> None:
    with postgres() as database, valkey() as redis:
        environment = {
            "SENTINEL_MEMORY_FRAGMENTS": database.dsn(database.new_database()),
            "SENTINEL_MEMORY_REDIS": redis.address,
            "DB_CONN_TIMEOUT_MS": "1000",
        }
        with HttpServer(tmp_path, environment=environment) as server:
            server.tool("remember", content="The shop runs on Node 20", topic="shop")
            well = {"papers": "ok", "engine": "ok", "redis": "ok"}
            assert checks_of(server) == (200, well)
            redis.kill()
            seen = until(lambda: (it := checks_of(server))[1].get("redis") == "failed" and it)
            assert seen == (200, {**well, "redis": "failed"})
            assert "Node 20" in server.tool("recall", text="node")
            database.stop()
            until(lambda: checks_of(server)[1].get("engine") == "failed")
            assert checks_of(server)[0] == 503
