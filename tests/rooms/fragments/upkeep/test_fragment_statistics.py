"""Tests what is counted for `memory_stats`, `stats` and the page."""

import pytest

from rooms.fragments.bin import forget
from rooms.fragments.fragment import Activity, Embedding
from rooms.fragments.links import link
from rooms.fragments.room import Room
from rooms.fragments.upkeep.consolidation import consolidate
from rooms.fragments.upkeep.statistics import Statistics, statistics_of
from rooms.fragments.versions import Amendment, amend
from tests.support.both_engines import kept_in as kept_in
from tests.support.fragments_room import Clock, is_unused
from tests.support.upkeep_room import changed, saved


def test_of_a_room_where_nothing_was_saved_all_is_nothing(room: Room) -> None:
    assert statistics_of(room) == Statistics(figures={"purged": 0})
    assert is_unused(room)


@pytest.mark.row("002 2.50.a")
def test_each_fragment_is_counted_by_what_it_is(room: Room, clock: Clock) -> None:
    one = saved(room, "The shop runs on Node 20", topic="node")
    saved(room, "Deploys happen on Mondays", type="decision", topic="deploy", is_anchor=True)
    lost = saved(room, "The old server is called heron", topic="server")
    gone = saved(room, "The older server is called crane", topic="servers")
    episodic = saved(room, "The release went well", type="episodic", topic="release")
    link(room, one.id, episodic.id, "part_of")
    amend(room, Amendment(id=one.id, topic="runtime"))
    amend(room, Amendment(id=one.id, content="The shop runs on Node 22", supersedes=True))
    forget(room, id=lost.id)
    forget(room, id=gone.id, hard=True)
    with room.engine.writing() as writing:
        writing.put_vectors([Embedding(episodic.number, bytes(8))])
        writing.set_state({"embedding_model": "small"})
        writing.note([Activity(session_id="s", written=2), Activity(session_id="t")])
    found = statistics_of(room)
    assert (found.live, found.superseded, found.deleted) == (3, 1, {"forgotten": 1})
    assert found.kinds == {"decision": 1, "fact": 2}
    assert found.lifetimes == {"episodic": 1, "semantic": 2}
    assert found.tiers == {"hot": 2, "permanent": 1} and found.anchors == 1
    assert found.agents == {"default": 3}
    assert found.links["superseded_by"] == 1 and found.links["part_of"] >= 1
    assert (found.versions, found.with_vector, found.model) == (1, 1, "small")
    assert found.figures["purged"] == 1
    assert found.unreflected == 1 and found.upkeep_at == ""


def test_the_last_upkeep_and_what_waits_are_named(room: Room, clock: Clock) -> None:
    saved(room, "The pool holds 20 connections", topic="pool")
    saved(room, "The pool holds 50 connections", topic="pool")
    consolidate(room)
    found = statistics_of(room)
    assert found.upkeep_at == clock() and found.upkeep["contradictions"]["suspected"] == 1
    assert found.suspicions == 1


def test_an_agent_sees_its_own_and_what_is_everybodys(room: Room) -> None:
    saved(room, "The shop runs on Node 20")
    changed(room, saved(room, "Kim likes tabs"), agent="kim")
    changed(room, saved(room, "Lee likes spaces"), agent="lee")
    assert statistics_of(room, agent="kim").agents == {"default": 1, "kim": 1}
    assert statistics_of(room).live == 3


def test_what_another_program_left_in_the_state_is_passed_over(room: Room) -> None:
    saved(room, "The shop runs on Node 20")
    with room.engine.writing() as writing:
        writing.set_state({"upkeep_figures": "[", "purged": "many", "upkeep": "[]"})
    found = statistics_of(room)
    assert found.upkeep == {} and found.figures["purged"] == 0
