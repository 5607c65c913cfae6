"""Tests each step of the upkeep by what it changes, what it leaves, and what it counts."""

import sqlite3
from contextlib import closing

import pytest

from rooms.fragments.bin import forget
from rooms.fragments.fragment import (
    Activity,
    Embedding,
    Link,
    TaskFeedback,
    ToolFeedback,
    Version,
    Wanted,
)
from rooms.fragments.links import link
from rooms.fragments.room import Room
from rooms.fragments.upkeep.consolidation import consolidate
from rooms.fragments.upkeep.passes import STEPS
from rooms.fragments.versions import Amendment, amend
from tests.support.both_engines import IN_A_FILE, SELDOM_ON_A_SERVER
from tests.support.both_engines import kept_in as kept_in
from tests.support.fragments_room import Clock, is_unused
from tests.support.upkeep_room import all_of, changed, figures_of, links_of, now_of, saved, state_of


@pytest.mark.row("002 2.65.a")
def test_there_are_the_eleven_steps_of_the_specification_in_their_order() -> None:
    assert [it.name for it in STEPS] == [
        *("tiers", "decay", "expiry", "duplicates", "embeddings", "utility", "anchors"),
        *("contradictions", "suspicions", "feedback", "tidying"),
    ]


def test_a_room_where_nothing_was_saved_stays_one(room: Room) -> None:
    report = consolidate(room)
    assert figures_of(report) == {} and len(report.steps) == 11
    assert is_unused(room) and not list(room.config.path.parent.iterdir())


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.54")
def test_fragments_move_down_the_tiers_and_up_again(room: Room, clock: Clock) -> None:
    one, used = saved(room, "The shop runs on Node 20"), saved(room, "Deploys happen on Mondays")
    pinned = saved(room, "Never push to main", is_anchor=True)
    clock.wait(days=8)
    assert figures_of(consolidate(room))["tiers"] == {"to_warm": 2}
    clock.wait(days=23)
    changed(room, used, accessed_at=clock(), access_count=1)
    assert figures_of(consolidate(room))["tiers"] == {"to_cold": 1, "to_hot": 1}
    tiers = [now_of(room, it).tier for it in (one, used, pinned)]
    assert tiers == ["cold", "hot", "permanent"]
    assert "tiers" not in figures_of(consolidate(room))


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.55")
def test_what_is_cold_loses_importance_and_what_is_pinned_does_not(
    room: Room, clock: Clock
) -> None:
    one = saved(room, "Prefers short answers", type="preference")
    pinned = saved(room, "Prefers Korean comments", type="preference", is_anchor=True)
    clock.wait(days=30 + 26 * 7)
    assert figures_of(consolidate(room))["decay"] == {"decayed": 1}
    assert round(now_of(room, one).importance, 9) == 0.45
    assert now_of(room, pinned).importance == 0.9
    assert "decay" not in figures_of(consolidate(room))


@pytest.mark.long  # it costs much
@pytest.mark.row("004 4.13", "004 4.6")
def test_the_end_of_a_lifetime_leads_to_the_bin_and_thirty_days_later_away(
    room: Room, clock: Clock
) -> None:
    working = saved(room, "The test server listens on 8081", type="working")
    pinned = saved(room, "The token is rotated by Kim", type="working", is_anchor=True)
    episodic = saved(room, "The release of May went well", type="episodic")
    clock.wait(hours=49)
    assert figures_of(consolidate(room))["expiry"] == {"expired": 1}
    assert now_of(room, working).deletion == "expired" and now_of(room, pinned).is_live
    clock.wait(days=30)
    assert "expiry" not in figures_of(consolidate(room))
    clock.wait(days=1)
    assert figures_of(consolidate(room))["expiry"] == {"purged": 1}
    assert [it.id for it in all_of(room)] == [pinned.id, episodic.id]
    clock.wait(days=60)
    assert figures_of(consolidate(room))["expiry"] == {"expired": 1}
    assert {"expired": "2", "purged": "1"}.items() <= state_of(room).items()


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.30", "002 2.30.a", "002 2.56", "002 2.64.a", "002 2.83")
def test_only_what_may_go_stale_does(room: Room, clock: Clock) -> None:
    words = ("fact", "decision", "relation", "error", "preference", "procedure", "semantic")
    for word in words:
        saved(room, f"What is known of {word}", type=word)
    clock.wait(days=61)
    assert figures_of(consolidate(room))["expiry"] == {"stale": 2}
    clock.wait(days=30)
    assert figures_of(consolidate(room))["expiry"] == {"stale": 1}
    clock.wait(days=20_000)
    report = consolidate(room)
    assert figures_of(report)["expiry"] == {"purged": 3}
    left = {it.kind for it in all_of(room)}
    assert left == {"error", "preference", "procedure", "fact"}
    assert [it.kind for it in report.stale] == ["procedure"]


