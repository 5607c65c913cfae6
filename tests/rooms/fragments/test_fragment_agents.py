"""Tests that no tool tells an agent of another's rows, or changes them, by any name of them.

Each text of each tool takes each name of another's rows. Rows that all agents share are read by
all and changed by none of them.
"""

import inspect
import os
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from core.config import FRAGMENTS_VARIABLE, Settings
from core.errors import SentinelError
from core.text.plain import Budget
from protocol.call import Caller, set_caller
from rooms.fragments import tools
from rooms.fragments.fragment import Activity, Amendment, Filter, FragmentsError, Link, Version
from rooms.fragments.room import Room, open_room
from rooms.fragments.upkeep.consolidation import ServedFragments
from rooms.fragments.versions import amend
from tests.support.fragments_room import all_of, links_of, saved
from tests.support.tables import table
from tests.support.team_engines import TeamServer

TELLING = "vault"  # stands in another's texts, and in no name of them
# Names of another's rows or of everybody; a valid call of each tool; its parameters that are lists,
# and those that hold no text.
_TABLE = table("fragment_calls")
NAMES: dict[str, str] = _TABLE["names"]
CALLS: dict[str, dict[str, Any]] = _TABLE["calls"]
LISTS, NO_TEXTS = {*_TABLE["lists"]}, {*_TABLE["no texts"]}
USE = ("access_count", "accessed_at", "sessions_count", "last_session", "tier")


