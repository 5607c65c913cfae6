"""Plays five years of fragments: what is used stays, the rest goes, and all of it is counted."""

import pytest

from rooms.fragments.room import Room
from rooms.fragments.upkeep.daily import tend
from rooms.fragments.upkeep.statistics import statistics_of
from tests.support.fragments_room import Clock
from tests.support.upkeep_room import all_of, changed, now_of, saved

MONTHS = 60


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.83", "002 2.97")
def test_five_years_keep_what_is_used_and_pinned_and_let_the_rest_go(
    room: Room, clock: Clock
) -> None:
    used = saved(room, "Deploy with the blue script", type="fact", topic="deploy")
    pinned = saved(room, "Backups lie in Frankfurt", type="fact", topic="backup", is_anchor=True)
    taste = saved(room, "Prefers answers in Korean", type="preference", topic="language")
    way = saved(room, "Release: test, tag, push", type="procedure", topic="release")
    most = 0
    for month in range(MONTHS):
        saved(room, f"In month {month} the team tried plan {month * 7}", type="fact", topic="plan")
        saved(room, f"Meeting {month} was moved", type="episodic", topic="plan")
        saved(room, f"Today the port is {month + 2_000}", type="working", topic="port")
        clock.wait(days=30)
        changed(room, used, accessed_at=clock(), access_count=month + 1)
        tend(room)
        most = max(most, statistics_of(room).live)
    there = {it.id for it in all_of(room) if it.is_live}
    assert {used.id, pinned.id, taste.id, way.id} <= there
    assert now_of(room, used).tier == "hot" and now_of(room, used).importance == 0.5
    assert now_of(room, pinned).importance == 0.5
    assert now_of(room, taste).importance < 0.2  # nobody asked for it, and it is there
    found = statistics_of(room)
    assert found.acknowledged == 4 + 3 * MONTHS
    assert most < 30 and found.live < 15  # months of facts, not years
    assert found.figures["expired"] + found.figures["stale"] > 160
    assert found.figures["purged"] > 150 and sum(found.deleted.values()) < 15
