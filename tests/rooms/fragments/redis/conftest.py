"""Gives the tests of the layer a Valkey server of their own."""

from collections.abc import Iterator

import pytest

from rooms.fragments.redis import client
from tests.support.real_engines import Valkey, valkey


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is no failure of Redis; a test of one that does not answer sets it back."""
    monkeypatch.setattr(client, "TIMEOUT_S", 60.0)


@pytest.fixture
def redis_server() -> Iterator[Valkey]:
    """A server that has nothing yet."""
    with valkey() as running:
        yield running
