"""Plays the life of fragments by the clock, as their two specifications tell it."""

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from rooms.fragments.config import read_config
from rooms.fragments.fragment import Activity, Embedding, Fragment, Version
from rooms.fragments.recall.context import restore_context
from rooms.fragments.recall.recalling import Query, recall
from rooms.fragments.room import Room
from rooms.fragments.saving.activity import end_session
from rooms.fragments.saving.amending import Amendment, amend
from rooms.fragments.saving.forgetting import forget, pin
from rooms.fragments.saving.linking import link
from rooms.fragments.saving.reflecting import Reflection, reflect
from rooms.fragments.services.errors import ServiceError
from rooms.fragments.upkeep.consolidating import Report, consolidate
from rooms.fragments.upkeep.daily import tend
from tests.support.fragments_room import Clock, a_room, figures, links_of, saved, stored

HOUR = 1 / 24  # in days
TYPES_THAT_GO = ("fact", "decision", "relation")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def room(tmp_path: Path, clock: Clock) -> Room:
    return a_room(tmp_path, clock=clock)


def is_live(room: Room, fragment: Fragment) -> bool:
    """Whether a fragment can be recalled after an upkeep."""
    consolidate(room)
    return any(it.is_live for it in stored(room, fragment.id))


def now_of(room: Room, fragment: Fragment) -> Fragment:
    [found] = stored(room, fragment.id)
    return found


def step(report: Report, name: str) -> dict[str, int]:
    [found] = [it.figures for it in report.steps if it.name == name]
    return found


# How long each lives


@pytest.mark.row("004 4.6", "004 4.7", "004 4.13")
@pytest.mark.parametrize(
    ("word", "days"), [("working", 2), ("episodic", 90)], ids=["48 h", "90 days"]
)
def test_what_lives_for_a_time_is_there_until_it_is_over(
    room: Room, clock: Clock, word: str, days: int
) -> None:
    it = saved(room, "The port is 8081 today", type=word)
    pinned = saved(room, "The port is 8082 today", type=word, is_anchor=True)
    clock.wait(days=days - HOUR)
    assert is_live(room, it)
    clock.wait(hours=2)
    found = recall(room, Query(text="port today")).fragments
    assert [its.id for its in found] == [pinned.id]  # at once, before any upkeep
    assert not is_live(room, it) and is_live(room, pinned)
    assert now_of(room, it).deletion == "expired"
    clock.wait(days=29)
    consolidate(room)
    assert stored(room, it.id)  # in the bin
    clock.wait(days=2)
    consolidate(room)
    assert (stored(room, it.id), figures(room)["purged"]) == ([], 1)


@pytest.mark.row("002 2.30.a", "002 2.83", "004 4.13")
@pytest.mark.parametrize("word", ["preference", "error", "procedure", "procedural"])
def test_what_lives_for_ever_is_there_after_ten_years(room: Room, clock: Clock, word: str) -> None:
    it = saved(room, "Comments are written in Korean", type=word)
    for _ in range(10):
        clock.wait(days=365)
        assert is_live(room, it)
    assert now_of(room, it).tier == "cold"


@pytest.mark.row("004 4.13")
def test_what_is_recalled_in_time_is_there_for_ever(room: Room, clock: Clock) -> None:
    it = saved(room, "The shop runs on Node 20", type="semantic")
    for _ in range(40):
        clock.wait(days=55)
        assert is_live(room, it)
        assert [found.id for found in recall(room, Query(text="Node")).fragments] == [it.id]


@pytest.mark.row("002 2.29", "002 2.30", "002 2.56", "002 2.85", "002 2.88.c")
@pytest.mark.parametrize(("word", "days"), [("fact", 60), ("decision", 90), ("relation", 60)])
def test_a_cold_fragment_goes_after_its_stale_days(
    room: Room, clock: Clock, word: str, days: int
) -> None:
    it = saved(room, "The pool holds at most 20 connections", type=word)
    anchor = saved(room, "Backups lie in Frankfurt", type=word, is_anchor=True, importance=0.1)
    clock.wait(days=days - HOUR)
    assert is_live(room, it)
    clock.wait(hours=2)
    assert not is_live(room, it) and is_live(room, anchor)
    assert (now_of(room, it).deletion, figures(room)["stale"]) == ("stale", 1)
    assert (now_of(room, anchor).importance, now_of(room, anchor).tier) == (0.1, "permanent")


