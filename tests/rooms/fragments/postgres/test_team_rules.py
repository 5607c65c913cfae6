"""Tests the door of a team's fragments and the upkeep of its server; its rules are lives."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from core.config import Settings
from core.text.plain import Budget
from protocol.call import Caller, calling
from rooms.fragments import tools
from rooms.fragments.errors import FragmentsError
from rooms.fragments.fragment import Activity, Wanted
from rooms.fragments.room import Room, open_room
from rooms.fragments.upkeep.consolidation import ServedFragments
from tests.support.servers import until
from tests.support.team_engines import TeamServer

AGENTS = ("alice", "bob", "default")
ID = re.compile(r"\b[a-z2-9]{8}\b")


@pytest.fixture
def environment(team_server: TeamServer, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    for name in ("SENTINEL_MEMORY_AGENT", "SENTINEL_MEMORY_EMBEDDINGS", "SENTINEL_MEMORY_ANSWERS"):
        monkeypatch.delenv(name, raising=False)
    given = {"SENTINEL_MEMORY_FRAGMENTS": team_server.emptied_dsn(), "DB_MAX_CONNECTIONS": "4"}
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    return given


@pytest.fixture
def team(environment: dict[str, str]) -> Iterator[Room]:
    """The fragments of all agents."""
    room = open_room(Settings(), environment)
    with room.engine.writing():
        pass
    yield room
    room.engine.close()


def by(agent: str, tool: Callable[..., str], session: str = "s1", **arguments: Any) -> str:
    """What a tool answers an agent over HTTP."""
    with calling(Caller(agent=agent, session=session, client="cursor")):
        return tool(**arguments)


def saved(agent: str, content: str, session: str = "s1", **fields: Any) -> str:
    """The id of what an agent remembers."""
    said = by(agent, tools.remember, session, content=content, **fields)
    found = re.search(r": (\w{8})\.", said)
    assert found, said
    return found[1]


@pytest.mark.row("002 2.19", "002 2.70.a")
def test_each_door_tells_an_agent_of_its_own_and_of_what_all_share(
    team: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = {it: saved(it, f"The shop of {it} runs on Node 20", topic="node") for it in AGENTS}
    by("default", tools.memory_consolidate)  # else that of the day may come during a test
    for agent in AGENTS:
        with calling(Caller(agent=agent)):
            injected = tools.prompt_lines("shop node", Budget(1_000, 10_000))
        for said in (
            by(agent, tools.recall, text="shop node"),
            by(agent, tools.recall, text="shop node", agentId=agent),
            by(agent, tools.context, types=["fact"]),
            "\n".join(injected),
        ):
            seen = {ids[agent], ids["default"]}
            assert set(ID.findall(said)) & {*ids.values()} == seen, (agent, said)
    assert json.loads(by("alice", tools.fragment, id=ids["default"]))["agent_id"] == "default"
    assert "Shared by all agents, so kept: 1." in by("alice", tools.forget, topic="node")
    assert "backups of the server" in by("bob", tools.forget, id=ids["bob"], hard=True)
    monkeypatch.setattr(tools._Room, "is_used", False)  # over stdio the environment names the agent
    monkeypatch.setenv("SENTINEL_MEMORY_AGENT", "bob")
    saved_by_bob = tools.remember(content="The shop of bob has two doors").split(": ")[1][:8]
    assert saved_by_bob in by("bob", tools.recall, text="shop doors")
    assert saved_by_bob not in by("alice", tools.recall, text="shop doors")
    monkeypatch.setenv("SENTINEL_MEMORY_AGENT", "system")
    with pytest.raises(FragmentsError, match="SENTINEL_MEMORY_AGENT: system is no name"):
        tools.recall(text="shop node")


@pytest.mark.row("002 2.46")
def test_a_session_that_two_processes_end_at_once_is_noted_once(
    team: Room, environment: dict[str, str]
) -> None:
    saved("alice", "The shop runs on Node 20")
    served = ServedFragments(Settings(), environment)
    with ThreadPoolExecutor(6) as threads:
        ends = [threads.submit(served.end_session, "alice", "s1") for _ in range(6)]
        assert [it.result() for it in ends] == [None] * 6
    with team.engine.reading() as reading:
        noted = reading.find(Wanted(kinds=("fact",), topics=("session",)))
    assert [(it.agent, it.source) for it in noted] == [("alice", "s1")]


@pytest.mark.row("002 2.46", "002 2.53", "002 2.65")
def test_the_upkeep_of_a_server_ends_idle_sessions_and_stops(
    team: Room, environment: dict[str, str]
) -> None:
    for agent in ("alice", "bob"):
        saved(agent, f"Look at the vault of {agent}", scope="session")
    before = datetime.now(UTC) - timedelta(days=3)
    with team.engine.writing() as writing:
        for it in writing.entries(Activity):
            writing.note([replace(it, last_at=before.isoformat(timespec="seconds"))])
    stop = threading.Event()
    served = ServedFragments(Settings(), environment)
    thread = threading.Thread(target=served.tend, args=(stop,))
    thread.start()

    def ended() -> set[str]:
        with team.engine.reading() as reading:
            return {it.agent for it in reading.entries(Activity) if it.ended_at}

    until(lambda: ended() == {"alice", "bob"})
    stop.set()
    thread.join()


class _AfterSomeLooks(threading.Event):
    """Stops the upkeep after so many looks."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self.looks, self._most = 0, looks

    def wait(self, timeout: float | None = None) -> bool:
        self.looks += 1
        if self.looks == self._most:
            self.set()
        return super().wait(timeout)


@pytest.mark.row("002 2.65")
def test_a_database_that_is_away_is_logged_once_and_tried_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    away = {"SENTINEL_MEMORY_FRAGMENTS": "postgresql://u:hidden@127.0.0.1:9/none",
            "DB_CONN_TIMEOUT_MS": "100"}  # fmt: skip
    stop = _AfterSomeLooks(3)
    ServedFragments(Settings(), away, pause_s=0.01).tend(stop)
    assert stop.looks == 3
    assert caplog.text.count("has to wait, and is tried again") == 1
    assert "hidden" not in caplog.text


@pytest.mark.row("002 2.102")
def test_the_door_over_a_file_serves_one_person(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SENTINEL_MEMORY_FRAGMENTS", str(tmp_path / "memory.db"))
    assert saved("default", "The shop runs on Node 20")
    with pytest.raises(FragmentsError, match="one person's"):
        by("bob", tools.recall, text="shop")