def test_what_was_forgotten_leaves_the_bin_as_well(room: Room, clock: Clock) -> None:
    one = saved(room, "The old server is called heron")
    forget(room, id=one.id)
    clock.wait(days=31)
    assert figures_of(consolidate(room))["expiry"] == {"purged": 1}
    assert all_of(room) == []


def equal(room: Room, clock: Clock) -> list[str]:
    """Three fragments of one content, as an import of another program's data may leave them."""
    same = "Check REDIS_PASSWORD first"
    first = saved(room, same, keywords=("redis",), importance=0.5)
    clock.wait(hours=1)
    amended = saved(room, "Check it", keywords=("noauth",), importance=0.9, type="working")
    amend(room, Amendment(id=amended.id, topic="redis"))
    now = now_of(room, amended)
    again = changed(room, now, content=same, content_hash=first.content_hash, access_count=3)
    third = saved(room, "Check that", importance=0.2)
    third = changed(room, third, content=same, content_hash=first.content_hash, access_count=2)
    return [first.id, again.id, third.id]


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.57")
def test_the_most_important_of_equal_fragments_stays_and_has_what_all_had(
    room: Room, clock: Clock
) -> None:
    first, kept, third = equal(room, clock)
    other = saved(room, "The cache is Redis 7")
    link(room, first, other.id, "caused_by")
    link(room, third, kept, "related")
    assert figures_of(consolidate(room))["duplicates"] == {"merged": 2}
    [left] = all_of(room, Wanted(keywords=("noauth",)))
    assert left.id == kept and {"noauth", "redis"} <= {*left.keywords}
    assert (left.importance, left.access_count, left.lifetime) == (0.9, 5, "semantic")
    assert left.expires_at == ""  # the longest life of the three
    bin_ = all_of(room, Wanted(state="bin"))
    assert {(it.id, it.deletion, it.access_count) for it in bin_} == {
        (first, "merged", 0),
        (third, "merged", 0),
    }
    assert links_of(room, left) >= {
        (first, kept, "superseded_by"),
        (third, kept, "superseded_by"),
        (kept, other.id, "caused_by"),
    }
    with room.engine.reading() as reading:
        versions: list[Version] = reading.entries(Version, of=kept)
    assert [it.content for it in versions] == ["Check it"]
    assert "duplicates" not in figures_of(consolidate(room))


@pytest.mark.long  # it costs much
def test_equal_fragments_of_two_agents_and_pinned_ones_stay(room: Room, clock: Clock) -> None:
    first, kept, third = equal(room, clock)
    for fragment in all_of(room):
        owner = "kim" if fragment.id == third else fragment.agent
        changed(room, fragment, agent=owner, is_anchor=True, tier="permanent")
    assert "duplicates" not in figures_of(consolidate(room))
    assert {it.id for it in all_of(room, Wanted())} == {first, kept, third}


def test_missing_embeddings_are_counted_where_no_model_is_configured(room: Room) -> None:
    one = saved(room, "The shop runs on Node 20")
    saved(room, "Deploys happen on Mondays")
    with room.engine.writing() as writing:
        writing.put_vectors([Embedding(one.number, bytes(16))])
    assert figures_of(consolidate(room))["embeddings"] == {"missing": 1}