@pytest.fixture
def team(team_server: TeamServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    for name in ("SENTINEL_MEMORY_AGENT", "SENTINEL_MEMORY_EMBEDDINGS", "SENTINEL_MEMORY_ANSWERS"):
        monkeypatch.delenv(name, raising=False)
    place = team_server.emptied_dsn()
    monkeypatch.setenv(FRAGMENTS_VARIABLE, place)
    room = open_room(Settings(), {FRAGMENTS_VARIABLE: place})
    yield room
    room.engine.close()


@pytest.fixture
def ids(team: Room) -> dict[str, str]:
    """By word the id of each agent's fragment on one matter, bob's with a version and a link."""

    def said(agent: str, content: str) -> str:
        how: Any = {"topic": "zoo", "keywords": ("stripes",), "session": f"s-{agent}"}
        return saved(team.for_agent(agent), content, **how).id

    bobs = team.for_agent("bob")
    shared = said("default", "The zebra note of all is on the shelf")
    theirs = said("bob", f"The zebra note of Bob is in the {TELLING}")
    amend(bobs, Amendment(id=theirs, importance=0.9), session="s-bob")
    other = said("bob", f"The {TELLING} of Bob has two doors")
    with bobs.engine.writing() as rows:
        rows.put_links([Link(from_id=theirs, to_id=it) for it in (other, shared)])
    return {"OWN": said("alice", "A zebra note of Alice"), "SHARED": shared, "THEIRS": theirs}


def of_others(team: Room) -> list[object]:
    """All rows that are not alice's, but for the uses of shared ones."""
    fragments = [asdict(it) for it in all_of(team) if it.agent != "alice"]
    for it in fragments:
        if it["agent"] == "default":
            it.update(dict.fromkeys(USE))
    bobs = [it["id"] for it in fragments if it["agent"] == "bob"]
    with team.engine.reading() as rows:
        versions = [it for id_ in bobs for it in rows.entries(Version, subject=id_)]
        activities = [it for it in rows.entries(Activity) if it.agent == "bob"]
    return [fragments, links_of(team, *bobs), versions, activities]


def by(agent: str, tool: Callable[..., str], **arguments: Any) -> str:
    """The answer of a tool to an agent over HTTP."""
    with set_caller(Caller(agent=agent, session=f"s-{agent}", client="cursor")):
        try:
            return tool(**arguments)
        except SentinelError as error:
            return str(error)


def ways(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """A tool, and its arguments: each text in turn is this name of another's rows."""
    for tool, call in CALLS.items():
        yield tool, call
        parameters = inspect.signature(getattr(tools, tool)).parameters
        for it in (it for it in parameters if it not in NO_TEXTS):
            value: Any = [name] if it in LISTS else name
            yield tool, call | {it: tools.Filters(tags=[name]) if it == "filters" else value}


@pytest.mark.row("002 2.19")
@pytest.mark.parametrize(
    "name",
    [*("agent", "id"), *(pytest.param(it, marks=pytest.mark.long) for it in [*NAMES][2:])],
)
def test_no_way_to_name_anothers_rows_tells_of_them_or_changes_them(
    team: Room, ids: dict[str, str], name: str
) -> None:
    def filled(value: Any) -> Any:
        if isinstance(value, list):
            return [filled(it) for it in value]
        if not isinstance(value, str):
            return value
        return re.sub("OWN|SHARED|THEIRS", lambda it: ids[it[0]], value)

    assert {it.function.__name__ for it in tools.TOOLS} | {"fragment"} == CALLS.keys()
    said = by("alice", tools.memory_consolidate)  # else it may be due in between
    assert said == "Upkeep done, for all agents."
    before, bobs = of_others(team), {it.id for it in all_of(team) if it.agent == "bob"}
    own = filled(NAMES[name])  # alice's own words
    for tool, arguments in ways(NAMES[name]):
        given = {it: filled(value) for it, value in arguments.items()}
        said = by("alice", getattr(tools, tool), **given)
        told = [it for it in (TELLING, *bobs) if it in said and it not in own]
        assert told == [], (tool, given)
        if tool == "memory_consolidate":  # which is of the whole room
            before = of_others(team)
        assert of_others(team) == before, (tool, given)


@pytest.mark.row("002 2.19", "002 2.70.a")
def test_a_prompt_has_an_agents_own_and_over_stdio_the_environment_names_the_agent(
    team: Room, ids: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for agent, own in (("alice", "OWN"), ("bob", "THEIRS"), ("default", "SHARED")):
        with set_caller(Caller(agent=agent)):
            injected = "\n".join(tools.prompt_lines("zebra note", Budget(1_000, 10_000)))
        assert {it for it in ids if ids[it] in injected} == {own, "SHARED"}
    assert "Shared by all agents, so kept: 1." in by("alice", tools.forget, topic="zoo")
    assert "backups of the server" in by("bob", tools.forget, id=ids["THEIRS"], hard=True)
    monkeypatch.setattr(tools._Room, "is_used", False)
    monkeypatch.setenv("SENTINEL_MEMORY_AGENT", "bob")
    of_bob = tools.remember(content="The shop of bob has two doors").split(": ")[1][:8]
    assert of_bob in by("bob", tools.recall, text="shop doors")
    assert of_bob not in by("alice", tools.recall, text="shop doors")
    monkeypatch.setenv("SENTINEL_MEMORY_AGENT", "system")
    with pytest.raises(FragmentsError, match="SENTINEL_MEMORY_AGENT: system is no name"):
        tools.recall(text="shop node")


@pytest.mark.row("002 2.46")
def test_a_session_that_two_processes_end_at_once_is_noted_once(
    team: Room, ids: dict[str, str]
) -> None:
    served = ServedFragments(Settings(), os.environ)
    with ThreadPoolExecutor(6) as threads:
        list(threads.map(served.end_session, ["alice"] * 6, ["s-alice"] * 6))
    noted = all_of(team, Filter(kinds=("fact",), topics=("session",)))
    assert [(it.agent, it.source) for it in noted] == [("alice", "s-alice")]


@pytest.mark.row("002 2.102")
def test_the_door_over_a_file_serves_one_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FRAGMENTS_VARIABLE, str(tmp_path / "memory.db"))
    assert "Remembered" in by("default", tools.remember, content="The shop runs on Node 20")
    assert "one person's" in by("bob", tools.recall, text="shop")
