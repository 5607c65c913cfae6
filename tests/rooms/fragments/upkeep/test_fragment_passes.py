"""Tests each step of the upkeep by what it changes, what it leaves, and what it counts."""

import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from rooms.fragments.bin import forget
from rooms.fragments.errors import ServiceError
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
from rooms.fragments.models.embedding import Embedder
from rooms.fragments.room import Room
from rooms.fragments.upkeep.consolidation import consolidate
from rooms.fragments.upkeep.passes import PASSES, STEPS
from rooms.fragments.versions import Amendment, amend
from tests.support.both_engines import IN_A_FILE, SELDOM_ON_A_SERVER
from tests.support.both_engines import kept_in as kept_in
from tests.support.fragments_room import (
    Clock,
    a_room,
    add,
    all_of,
    changed,
    figures_of,
    is_unused,
    links_of,
    now_of,
    saved,
    state_of,
)


def counted(room: Room, step: str) -> dict[str, int]:
    """What a step of a consolidation counts, but for 0."""
    return figures_of(consolidate(room)).get(step, {})


@pytest.mark.row("002 2.65.a")
def test_the_eleven_steps_of_the_specification_run_in_their_order_in_eight_passes() -> None:
    assert [[it.name for it in some.steps] for some in PASSES] == [
        ["tiers", "decay", "expiry"],
        *(["duplicates"], ["embeddings"]),
        ["utility", "anchors"],
        *(["contradictions"], ["suspicions"], ["feedback"], ["tidying"]),
    ]
    assert len(STEPS) == 11


def test_a_room_where_nothing_was_saved_stays_one(room: Room) -> None:
    report = consolidate(room)
    assert figures_of(report) == {} and len(report.steps) == 11
    assert is_unused(room) and not list(room.config.path.parent.iterdir())


@pytest.mark.row("002 2.54", "002 2.55")
def test_what_is_not_used_cools_and_loses_importance_and_what_is_pinned_does_neither(
    room: Room, clock: Clock
) -> None:
    one, used, pinned = (
        saved(room, content, type="preference", is_anchor="Never" in content)
        for content in ("Prefers short answers", "Deploys on Mondays", "Never push to main")
    )
    clock.wait(days=30 + 26 * 7)
    changed(room, used, accessed_at=clock(), access_count=1, tier="cold")
    report = figures_of(consolidate(room))
    assert (report["tiers"], report["decay"]) == ({"to_cold": 1, "to_hot": 1}, {"decayed": 1})
    left = [now_of(room, it) for it in (one, used, pinned)]
    assert [it.tier for it in left] == ["cold", "hot", "permanent"]
    assert [round(it.importance, 9) for it in left] == [0.45, 0.9, 0.9]
    assert not {"tiers", "decay"} & figures_of(consolidate(room)).keys()


@pytest.mark.long  # it costs much
@pytest.mark.row("004 4.13", "004 4.6")
def test_the_end_of_a_lifetime_leads_to_the_bin_and_thirty_days_later_away(
    room: Room, clock: Clock
) -> None:
    working = saved(room, "The test server listens on 8081", type="working")
    pinned = saved(room, "The token is rotated by Kim", type="working", is_anchor=True)
    episodic = saved(room, "The release of May went well", type="episodic")
    forgotten = saved(room, "The old server is called heron")
    clock.wait(hours=49)
    forget(room, id=forgotten.id)
    assert counted(room, "expiry") == {"expired": 1}
    assert now_of(room, working).deletion == "expired" and now_of(room, pinned).is_live
    clock.wait(days=30)
    assert counted(room, "expiry") == {}
    clock.wait(days=1)
    assert counted(room, "expiry") == {"purged": 2}
    assert [it.id for it in all_of(room)] == [pinned.id, episodic.id]
    clock.wait(days=60)
    assert counted(room, "expiry") == {"expired": 1}
    assert {"expired": "2", "purged": "2"}.items() <= state_of(room).items()


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.30", "002 2.30.a", "002 2.56", "002 2.64.a", "002 2.83")
def test_only_what_may_go_stale_does_and_has_decayed_when_it_goes(room: Room, clock: Clock) -> None:
    words = ("fact", "decision", "relation", "error", "preference", "procedure", "semantic")
    kept = {word: saved(room, f"What is known of {word}", type=word) for word in words}
    clock.wait(days=61)
    assert counted(room, "expiry") == {"stale": 2}
    gone = now_of(room, kept["fact"])
    assert (gone.deletion, gone.tier) == ("stale", "cold") and gone.importance < 0.5
    clock.wait(days=30)
    assert counted(room, "expiry") == {"stale": 1}
    clock.wait(days=20_000)
    report = consolidate(room)
    assert figures_of(report)["expiry"] == {"purged": 3}
    left = {it.kind for it in all_of(room)}
    assert left == {"error", "preference", "procedure", "fact"}
    assert [it.kind for it in report.stale] == ["procedure"]


