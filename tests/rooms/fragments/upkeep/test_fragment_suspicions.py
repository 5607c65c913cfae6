"""Tests what the upkeep finds of contradictions, who decides on them, and what waits."""

import struct
import time
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooms.fragments.activity import end_session
from rooms.fragments.bin import forget
from rooms.fragments.draft import Draft, remember
from rooms.fragments.errors import ServiceError
from rooms.fragments.fragment import Embedding, Fragment, Link, Suspicion
from rooms.fragments.links import link
from rooms.fragments.models.judge import Label, Verdict
from rooms.fragments.room import Room
from rooms.fragments.upkeep.consolidation import Report, consolidate
from rooms.fragments.upkeep.suspicions import signs_of
from rooms.fragments.versions import Amendment, amend
from tests.support.both_engines import kept_in_seldom as kept_in_seldom
from tests.support.fragments_room import (
    Clock,
    changed,
    figures,
    figures_of,
    links_of,
    now_of,
    saved,
)
from tests.support.tables import table

# Pairs of fragments on one matter, in both languages.
_PAIRS = table("contradiction_words")
CONTRADICTING: list[tuple[str, str]] = [(one, other) for one, other in _PAIRS["contradicting"]]
AGREEING: list[tuple[str, str]] = [(one, other) for one, other in _PAIRS["agreeing"]]
SLOW = "The pool holds at most 20 connections."
FAST = "The pool holds at most 50 connections."


@dataclass
class JudgeOf:
    """A judge who says one thing of every pair, and remembers which it was asked about."""

    label: Label | None = "neutral"
    confidence: float = 0.5
    asked: list[tuple[str, str]] = field(default_factory=list)

    def verdict(self, earlier: str, later: str) -> Verdict:
        self.asked.append((earlier, later))
        if not self.label:
            raise ServiceError("unreachable")
        return Verdict(self.label, self.confidence)


def pool(room: Room, clock: Clock, **fields: Any) -> tuple[Fragment, Fragment]:
    """Two fragments that contradict each other, the second said a day later."""
    one = saved(room, SLOW, topic="pool", **fields)
    clock.wait(days=1)
    return one, saved(room, FAST, topic="pool", **fields)


def suspicions_of(room: Room) -> list[Suspicion]:
    with room.engine.reading() as rows:
        return rows.entries(Suspicion)


def later(room: Room, clock: Clock, judge: JudgeOf | None = None) -> Report:
    clock.wait(hours=1)
    return consolidate(room, judge=judge)


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.61.b")
def test_without_a_judge_every_contradiction_of_the_samples_is_proposed_and_no_agreement(
    room: Room,
) -> None:
    for at, (one, other) in enumerate((*CONTRADICTING, *AGREEING)):
        saved(room, one, topic=f"t{at}", agent=str(at))
        saved(room, other, topic=f"t{at}", agent=str(at))
    report = consolidate(room)
    assert figures_of(report)["contradictions"]["suspected"] == len(CONTRADICTING)
    assert len(report.suspicions) == 10 and len(suspicions_of(room)) == len(CONTRADICTING)
    assert all(now_of(room, it.later).is_live for it in report.suspicions)


@pytest.mark.row("002 2.61.b")
def test_a_pair_is_proposed_with_its_signs_for_a_month_and_nothing_is_decided(
    room: Room, clock: Clock
) -> None:
    one, other = pool(room, clock, type="preference")
    [pair] = consolidate(room).suspicions
    assert (pair.earlier.id, pair.later.id) == (one.id, other.id)
    assert pair.signs == ("numbers",) and pair.similarity >= 0.5
    assert now_of(room, one).is_live and now_of(room, other).is_live
    clock.wait(days=30)
    again = consolidate(room)
    assert "contradictions" not in figures_of(again)  # only what is new is compared
    assert [it.later.id for it in again.suspicions] == [other.id]
    clock.wait(days=1)
    assert consolidate(room).suspicions == []


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("how", ["contradicts", "resolved_by", "amend", "supersede", "forget"])
def test_a_pair_that_somebody_settled_is_proposed_no_more(
    room: Room, clock: Clock, how: str
) -> None:
    one, other = pool(room, clock)
    consolidate(room)
    clock.wait(hours=1)
    if how == "amend":
        amend(room, Amendment(id=one.id, content="Long ago the pool held few connections."))
    elif how == "supersede":
        link(room, one.id, other.id, "superseded_by")
    elif how == "forget":
        forget(room, id=one.id)
    elif how == "contradicts":
        link(room, one.id, other.id, how)
    else:  # as an import may leave it
        with room.engine.writing() as rows:
            rows.put_links([Link(from_id=one.id, to_id=other.id, relation="resolved_by")])
    assert later(room, clock).suspicions == [] and suspicions_of(room) == []


