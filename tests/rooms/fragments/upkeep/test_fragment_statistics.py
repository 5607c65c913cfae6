"""Tests what is counted for `memory_stats`, `stats`, the page and the operator of a server."""

import math
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.config import Settings
from rooms.fragments.bin import forget
from rooms.fragments.draft import Draft, remember
from rooms.fragments.fragment import Activity, Embedding
from rooms.fragments.links import link
from rooms.fragments.room import Room, open_room
from rooms.fragments.upkeep.consolidation import consolidate
from rooms.fragments.upkeep.service import ServedFragments
from rooms.fragments.upkeep.statistics import Statistics, statistics_of
from rooms.fragments.versions import Amendment, amend
from tests.support.both_engines import IN_A_FILE
from tests.support.both_engines import kept_in as kept_in
from tests.support.fragments_room import Clock, is_unused, saved, state_of


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
    with room.engine.writing() as rows:
        rows.put_vectors([Embedding(episodic.number, bytes(8))])
        rows.set_state({"embedding_model": "small", "strange": "many"})
        rows.note([Activity(session_id="s", written=2), Activity(session_id="t")])
    found = statistics_of(room)
    assert (found.live, found.superseded, found.deleted) == (3, 1, {"forgotten": 1})
    assert found.left_out == 2
    assert found.kinds == {"decision": 1, "fact": 2}
    assert found.lifetimes == {"episodic": 1, "semantic": 2}
    assert found.tiers == {"hot": 2, "permanent": 1} and found.anchors == 1
    assert found.agents == {"default": 3}
    assert found.links["superseded_by"] == 1 and found.links["part_of"] >= 1
    assert (found.versions, found.with_vector, found.model) == (1, 1, "small")
    assert found.least_cosine == 0.5  # as long as nothing is measured
    chosen = replace(room, config=room.config._replace(least_cosine=0.3))
    assert statistics_of(chosen).least_cosine == 0.3
    assert found.figures["purged"] == 1 and "strange" not in found.figures
    assert found.unreflected == 1 and found.upkeep_at == ""


def test_the_last_upkeep_and_what_waits_are_named(room: Room, clock: Clock) -> None:
    saved(room, "The pool holds 20 connections", topic="pool")
    saved(room, "The pool holds 50 connections", topic="pool")
    consolidate(room)
    found = statistics_of(room)
    assert found.upkeep_at == clock() and found.upkeep["contradictions"]["suspected"] == 1
    assert found.suspicions == 1
    with room.engine.writing() as rows:
        rows.set_state({"upkeep_figures": "["})  # as another program left it
    assert statistics_of(room).upkeep == {}


def tended(served: ServedFragments, until: Callable[[], object]) -> None:
    """Have its upkeep done by a thread of this process until a condition holds."""
    stop = threading.Event()
    thread = threading.Thread(target=served.tend, args=(stop,))
    thread.start()
    ends = datetime.now(UTC) + timedelta(seconds=60)
    while not until() and datetime.now(UTC) < ends:
        stop.wait(0.01)
    stop.set()
    thread.join()


@IN_A_FILE
def test_a_server_has_figures_for_its_operator_which_are_none_while_nothing_can_be_read(
    tmp_path: Path,
) -> None:
    environment = {"SENTINEL_MEMORY_FRAGMENTS": str(tmp_path / "memory.db")}
    room = open_room(Settings(), environment)
    gone = remember(room, Draft(content="The old server is called heron")).fragment
    remember(room, Draft(content="The shop runs on Node 20"))
    forget(room, id=gone.id)
    served = ServedFragments(Settings(), environment, pause_s=0.01)
    tended(served, lambda: served.figures.get("fragments_last_upkeep_timestamp_seconds"))
    ended = datetime.fromisoformat(state_of(room)["upkeep_at"]).timestamp()
    assert served.figures == {
        "fragments_live": 1,
        "fragments_superseded": 0,
        "fragments_in_bin": 1,
        "fragments_missing_vectors": 1,
        "fragments_last_upkeep_timestamp_seconds": ended,
        "judge_failures": 0,
        "embedding_failures": 0,
    }
    room.engine.close()
    room.config.path.write_bytes(b"no database")
    tended(served, lambda: not served.figures)
    assert served.figures == {}
    assert all(map(math.isnan, (gauge() for gauge in served.gauges().values())))


@IN_A_FILE
def test_a_server_ends_sessions_that_were_silent_for_as_long_as_its_operator_says(
    tmp_path: Path,
) -> None:
    environment = {"SENTINEL_MEMORY_FRAGMENTS": str(tmp_path / "memory.db")}
    room, now = open_room(Settings(), environment), datetime.now(UTC)
    remember(room, Draft(content="The shop runs on Node 20"))
    moments = [(now - timedelta(minutes=it)).isoformat(timespec="seconds") for it in (61, 5)]
    with room.engine.writing() as rows:
        rows.note(Activity(session_id=f"s{it}", last_at=it, started_at=it) for it in moments)

    def ended() -> list[bool]:
        with room.engine.reading() as rows:
            return [bool(it.ended_at) for it in rows.entries(Activity)]

    silent_for = timedelta(minutes=60)
    served = ServedFragments(Settings(), environment, silent_for=silent_for, pause_s=0.01)
    tended(served, lambda: any(ended()))
    assert ended() == [True, False]
