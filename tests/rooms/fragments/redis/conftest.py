"""Has pytest explain what fails in the contract of engines, and gives tests a Valkey server."""

from collections.abc import Iterator

import pytest

from rooms.fragments.redis import client
from tests.support.real_engines import Valkey, valkey

pytest.register_assert_rewrite("tests.support.engine_contract", "tests.support.cached_engines")


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is no failure of Redis; a test of one that does not answer sets it back."""
    monkeypatch.setattr(client, "TIMEOUT_S", 60.0)


@pytest.fixture
def redis_server() -> Iterator[Valkey]:
    """A server that has nothing yet."""
    with valkey() as running:
        yield running
