"""Tests that fragments keep the contract of engines with a Redis beside them.

The default run has `test_cached_answers.py`, which asks all that is remembered after each change.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import pytest
from redis import Redis

from rooms.fragments.engine import Engine, Reading
from rooms.fragments.postgres.adapter import PostgresEngine
from rooms.fragments.postgres.reading import PostgresReading
from rooms.fragments.redis.engine import CachedEngine
from tests.support import engine_contract as contract
from tests.support.cached_engines import a_cache
from tests.support.real_engines import Valkey
from tests.support.team_engines import PostgresEngines, TeamServer, a_server
from tests.support.team_engines import team_server as team_server

pytestmark = pytest.mark.long


class _Revised:
    """A reading that tells the revisions of all agents: else nothing of theirs is remembered."""

    def __init__(self, reading: PostgresReading) -> None:
        self._reading = reading

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reading, name)

    def revisions(self) -> dict[str, str]:
        return dict(self._reading._rows("SELECT agent_id, revision::text FROM revisions"))


class _Engine(PostgresEngine):
    @contextmanager
    def reading(self) -> Iterator[Reading]:
        with super().reading() as reading:
            told = _Revised(reading) if isinstance(reading, PostgresReading) else reading
            yield cast(Reading, told)


class CachedEngines:
    """See `contract.Engines`."""

    def __init__(self, server: TeamServer, redis: Valkey) -> None:
        self._inner, self._redis, self._made = PostgresEngines(server), redis, list[Engine]()

    def new(self, *, is_untouched: bool = False) -> Engine:
        """See `contract.Engines`."""
        self.close()
        with Redis(port=self._redis.port) as redis:
            redis.flushall()
        server = self._inner.server
        return self._at(a_server(server.empty_dsn() if is_untouched else server.emptied_dsn()))

    def again(self, engine: Any) -> Engine:
        """See `contract.Engines`."""
        return self._at(engine.inner.server)

    def close(self) -> None:
        """Close all that were made."""
        for engine in self._made:
            engine.close()
        self._made.clear()

    def _at(self, server: Any) -> Engine:
        inner = _Engine(server, timeout_s=10.0)
        self._made.append(CachedEngine(inner, a_cache(self._redis.address, inner.name)))
        return self._made[-1]


@pytest.fixture
def engines(team_server: TeamServer, redis_server: Valkey) -> Iterator[CachedEngines]:
    made = CachedEngines(team_server, redis_server)
    yield made
    made.close()


class TestFinding(contract.Finding):
    pass


class TestStoring(contract.Storing):
    pass


class TestNoting(contract.Noting):
    pass


@pytest.mark.row("002 2.10.c")
class TestSearching(contract.Searching):
    pass


class TestTransacting(contract.Transacting):
    pass
