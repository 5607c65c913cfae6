"""Tests what belongs to whom in a team: agents and what they share, on a real PostgreSQL."""

import json
import os
import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.config import Settings
from core.text.plain import Budget
from protocol.call import Caller, calling
from rooms.fragments import tools
from rooms.fragments.activity import end_session
from rooms.fragments.draft import Draft, remember
from rooms.fragments.errors import FragmentsError
from rooms.fragments.fragment import Activity, Fragment, Wanted
from rooms.fragments.room import Room, open_room
from rooms.fragments.upkeep.service import ServedFragments
from rooms.fragments.use import count_use
from tests.support.team_engines import TeamServer
from tests.support.team_engines import team_server as team_server
from tests.support.waiting import until

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


def refusal(agent: str, tool: Callable[..., str], **arguments: Any) -> str:
    with pytest.raises(FragmentsError) as caught:
        by(agent, tool, **arguments)
    return str(caught.value)


def stored(team: Room, *ids: str) -> list[Fragment]:
    with team.engine.reading() as reading:
        return reading.by_ids(ids)


@pytest.fixture
def three(team: Room) -> dict[str, str]:
    """The id of what each agent has said of one matter."""
    ids = {it: saved(it, f"The shop of {it} runs on Node 20", topic="node") for it in AGENTS}
    by("default", tools.memory_consolidate)  # else that of the day may come during a test
    return ids