@pytest.mark.row("002 2.53.b", "002 2.59")
def test_the_figure_of_use_follows_importance_and_use(room: Room) -> None:
    one = saved(room, "The shop runs on Node 20", importance=0.5, access_count=10)
    consolidate(room)
    assert round(now_of(room, one).utility, 5) == 1.65129
    assert "utility" not in figures_of(consolidate(room))


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.60")
def test_what_is_worth_pinning_is_listed_and_not_pinned(room: Room) -> None:
    one = saved(room, "Check the token first", importance=0.8, access_count=10)
    more = saved(room, "Check the clock first", importance=0.8, access_count=50)
    saved(room, "Check the disk first", importance=0.7, access_count=10)
    report = consolidate(room)
    assert figures_of(report)["anchors"] == {"promotable": 2}
    assert [it.id for it in report.promotable] == [more.id, one.id]
    assert all_of(room, Wanted(is_anchor=True)) == []
    assert [it.count for it in report.steps if it.name == "anchors"] == [0]  # nothing has changed


@pytest.mark.row("002 2.63")
def test_feedback_is_reported_by_tool_and_thinned_after_a_year(room: Room, clock: Clock) -> None:
    saved(room, "The shop runs on Node 20")

    def note(relevant: bool, suggestion: str) -> None:
        with room.engine.writing() as writing:
            given = {"relevant": relevant, "sufficient": False, "suggestion": suggestion}
            writing.note([ToolFeedback(tool_name="recall", created_at=clock(), **given)])  # type: ignore[arg-type]

    note(False, "long ago")
    clock.wait(days=366)
    for place in range(4):
        note(place > 0, f"idea {place}" if place != 2 else " ")
    with room.engine.writing() as writing:
        writing.note([ToolFeedback(tool_name="context", relevant=True, sufficient=True)])
        done = TaskFeedback(overall_success=True, tool_pain_points=("slow",), created_at=clock())
        writing.note([done])
    report = consolidate(room)
    assert figures_of(report)["feedback"] == {"tools": 1, "answers": 4, "tasks": 1, "thinned": 2}
    [of_recall] = report.feedback
    assert (of_recall.tool, of_recall.count) == ("recall", 4)
    assert (of_recall.relevant, of_recall.sufficient) == (0.75, 0.0)
    assert of_recall.suggestions == ("idea 3", "idea 1", "idea 0")


@pytest.mark.row("002 2.64")
@IN_A_FILE  # a server takes none
def test_links_that_lead_nowhere_and_old_activities_are_tidied_up(room: Room, clock: Clock) -> None:
    one = saved(room, "The shop runs on Node 20", is_anchor=True)
    with room.engine.writing() as writing:
        writing.put_links([Link(from_id=one.id, to_id="nobody"), Link(from_id="no", to_id=one.id)])
        old = Activity(session_id="old", started_at=clock(), last_at=clock())
        writing.note([old])
    clock.wait(days=91)
    with room.engine.writing() as writing:
        writing.note([Activity(session_id="new", started_at=clock(), last_at=clock())])
    assert figures_of(consolidate(room))["tidying"] == {"links": 2, "activities": 1}
    assert links_of(room, one) == set()
    with room.engine.reading() as reading:
        assert [it.session_id for it in reading.entries(Activity)] == ["new"]


@pytest.mark.row("002 2.10.e", "002 2.64")
@IN_A_FILE
def test_an_index_that_has_got_out_of_step_is_mended(room: Room) -> None:
    one = saved(room, "The shop runs on Node 20", keywords=("node",))
    with closing(sqlite3.connect(room.config.path)) as connection, connection:
        connection.execute("DELETE FROM fragments_fts")
        connection.execute("INSERT INTO fragment_keywords VALUES ('ghost', 1, 99)")
    room.engine.close()
    assert figures_of(consolidate(room))["tidying"] == {"index": 1}
    with room.engine.reading() as reading:
        assert reading.with_keywords(["node", "ghost"], Wanted(), 5) == [(one.number, 1)]
        assert [it for held in reading.holding("Node", 5).terms for it in held.numbers or ()]
    assert "tidying" not in figures_of(consolidate(room))


@pytest.mark.long  # it costs much
@SELDOM_ON_A_SERVER
def test_pages_of_many_fragments_come_to_the_same_figures(room: Room, clock: Clock) -> None:
    for place in range(650):  # more than two pages
        saved(room, f"Fact {place} of the shop", topic=f"t{place}")
    clock.wait(days=61)
    figures = figures_of(consolidate(room))
    assert figures["tiers"] == {"to_cold": 650} and figures["expiry"] == {"stale": 650}
    clock.wait(days=31)
    assert figures_of(consolidate(room))["expiry"] == {"purged": 650}