@pytest.mark.row("002 2.30.b", "002 2.66.e", "002 2.66.f", "002 2.66.g", "002 2.66.h")
def test_stale_days_are_those_of_the_settings(tmp_path: Path, clock: Clock) -> None:
    days = {"procedure": 10, "fact": 40, "decision": 50, "default": 45}
    (tmp_path / "config.json").write_text(json.dumps({"staleThresholds": days}))
    environment = {"SENTINEL_MEMORY_FRAGMENTS": str(tmp_path / "memory.db")}
    given = read_config(environment)._asdict()
    room = a_room(tmp_path, clock=clock, **given)
    ids = {word: saved(room, f"A {word} of the house", type=word) for word in TYPES_THAT_GO}
    gone: dict[str, int] = {}
    clock.wait(days=37)
    for day in range(38, 53):
        clock.wait(days=1)
        consolidate(room)
        for word, it in ids.items():
            if now_of(room, it).deleted_at:
                gone.setdefault(word, day)
    assert gone == {"fact": 41, "relation": 46, "decision": 51}
    way = saved(room, "Deploy: test, build, push", type="procedure")
    clock.wait(days=11)
    assert [it.id for it in consolidate(room).stale] == [way.id]


@pytest.mark.row("002 2.30.a", "002 2.64.a")
def test_a_procedure_that_nobody_verified_is_listed_after_thirty_days(
    room: Room, clock: Clock
) -> None:
    it = saved(room, "Deploy: test, build, push, apply", type="procedure")
    clock.wait(days=30)
    assert consolidate(room).stale == []
    clock.wait(hours=1)
    report = consolidate(room)
    assert [found.id for found in report.stale] == [it.id]
    assert step(report, "tidying")["doubtful"] == 1
    amend(room, Amendment(id=it.id, content="Deploy: test, build, push, watch"))
    assert consolidate(room).stale == []


# Tiers and importance


@pytest.mark.row("002 2.12.n", "002 2.27")
def test_the_tiers_go_from_hot_to_cold_and_back_by_a_recall(room: Room, clock: Clock) -> None:
    it = saved(room, "The way to the vault", type="procedure")
    seen = [it.tier]
    for days in (6.9, 0.2, 22.8, 0.2):
        clock.wait(days=days)
        consolidate(room)
        seen.append(now_of(room, it).tier)
    assert seen == ["hot", "hot", "warm", "warm", "cold"]
    recall(room, Query(text="vault"))
    assert now_of(room, it).tier == "hot"
    pin(room, it.id, pinned=True)
    clock.wait(days=1000)
    consolidate(room)
    assert now_of(room, it).tier == "permanent"


@pytest.mark.row("002 2.85")
def test_importance_decays_where_nobody_reads_and_an_anchor_keeps_it(
    room: Room, clock: Clock
) -> None:
    lone = saved(room, "Comments are written in Korean", type="preference")
    read = saved(room, "Answers are written in English", type="preference")
    anchor = saved(room, "Backups lie in Frankfurt", importance=0.6, is_anchor=True)
    for _ in range(12):
        clock.wait(days=29)
        recall(room, Query(text="English"))
        consolidate(room)
    assert now_of(room, lone).importance < 0.9
    assert now_of(room, read).importance == 0.9
    assert now_of(room, anchor).importance == 0.6


@pytest.mark.row("002 2.12.p", "002 2.59")
def test_the_figure_of_use_is_the_formula_of_the_specification(room: Room) -> None:
    it = saved(room, "The shop runs on Node 20", importance=0.5)
    for _ in range(5):
        recall(room, Query(text="Node"))
    consolidate(room)
    assert now_of(room, it).utility == pytest.approx(0.5 * (1 + 1.6094379124341003))  # ln 5


@pytest.mark.row("002 2.60")
def test_ten_uses_and_importance_are_told_as_worth_a_pin(room: Room) -> None:
    it = saved(room, "The shop runs on Node 20", importance=0.8)
    saved(room, "The vault has two doors", importance=0.8)
    for _ in range(9):
        recall(room, Query(text="Node"))
    assert consolidate(room).promotable == []
    recall(room, Query(text="Node"))
    report = consolidate(room)
    assert [found.id for found in report.promotable] == [it.id]
    assert step(report, "anchors") == {"promotable": 1}
    assert not now_of(room, it).is_anchor


# Sessions


@pytest.mark.row("002 2.28")
def test_working_memory_ends_with_its_session(room: Room, clock: Clock) -> None:
    own = saved(room, "Look at the vault next", is_working=True, session="s1")
    kept = saved(room, "Look at the door next", is_working=True, is_anchor=True, session="s1")
    other = saved(room, "Look at the roof next", is_working=True, session="s2")
    assert restore_context(room, session="s1").working == [kept, own]
    assert end_session(room, "s1").forgotten == 1
    assert [it.is_live for it in stored(room, own.id, kept.id, other.id)] == [False, True, True]
    clock.wait(hours=49)
    assert not is_live(room, other)  # a session that never ended