def test_what_is_amended_is_compared_again(room: Room, clock: Clock) -> None:
    one = saved(room, SLOW, topic="pool")
    other = saved(room, "Dogs sleep most of the day.", topic="pool")
    assert consolidate(room).suspicions == []
    clock.wait(days=1)
    amend(room, Amendment(id=other.id, content=FAST))
    [pair] = consolidate(room).suspicions
    assert {pair.earlier.id, pair.later.id} == {one.id, other.id}


@pytest.mark.row("002 2.61")
def test_other_topics_and_other_agents_and_what_is_noted_of_sessions_are_not_compared(
    room: Room, clock: Clock
) -> None:
    saved(room, SLOW, topic="pool")
    saved(room, FAST, topic="database")
    changed(room, saved(room, "The pool holds at most 60 connections.", topic="pool"), agent="kim")
    for at in range(3):
        for text in ("Alpha is here.", "Bravo is there.", "Charlie is gone.")[: at + 1]:
            remember(room, Draft(content=f"{text} {at}", topic=f"t{at}{text[0]}"), session=f"s{at}")
        clock.wait(hours=1)
        assert end_session(room, f"s{at}")
    assert consolidate(room).suspicions == [] and suspicions_of(room) == []


@pytest.mark.row("002 2.61.a", "002 2.62")
@pytest.mark.parametrize("waits", [False, True])
def test_a_judge_that_is_sure_links_and_lets_the_later_one_count(
    room: Room, clock: Clock, *, waits: bool
) -> None:
    one, other = pool(room, clock)
    if waits:  # since an earlier judge, and the one after it, were unsure
        consolidate(room, judge=JudgeOf("contradiction", 0.79))
        unsure = JudgeOf("neutral", 0.5)
        assert len(later(room, clock, unsure).suspicions) == 1 and len(unsure.asked) == 1
    judge = JudgeOf("contradiction", 0.8)
    report = later(room, clock, judge)
    assert judge.asked == [(SLOW, FAST)]
    counts = {"judged": 1, "linked": 1}
    if waits:
        assert figures_of(report)["suspicions"] == counts
    else:
        assert figures_of(report)["contradictions"] == {"checked": 2, **counts}
    assert figures(room)["superseded"] == 1
    old = now_of(room, one)
    assert old.superseded_at == clock() and old.importance == 0.3
    assert now_of(room, other).is_live
    assert report.suspicions == [] and suspicions_of(room) == []
    assert links_of(room, one.id) >= {
        (other.id, "contradicts", one.id),
        (one.id, "superseded_by", other.id),
    }


def test_the_one_that_was_corrected_last_counts(room: Room, clock: Clock) -> None:
    one, other = pool(room, clock)
    clock.wait(days=1)
    amend(room, Amendment(id=one.id, content="The pool holds at most 90 connections."))
    consolidate(room, judge=JudgeOf("contradiction", 0.99))
    assert now_of(room, one).is_live and not now_of(room, other).is_live