def equal(room: Room, clock: Clock) -> list[str]:
    """Three fragments of one content, as an import of another program's data may leave them."""
    same = "Check REDIS_PASSWORD first"
    first = saved(room, same, keywords=("redis",), importance=0.5)
    clock.wait(hours=1)
    amended = saved(room, "Check it", keywords=("noauth",), importance=0.9, type="working")
    amend(room, Amendment(id=amended.id, topic="redis"))
    third = saved(room, "Check that", importance=0.2)
    for fragment, uses in ((amended, 3), (third, 2)):
        fields = {"content_hash": first.content_hash, "access_count": uses}
        changed(room, now_of(room, fragment), content=same, **fields)
    return [first.id, amended.id, third.id]


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.57")
def test_the_most_important_of_equal_fragments_stays_and_has_what_all_had(
    room: Room, clock: Clock
) -> None:
    first, kept, third = equal(room, clock)
    other = saved(room, "The cache is Redis 7")
    link(room, first, other.id, "caused_by")
    link(room, third, kept, "related")
    assert counted(room, "duplicates") == {"merged": 2}
    [left] = all_of(room, Wanted(keywords=("noauth",)))
    assert left.id == kept and {"noauth", "redis"} <= {*left.keywords}
    assert (left.importance, left.access_count, left.lifetime) == (0.9, 5, "semantic")
    assert left.expires_at == ""  # the longest life of the three
    assert round(left.utility, 5) == 2.34849  # reckoned after the merging
    bin_ = all_of(room, Wanted(state="bin"))
    assert {(it.id, it.deletion, it.access_count) for it in bin_} == {
        (first, "merged", 0),
        (third, "merged", 0),
    }
    assert links_of(room, left.id) >= {
        (first, "superseded_by", kept),
        (third, "superseded_by", kept),
        (kept, "caused_by", other.id),
    }
    with room.engine.reading() as rows:
        versions: list[Version] = rows.entries(Version, of=kept)
    assert [it.content for it in versions] == ["Check it"]
    assert counted(room, "duplicates") == {}


@pytest.mark.long  # it costs much
def test_equal_fragments_of_two_agents_and_pinned_ones_stay(room: Room, clock: Clock) -> None:
    first, kept, third = equal(room, clock)
    for fragment in all_of(room):
        owner = "kim" if fragment.id == third else fragment.agent
        changed(room, fragment, agent=owner, is_anchor=True, tier="permanent")
    assert counted(room, "duplicates") == {}
    assert {it.id for it in all_of(room, Wanted())} == {first, kept, third}


@pytest.mark.row("002 2.53.b", "002 2.59")
def test_the_figure_of_use_follows_importance_and_use(room: Room) -> None:
    one = saved(room, "The shop runs on Node 20", importance=0.5, access_count=10)
    consolidate(room)
    assert round(now_of(room, one).utility, 5) == 1.65129
    assert counted(room, "utility") == {}


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

    def note(*suggestions: str) -> None:
        for suggestion in suggestions:
            answer = {"relevant": "long" not in suggestion, "sufficient": False}
            said = {"suggestion": suggestion, "created_at": clock()}
            with room.engine.writing() as rows:
                rows.note([ToolFeedback(tool_name="recall", **answer, **said)])  # type: ignore[arg-type]

    note("long ago")
    clock.wait(days=366)
    note("too long", "idea 1", " ", "idea 3")
    with room.engine.writing() as rows:
        rows.note([ToolFeedback(tool_name="context", relevant=True, sufficient=True)])
        rows.note([TaskFeedback(overall_success=True, created_at=clock())])
    report = consolidate(room)
    assert figures_of(report)["feedback"] == {"tools": 1, "answers": 4, "tasks": 1, "thinned": 2}
    [of_recall] = report.feedback
    assert (of_recall.tool, of_recall.count) == ("recall", 4)
    assert (of_recall.relevant, of_recall.sufficient) == (0.75, 0.0)
    assert of_recall.suggestions == ("idea 3", "idea 1", "too long")