@pytest.mark.row("002 2.46", "002 2.46.a", "002 2.84.a")
def test_a_session_that_wrote_and_never_reflected_leaves_one_fact_for_48_hours(
    room: Room, clock: Clock
) -> None:
    saved(room, "The shop runs on Node 20", session="s1")
    clock.wait(hours=1)
    saved(room, "The vault has two doors", session="s1")
    noted = end_session(room, "s1").reflected
    assert noted and (noted.kind, noted.source) == ("fact", "s1")
    assert "60" in noted.content and "2" in noted.content
    assert [it.session_id for it in restore_context(room, session="s2").unreflected] == ["s1"]
    clock.wait(hours=47)
    assert is_live(room, noted)
    clock.wait(hours=2)
    assert not is_live(room, noted)


@pytest.mark.row("002 2.46.b")
def test_a_session_that_reflected_or_wrote_nothing_leaves_none(room: Room) -> None:
    saved(room, "The shop runs on Node 20", session="s1")
    reflect(room, Reflection(summary="All told"), session="s1")
    recall(room, Query(text="Node"), session="s2")
    assert end_session(room, "s1").reflected is None
    assert end_session(room, "s2").reflected is None
    assert restore_context(room, session="s3").unreflected == []
    with room.engine.reading() as reading:
        assert [it.session_id for it in reading.entries(Activity) if it.reflected_at] == ["s1"]


# Order


@pytest.mark.row("002 2.13.d", "002 2.13.e", "002 2.13.f", "002 2.13.g", "002 2.24", "002 2.66.d")
def test_from_a_hundred_fragments_on_importance_and_recency_order_a_list(
    room: Room, clock: Clock
) -> None:
    old = saved(room, "Backups lie in Frankfurt", importance=1.0)
    clock.wait(days=20)
    for at in range(98):
        saved(room, f"Rule {at} of house {at}", topic=f"t{at}", importance=0.1)
    query = Query(tokens=100_000, limit=100)
    assert recall(room, query).fragments[-1].id == old.id  # 99: the newest first
    saved(room, "The last rule", topic="last", importance=0.1)
    assert recall(room, query).fragments[0].id == old.id  # 0.6 × 1.0 + 0.4 × recency


@pytest.mark.row("002 2.66.a", "002 2.66.b")
def test_the_weights_are_those_of_the_settings(tmp_path: Path, clock: Clock) -> None:
    room = a_room(
        tmp_path, clock=clock, activation_threshold=1, importance_weight=0.0, recency_weight=1.0
    )
    old = saved(room, "Backups lie in Frankfurt", importance=1.0)
    clock.wait(days=1)
    new = saved(room, "The vault has two doors", importance=0.1)
    assert [it.id for it in recall(room, Query()).fragments] == [new.id, old.id]


# The steps of the upkeep


@pytest.mark.row("002 2.57")
def test_duplicates_become_one_with_links_and_use(room: Room) -> None:
    one = saved(room, "The pool holds 20", topic="pool", importance=0.9)
    two = saved(room, "The pool holds 21", topic="size", importance=0.4)
    far = saved(room, "The vault has two doors", topic="vault")
    link(room, two.id, far.id, "caused_by")
    recall(room, Query(text="21"))
    uses = sum(it.access_count for it in stored(room, one.id, two.id))
    with room.engine.writing() as writing:  # as an import may leave it
        [second] = writing.by_ids([two.id])
        writing.touch([second.number], {"content_hash": one.content_hash})
    assert step(consolidate(room), "duplicates") == {"merged": 1}
    merged = now_of(room, one)
    assert (merged.importance, merged.access_count) == (0.9, uses)
    assert (one.id, "caused_by", far.id) in links_of(room, one.id)
    assert now_of(room, two).deletion == "merged"


class _Judge:
    """Says the same of every pair, and counts them."""

    def __init__(self, label: str, confidence: float) -> None:
        self.said: Any = type("Said", (), {"label": label, "confidence": confidence})()
        self.count = 0

    def verdict(self, earlier: str, later: str) -> Any:
        self.count += 1
        return self.said


def contradicting(room: Room, clock: Clock) -> tuple[Fragment, Fragment]:
    old = saved(room, "The pool holds at most 20 connections.", topic="pool", importance=0.9)
    clock.wait(days=1)
    return old, saved(room, "The pool holds at most 50 connections.", topic="pool")


