"""Tests what a person is told of what is remembered beside a team's fragments, and what it does."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cached_engines import a_cached, everything_asked
from tests.support.cli_process import Command
from tests.support.engine_contract import a_fragment
from tests.support.real_engines import Valkey, valkey
from tests.support.team_engines import TeamServer
from tests.support.team_engines import team_server as team_server


@pytest.fixture
def redis_server() -> Iterator[Valkey]:
    """A server that has nothing yet."""
    with valkey() as running:
        yield running


@pytest.fixture
def team(
    team_server: TeamServer,
    redis_server: Valkey,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Two agents' fragments, of which one has asked something."""
    dsn = team_server.new_dsn()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SENTINEL_MEMORY_FRAGMENTS", dsn)
    monkeypatch.setenv("SENTINEL_MEMORY_REDIS", redis_server.address)
    engine = a_cached(dsn, redis_server.address)
    for agent in ("alice", "bob"):
        with engine.for_agent(agent).writing() as writing:
            writing.add([a_fragment(agent, keywords=("node",), agent=agent)])
    everything_asked(engine, "alice")
    engine.close()


@pytest.mark.long  # it costs much
def test_the_state_the_keywords_and_the_way_back_to_nothing(
    team: None, redis_server: Valkey, command: Command
) -> None:
    name = redis_server.address
    shown = command("fragments", "cache", "--json")
    told = json.loads("\n".join(shown.lines))
    assert (told["server"], told["reachable"], told["agents"]) == (name, True, 2)
    assert told["answers"] > 1 and told["hits"] and told["misses"]
    done = command("fragments", "cache", "rebuild")
    assert done.lines == ["Agents whose keywords were remembered anew: 2; right already: 0."]
    done = command("fragments", "cache", "clear")
    assert done.lines[0].endswith("The fragments are unchanged.")
    assert command("fragments", "cache").lines == [
        f"{name} answers.",
        "Answers remembered: 0. Agents whose keywords are remembered: 0.",
        "Questions answered from there: 0; not there: 0.",
    ]


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("what", ["state", "rebuild", "clear"])
def test_a_server_that_is_away_is_named_and_loses_nothing(
    team: None, redis_server: Valkey, command: Command, what: str
) -> None:
    redis_server.kill()
    done = command("fragments", "cache", what)
    assert done.code == 1
    assert done.errors.startswith(f"{redis_server.address} does not answer.")
    assert "nothing is lost" in done.errors
    told = json.loads("\n".join(command("fragments", "cache", what, "--json").lines))
    assert told["reachable"] is False


def test_a_persons_own_fragments_have_nothing_beside_them(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SENTINEL_MEMORY_FRAGMENTS", str(tmp_path / "memory.db"))
    done = command("fragments", "cache")
    assert done.code == 0
    assert "SENTINEL_MEMORY_REDIS" in " ".join(done.lines)