@pytest.mark.row("002 2.19", "002 2.70.a")
def test_an_agent_reads_its_own_and_what_all_share(
    three: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for agent in AGENTS:
        seen = {three[agent], three["default"]}
        for said in (
            by(agent, tools.recall, text="shop node"),
            by(agent, tools.recall, text="shop node", agentId=agent),
            by(agent, tools.context, types=["fact"]),
            "\n".join(injected(agent)),
        ):
            assert set(ID.findall(said)) & {*three.values()} == seen, (agent, said)
        for other in AGENTS:
            if three[other] in seen:
                assert json.loads(by(agent, tools.fragment, id=three[other]))["agent_id"] == other
                assert three[other] in by(agent, tools.graph_explore, startId=three[other])
            else:
                for tool, name in ((tools.fragment, "id"), (tools.graph_explore, "startId")):
                    said = refusal(agent, tool, **{name: three[other]})
                    assert "there is no such fragment" in said
    assert three["alice"] not in by("alice", tools.recall, text="shop node", agentId="default")
    monkeypatch.setattr(tools._Room, "is_used", False)  # over stdio the environment names the agent
    assert three["default"] in (said := tools.recall(text="shop node"))
    assert three["alice"] not in said
    monkeypatch.setenv("SENTINEL_MEMORY_AGENT", "alice")
    assert three["alice"] in tools.recall(text="shop node")
    monkeypatch.setenv("SENTINEL_MEMORY_AGENT", "system")
    with pytest.raises(FragmentsError) as caught:
        tools.recall(text="shop node")
    assert str(caught.value).startswith("SENTINEL_MEMORY_AGENT: system is no name")


def injected(agent: str) -> list[str]:
    with calling(Caller(agent=agent)):
        return tools.prompt_lines("shop node", Budget(1_000, 10_000))


@pytest.mark.long  # it costs much
def test_a_link_has_an_end_of_the_one_who_makes_it(team: Room, three: dict[str, str]) -> None:
    other = saved("default", "Orders are kept for ten years", topic="orders")
    mine, shared = three["alice"], three["default"]
    assert "all agents share both" in refusal("alice", tools.link, fromId=shared, toId=other)
    assert "no such fragment" in refusal("alice", tools.link, fromId=mine, toId=three["bob"])
    said = refusal("alice", tools.link, fromId=shared, toId=mine, relationType="superseded_by")
    assert said.startswith(f"{shared}: all agents share this fragment")
    by("default", tools.link, fromId=shared, toId=other)
    by("alice", tools.link, fromId=mine, toId=shared, relationType="superseded_by")
    assert mine not in by("alice", tools.recall, text="shop node", includeLinks=False)
    with team.engine.reading() as reading:
        ends = {(it.from_id, it.to_id) for it in reading.links([shared, other])}
    assert (shared, other) in ends
    assert mine not in by("bob", tools.graph_explore, startId=shared)


def test_nearly_what_all_share_is_related_and_not_proposed_as_outdated(team: Room) -> None:
    text = "Redis Sentinel answers NOAUTH where the password is missing"
    shared = saved("default", text, topic="redis")
    said = by("alice", tools.remember, content=f"{text}!", topic="redis")
    assert "superseded_by" not in said
    assert shared in said  # linked as related
    assert "superseded_by" in by("default", tools.remember, content=f"{text}?", topic="redis")


@pytest.mark.long  # it costs much
def test_a_topic_forgets_ones_own_and_says_what_is_shared(
    team: Room, three: dict[str, str]
) -> None:
    said = by("alice", tools.forget, topic="node")
    assert f"1 ({three['alice']})" in said
    assert "Shared by all agents, so kept: 1." in said
    away = {it.id for it in stored(team, *three.values()) if it.deleted_at}
    assert away == {three["alice"]}
    assert by("alice", tools.remember, content="The shop of alice runs on Node 20").startswith(
        "Back from the bin"
    )
    assert "backups of the server" in by("alice", tools.forget, id=three["alice"], hard=True)
    assert stored(team, three["alice"]) == []


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.19", "002 2.19.a")
def test_no_name_makes_anybody_another_agent(team: Room, three: dict[str, str]) -> None:
    for name in ("system", "admin", "bob", " BOB "):
        for tool, arguments in (
            (tools.recall, {"text": "shop"}),
            (tools.remember, {"content": "Something new"}),
            (tools.forget, {"id": three["bob"]}),
        ):
            assert "agentId" in refusal("alice", tool, agentId=name, **arguments)
    assert "agentId" in refusal("alice", tools.remember, content="New", agentId="default")
    for name in ("system", "Admin"):
        with pytest.raises(FragmentsError):
            by(name, tools.recall, text="shop")


def test_sessions_of_one_name_do_not_meet(team: Room, environment: dict[str, str]) -> None:
    notes = {it: saved(it, f"Look at the vault of {it}", scope="session") for it in AGENTS}
    for agent in AGENTS:
        for said in (by(agent, tools.context), by(agent, tools.recall, text="vault")):
            assert set(ID.findall(said)) & {*notes.values()} == {notes[agent]}
    served = ServedFragments(Settings(), environment)
    served.end_session("alice", "s1")
    assert [it.deletion for it in stored(team, *notes.values())] == ["ended", "", ""]
    with team.engine.reading() as reading:
        ended = {it.agent: bool(it.ended_at) for it in reading.entries(Activity)}
    assert ended == {"alice": True, "bob": False, "default": False}
    assert "without reflect: 1" in by("alice", tools.context, session="s2")
    assert "without reflect" not in by("bob", tools.context, session="s2")


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


@pytest.mark.long  # it costs much
def test_a_shared_fragment_that_is_used_stays_hot(team: Room, three: dict[str, str]) -> None:
    [shared] = stored(team, three["default"])
    with team.engine.writing() as writing:
        writing.touch([shared.number], {"tier": "cold"})
    for agent in ("alice", "bob"):
        room = team.for_agent(agent)
        for _ in range(2):
            assert count_use(room, stored(room, three["default"], three[agent]), "s1")
    [used, mine] = stored(team, three["default"], three["alice"])
    assert (used.access_count, used.sessions_count, used.tier) == (4, 2, "hot")
    assert (mine.access_count, mine.last_session) == (2, "s1")
    assert "s1" not in used.last_session
    assert replace(used, access_count=0, accessed_at="", sessions_count=0, last_session="",
                   tier="hot") == replace(shared, tier="hot")  # fmt: skip


@pytest.mark.long  # it costs much
def test_upkeep_that_an_agent_asks_for_shows_nothing_of_others(team: Room) -> None:
    for agent in AGENTS:
        for count in (20, 50):
            saved(agent, f"The pool of {agent} holds {count} connections", topic="pool")
    said = by("alice", tools.memory_consolidate)
    assert "pool of alice" in said
    assert "bob" not in said and "pool of default" not in said
    with team.engine.reading() as reading:
        assert len(reading.find(Wanted(checked_before="0"))) == 0  # those of bob, too
    counted = by("alice", tools.memory_stats)
    assert "Fragments: 4 " in counted and "bob" not in counted
    assert "removed for good" not in counted


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
    assert "one person's" in refusal("bob", tools.recall, text="shop")


_WHO = st.sampled_from(AGENTS)
_VERBS = ("remember", "amend", "forget", "hard", "pin", "supersede", "end", "link")
_STEPS = st.lists(
    st.tuples(_WHO, st.sampled_from(_VERBS), st.integers(0, 7), st.integers(0, 7)), max_size=14
)


@pytest.mark.long  # it costs much
@settings(
    max_examples=min(settings().max_examples, 12),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(steps=_STEPS)
def test_whatever_agents_do_each_sees_and_changes_what_a_plain_model_says(
    team: Room, steps: list[tuple[str, str, int, int]]
) -> None:
    """The model: the owner of each id."""
    with team.engine.writing() as writing:
        writing.drop([it.id for it in writing.find(Wanted(state="all"))])
    owner = dict[str, str]()
    for step, (agent, verb, at, other) in enumerate(steps):
        room = team.for_agent(agent)
        if verb == "remember" or not owner:
            made = remember(room, Draft(content=f"Part {at} of the plan"), session="s1").fragment
            owner[made.id] = agent
            assert made.agent == agent
            continue
        ids = list(owner)
        id_, to = ids[at % len(ids)], ids[other % len(ids)]
        is_own, before = owner[id_] == agent, stored(team, *ids)
        try:
            _do(agent, verb, id_, to, f"Step {step} changed it")
        except FragmentsError:
            assert stored(team, *ids) == before
        else:
            now = {it.id: it for it in stored(team, *ids)}
            touched = [it.id for it in before if now.get(it.id) != it]
            assert verb == "end" or is_own or verb == "link"
            assert {owner[it] for it in touched} <= {agent}
        _learn(team, owner)
    for agent in AGENTS:
        with team.for_agent(agent).engine.reading() as reading:
            seen = {it.id for it in reading.find(Wanted(state="all"))}
            links = reading.links(list(owner))
        assert seen == {it for it, its in owner.items() if its in (agent, "default")}
        assert {it for link in links for it in (link.from_id, link.to_id)} <= seen


def _do(agent: str, verb: str, id_: str, to: str, content: str) -> None:
    if verb == "amend":
        by(agent, tools.amend, id=id_, content=content)
    elif verb == "supersede":
        by(agent, tools.amend, id=id_, content=content, supersedes=True)
    elif verb in ("forget", "hard"):
        by(agent, tools.forget, id=id_, hard=verb == "hard")
    elif verb == "pin":
        by(agent, tools.pin, id=id_)
    elif verb == "link":
        by(agent, tools.link, fromId=id_, toId=to)
    else:
        end_session(open_room(Settings(), os.environ).for_agent(agent), "s1")


def _learn(team: Room, owner: dict[str, str]) -> None:
    with team.engine.reading() as reading:
        there = {it.id: it for it in reading.find(Wanted(state="all"))}
    for id_ in [it for it in owner if it not in there]:
        del owner[id_]
    owner.update({it.id: it.agent for it in there.values()})