@pytest.mark.row("002 2.61.a", "002 2.62")
def test_a_sure_contradiction_is_settled_by_time(room: Room, clock: Clock) -> None:
    old, new = contradicting(room, clock)
    consolidate(room, judge=_Judge("contradiction", 0.8))
    links = {(new.id, "contradicts", old.id), (old.id, "superseded_by", new.id)}
    assert links_of(room, old.id, new.id) == links
    assert now_of(room, old).importance == 0.3
    assert [it.id for it in recall(room, Query(text="pool connections")).fragments] == [new.id]


@pytest.mark.row("002 2.79")
@pytest.mark.parametrize("label", ["contradiction", "entailment"])
def test_an_unsure_verdict_waits_for_another_look(room: Room, clock: Clock, label: str) -> None:
    old, new = contradicting(room, clock)
    report = consolidate(room, judge=_Judge(label, 0.79))
    assert [(it.earlier.id, it.later.id) for it in report.suspicions] == [(old.id, new.id)]
    assert not {it for _, it, _ in links_of(room, old.id)} & {"contradicts", "superseded_by"}
    clock.wait(days=1)
    again = consolidate(room, judge=_Judge("entailment", 0.95))
    assert (again.suspicions, step(again, "suspicions")["dropped"]) == ([], 1)


@pytest.mark.row("002 2.62")
def test_what_a_judge_calls_an_entailment_passes(room: Room, clock: Clock) -> None:
    contradicting(room, clock)
    judge = _Judge("entailment", 0.9)
    report = consolidate(room, judge=judge)
    assert (report.suspicions, judge.count) == ([], 1)
    clock.wait(days=1)
    consolidate(room, judge=judge)
    assert judge.count == 1  # only what is new is compared


class _Silent:
    def verdict(self, earlier: str, later: str) -> Any:
        raise ServiceError("unreachable", variable="SENTINEL_MEMORY_JUDGE")


@pytest.mark.row("002 2.79")
@pytest.mark.parametrize(("cosine", "waits"), [(0.93, True), (0.91, False)])
def test_a_near_pair_waits_until_the_judge_answers(
    room: Room, clock: Clock, cosine: float, waits: bool
) -> None:
    one = saved(room, "The shop sells bread on Sundays.", topic="shop")
    two = saved(room, "Bakers of the shop work at night.", topic="shop")
    with room.engine.writing() as writing:
        for it, numbers in ((one, (1.0, 0.0)), (two, (cosine, (1 - cosine**2) ** 0.5))):
            writing.put_vectors([Embedding(it.number, struct.pack("<2f", *numbers))])
    report = consolidate(room, judge=_Silent())
    ids = [(it.earlier.id, it.later.id) for it in report.suspicions]
    assert ids == ([(one.id, two.id)] if waits else [])
    clock.wait(days=1)
    settled = consolidate(room, judge=_Judge("contradiction", 0.9))
    assert step(settled, "suspicions")["linked"] == int(waits)
    assert bool(now_of(room, one).superseded_at) == waits


@pytest.mark.row("002 2.65", "004 4.14")
def test_upkeep_comes_by_itself_once_a_day(room: Room, clock: Clock) -> None:
    it = saved(room, "The port is 8081 today", type="working")
    tend(room)
    clock.wait(hours=23)
    tend(room)
    clock.wait(hours=26)
    tend(room)
    assert now_of(room, it).deletion == "expired"


# Deleting and versions


@pytest.mark.row("002 2.30.c", "004 4.6")
def test_the_bin_keeps_thirty_days_what_was_forgotten(room: Room, clock: Clock) -> None:
    it = saved(room, "The port is 8081")
    forget(room, id=it.id)
    clock.wait(days=29)
    consolidate(room)
    assert now_of(room, it).deletion == "forgotten"
    clock.wait(days=2)
    consolidate(room)
    assert stored(room, it.id) == []
    counted = figures(room)
    assert (counted["remembered"], counted["forgotten"], counted["purged"]) == (1, 1, 1)


@pytest.mark.row("002 2.18.f", "002 2.18.g", "002 2.18.h")
def test_every_amendment_keeps_its_version_in_order(room: Room, clock: Clock) -> None:
    it = saved(room, "The port is 8081", agent="one")
    for port in (8082, 8083):
        clock.wait(days=1)
        amend(room, Amendment(id=it.id, content=f"The port is {port}"), agent="one")
    with room.engine.reading() as reading:
        versions = reading.entries(Version, of=it.id)
    assert [(at.content, at.amended_by, at.amended_at[:10]) for at in versions] == [
        ("The port is 8081", "one", "2026-05-02"),
        ("The port is 8082", "one", "2026-05-03"),
    ]
    assert [found.id for found in recall(room, Query(text="8083")).fragments] == [it.id]
    assert recall(room, Query(text="8081")).fragments == []
