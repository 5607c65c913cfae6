"""Tests that no tool tells an agent of another's rows, or changes them, whatever names them.

Each text of each tool takes each name of what is another's. What all agents share is read by all
and changed by none of them.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

import pytest

from core.config import Settings
from core.errors import SentinelError
from protocol.call import Caller, calling
from rooms.fragments import tools
from rooms.fragments.draft import remember
from rooms.fragments.fragment import Activity, Amendment, Draft, Link, Version
from rooms.fragments.room import Room, open_room
from rooms.fragments.versions import amend
from tests.support.fragments_room import all_of, links_of
from tests.support.tables import table
from tests.support.team_engines import TeamServer

TELLING = "vault"  # stands in what is another's, and in no name of it
# What names something of another, or stands for everybody; a call of each tool that is in order;
# its parameters that are lists, and those that hold no text.
_TABLE = table("fragment_calls")
NAMES: dict[str, str] = _TABLE["names"]
CALLS: dict[str, dict[str, Any]] = _TABLE["calls"]
LISTS, NO_TEXTS = {*_TABLE["lists"]}, {*_TABLE["no texts"]}
USE = ("access_count", "accessed_at", "sessions_count", "last_session", "tier")


@pytest.fixture
def team(team_server: TeamServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    """The fragments of all agents."""
    for name in ("SENTINEL_MEMORY_AGENT", "SENTINEL_MEMORY_EMBEDDINGS", "SENTINEL_MEMORY_ANSWERS"):
        monkeypatch.delenv(name, raising=False)
    environment = {"SENTINEL_MEMORY_FRAGMENTS": team_server.emptied_dsn()}
    monkeypatch.setenv("SENTINEL_MEMORY_FRAGMENTS", environment["SENTINEL_MEMORY_FRAGMENTS"])
    room = open_room(Settings(), environment)
    yield room
    room.engine.close()


@pytest.fixture
def ids(team: Room) -> dict[str, str]:
    """What each agent has said of one matter, that of bob with a version and a link, by word."""

    def saved(agent: str, content: str) -> str:
        draft = Draft(content=content, topic="zoo", keywords=("stripes",))
        return remember(team.for_agent(agent), draft, session=f"s-{agent}").fragment.id

    bobs = team.for_agent("bob")
    shared = saved("default", "The zebra note of all is on the shelf")
    theirs = saved("bob", f"The zebra note of Bob is in the {TELLING}")
    amend(bobs, Amendment(id=theirs, importance=0.9), session="s-bob")
    other = saved("bob", f"The {TELLING} of Bob has two doors")
    with bobs.engine.writing() as rows:
        rows.put_links([Link(from_id=theirs, to_id=it) for it in (other, shared)])
    return {"OWN": saved("alice", "A zebra note of Alice"), "SHARED": shared, "THEIRS": theirs}


def of_others(team: Room) -> list[object]:
    """All that is not alice's, but for how often what all share was used."""
    fragments = [asdict(it) for it in all_of(team) if it.agent != "alice"]
    for it in fragments:
        if it["agent"] == "default":
            it.update(dict.fromkeys(USE))
    bobs = [it["id"] for it in fragments if it["agent"] == "bob"]
    with team.engine.reading() as rows:
        versions = [it for id_ in bobs for it in rows.entries(Version, of=id_)]
        activities = [it for it in rows.entries(Activity) if it.agent == "bob"]
    return [fragments, links_of(team, *bobs), versions, activities]


def answer(tool: Callable[..., str], arguments: dict[str, Any]) -> str:
    with calling(Caller(agent="alice", session="s-alice", client="cursor")):
        try:
            return tool(**arguments)
        except SentinelError as error:
            return str(error)


def ways(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """A tool, and its arguments: each text in turn is this name of what is another's."""
    for tool, call in CALLS.items():
        yield tool, call
        parameters = inspect.signature(getattr(tools, tool)).parameters
        for it in (it for it in parameters if it not in NO_TEXTS):
            value: Any = [name] if it in LISTS else name
            yield tool, call | {it: tools.Filters(tags=[name]) if it == "filters" else value}


def test_every_tool_has_a_call() -> None:
    assert {it.function.__name__ for it in tools.TOOLS} | {"fragment"} == CALLS.keys()


@pytest.mark.row("002 2.19")
@pytest.mark.parametrize(
    "name",
    [*("agent", "id"), *(pytest.param(it, marks=pytest.mark.long) for it in [*NAMES][2:])],
)
def test_no_way_to_name_anothers_rows_tells_of_them_or_changes_them(
    team: Room, ids: dict[str, str], name: str
) -> None:
    def filled(value: Any) -> Any:
        """Put the ids in the place of their words."""
        if isinstance(value, list):
            return [filled(it) for it in value]
        if not isinstance(value, str):
            return value
        return re.sub("OWN|SHARED|THEIRS", lambda it: ids[it[0]], value)

    answer(tools.memory_consolidate, {})  # else it may be due in between
    before, bobs = of_others(team), {it.id for it in all_of(team) if it.agent == "bob"}
    own = filled(NAMES[name])  # what alice has said herself
    for tool, arguments in ways(NAMES[name]):
        given = {it: filled(value) for it, value in arguments.items()}
        said = answer(getattr(tools, tool), given)
        told = [it for it in (TELLING, *bobs) if it in said and it not in own]
        assert told == [], (tool, given)
        if tool == "memory_consolidate":  # which is of the whole room
            before = of_others(team)
        assert of_others(team) == before, (tool, given)