@pytest.mark.parametrize(
    ("judge", "fields", "suspected"),
    [
        (JudgeOf("entailment", 0.9), {}, 0),
        (JudgeOf("neutral", 0.9), {}, 0),
        (JudgeOf("contradiction", 0.79), {}, 1),
        (JudgeOf("contradiction", 1.0), {"is_anchor": True}, 1),  # that is left to the caller
    ],
)
def test_a_pair_that_is_cleared_passes_and_what_is_unsure_or_pinned_waits(
    room: Room, clock: Clock, judge: JudgeOf, fields: dict[str, Any], suspected: int
) -> None:
    one, other = pool(room, clock, **fields)
    report = consolidate(room, judge=judge)
    counts = {"checked": 2, "judged": 1, **({"suspected": 1} if suspected else {})}
    assert figures_of(report)["contradictions"] == counts
    assert len(report.suspicions) == suspected
    assert now_of(room, one).is_live and now_of(room, other).is_live
    if suspected:  # until a judge clears it
        report = later(room, clock, JudgeOf("entailment", 0.9))
        assert figures_of(report)["suspicions"] == {"judged": 1, "dropped": 1}
        assert report.suspicions == []


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.79.a")
def test_at_most_ten_that_wait_are_judged_again(room: Room, clock: Clock) -> None:
    for at in range(12):
        saved(room, f"Service {at} holds 20 connections.", topic=f"t{at}")
        saved(room, f"Service {at} holds 50 connections.", topic=f"t{at}")
    consolidate(room)
    judge = JudgeOf("contradiction", 0.9)
    report = later(room, clock, judge)
    assert figures_of(report)["suspicions"] == {"judged": 10, "linked": 10, "waiting": 2}
    assert len(judge.asked) == 10


@pytest.mark.row("002 2.79")
def test_a_judge_that_does_not_answer_leaves_the_signs(room: Room, clock: Clock) -> None:
    pool(room, clock)
    saved(room, "Redis caching is enabled in staging.", topic="cache")
    saved(room, "Redis caching is enabled in staging and in production.", topic="cache")
    report = consolidate(room, judge=JudgeOf(None))
    assert figures_of(report)["contradictions"] == {"checked": 4, "suspected": 1}


def put_vectors(room: Room, one: Fragment, other: Fragment, cosine: float) -> None:
    with room.engine.writing() as rows:
        for it, numbers in ((one, (1.0, 0.0)), (other, (cosine, (1 - cosine**2) ** 0.5))):
            rows.put_vectors([Embedding(it.number, struct.pack("<2f", *numbers))])


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.61")
@pytest.mark.parametrize(("cosine", "found"), [(0.84, 0), (0.86, 1)])
def test_with_vectors_the_cosine_of_the_specification_decides(
    room: Room, clock: Clock, cosine: float, found: int
) -> None:
    put_vectors(room, *pool(room, clock), cosine)
    assert len(consolidate(room).suspicions) == found


@pytest.mark.row("002 2.79")
@pytest.mark.parametrize(("cosine", "waits"), [(0.93, True), (0.91, False)])
def test_a_near_pair_waits_until_the_judge_answers(
    room: Room, clock: Clock, cosine: float, *, waits: bool
) -> None:
    one = saved(room, "The shop sells bread on Sundays.", topic="shop")
    other = saved(room, "Bakers of the shop work at night.", topic="shop")
    put_vectors(room, one, other, cosine)
    report = consolidate(room, judge=JudgeOf(None))
    ids = [(it.earlier.id, it.later.id) for it in report.suspicions]
    assert ids == ([(one.id, other.id)] if waits else [])
    later(room, clock, JudgeOf("contradiction", 0.9))
    assert bool(now_of(room, one).superseded_at) == waits


def test_every_contradiction_of_the_samples_shows_a_sign_and_hardly_an_agreement_does() -> None:
    assert [it for it in CONTRADICTING if not signs_of(*it)] == []
    shown = [one for one, other in AGREEING if signs_of(one, other)]
    assert shown == ["The build works without a network."]  # the other is hardly alike to it


@pytest.mark.parametrize(("one", "other", "signs"), _PAIRS["signs"])
def test_each_kind_of_sign_is_seen_in_both_orders(one: str, other: str, signs: list[str]) -> None:
    assert [*signs_of(one, other)] == [*signs_of(other, one)] == signs


@given(st.text(), st.text())
def test_any_two_texts_can_be_compared_and_none_contradicts_itself(one: str, other: str) -> None:
    assert signs_of(one, one) == ()
    assert sorted(signs_of(one, other)) == sorted(signs_of(other, one))


@pytest.mark.long
@pytest.mark.parametrize("text", ["1." * 20_000, "not " * 10_000, "안 " * 20_000, "'" * 40_000])
def test_the_time_grows_with_the_texts_alone(text: str) -> None:
    start = time.process_time()
    signs_of(text, text + "x")
    assert time.process_time() - start < 20