@pytest.mark.row("002 2.64")
@IN_A_FILE  # a server takes none
def test_links_that_lead_nowhere_and_old_activities_are_tidied_up(room: Room, clock: Clock) -> None:
    one = saved(room, "The shop runs on Node 20", is_anchor=True)

    def note(session: str) -> None:
        with room.engine.writing() as rows:
            rows.note([Activity(session_id=session, started_at=clock(), last_at=clock())])

    note("old")
    clock.wait(days=91)
    note("new")
    with room.engine.writing() as rows:
        rows.put_links([Link(from_id=one.id, to_id="nobody"), Link(from_id="no", to_id=one.id)])
    assert counted(room, "tidying") == {"links": 2, "activities": 1}
    assert links_of(room, one.id) == set()
    with room.engine.reading() as rows:
        assert [it.session_id for it in rows.entries(Activity)] == ["new"]


@pytest.mark.row("002 2.10.e", "002 2.64")
@IN_A_FILE
def test_an_index_that_has_got_out_of_step_is_mended(room: Room) -> None:
    one = saved(room, "The shop runs on Node 20", keywords=("node",))
    with closing(sqlite3.connect(room.config.path)) as connection, connection:
        connection.execute("DELETE FROM fragments_fts")
        connection.execute("INSERT INTO fragment_keywords VALUES ('ghost', 1, 99)")
    room.engine.close()
    assert counted(room, "tidying") == {"index": 1}
    with room.engine.reading() as rows:
        assert rows.with_keywords(["node", "ghost"], Wanted(), 5) == [(one.number, 1)]
        assert [it for held in rows.holding("Node", 5).terms for it in held.numbers or ()]
    assert counted(room, "tidying") == {}


@pytest.mark.long  # it costs much
@SELDOM_ON_A_SERVER
def test_pages_of_many_fragments_come_to_the_same_figures(room: Room, clock: Clock) -> None:
    contents = (f"Fact {at} of the shop" for at in range(650))  # more than two pages
    add(room, *contents, stale_days=60, checked_at=clock())
    clock.wait(days=61)
    figures = figures_of(consolidate(room))
    assert figures["tiers"] == {"to_cold": 650} and figures["expiry"] == {"stale": 650}
    clock.wait(days=31)
    assert counted(room, "expiry") == {"purged": 650}


class Numbers:
    """Gives each text two numbers; fails, or ends the process, after some requests."""

    def __init__(self, *, fails: bool = False, dies_after: int = -1) -> None:
        self.fails, self.left, self.asked = fails, dies_after, list[str]()

    def numbers(self, texts: Sequence[str], timeout_s: float) -> list[Sequence[object]]:
        if self.fails:
            raise ServiceError("unreachable")
        if not self.left:
            os._exit(9)
        self.left -= 1
        self.asked += texts
        return [(1.0, float(len(it))) for it in texts]


def fill(room: Room) -> None:
    for at in range(70):
        saved(room, f"Part {at} of the shop", topic=f"t{at}")


def test_missing_embeddings_are_counted_where_no_model_is_configured(room: Room) -> None:
    one = saved(room, "The shop runs on Node 20")
    saved(room, "Deploys happen on Mondays")
    with room.engine.writing() as rows:
        rows.put_vectors([Embedding(one.number, bytes(16))])
    assert counted(room, "embeddings") == {"missing": 1}


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.58")
@SELDOM_ON_A_SERVER
def test_what_is_missing_is_made_by_the_model_and_one_that_is_off_stops_no_other_step(
    room: Room,
) -> None:
    fill(room)
    report = consolidate(room, embedder=Embedder(Numbers(fails=True), "small"))
    assert figures_of(report)["embeddings"] == {"missing": 70, "failed": 1}
    assert figures_of(report)["contradictions"]["checked"] == 70
    report = consolidate(room, embedder=Embedder(Numbers(), "small"))
    assert figures_of(report)["embeddings"] == {"missing": 70, "made": 70}
    assert all_of(room, Wanted(has_vector=False)) == []
    report = consolidate(room, embedder=Embedder(Numbers(), "small"))
    assert "embeddings" not in figures_of(report)


@pytest.mark.long  # it costs much
@pytest.mark.skipif(os.name == "nt", reason="processes as POSIX has them")
@SELDOM_ON_A_SERVER
def test_a_run_that_is_killed_while_the_model_works_counts_what_was_made_before(
    tmp_path: Path, clock: Clock
) -> None:
    room = a_room(tmp_path, clock=clock)
    fill(room)
    room.engine.close()
    pid = os.fork()
    if not pid:
        dying = Embedder(Numbers(dies_after=1), "small")
        consolidate(a_room(tmp_path, clock=clock), embedder=dying)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 9
    made = len(all_of(room, Wanted(has_vector=True)))
    assert 0 < made < 70
    source = Numbers()
    report = consolidate(room, embedder=Embedder(source, "small"))
    assert figures_of(report)["embeddings"] == {"missing": 70, "made": 70}
    texts = [it for it in source.asked if it.startswith("Part ")]  # beside what measures the model
    assert len(texts) == 70 - made
