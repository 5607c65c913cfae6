"""Tests what the upkeep finds of contradictions, who decides on them, and what waits."""

import struct
from dataclasses import dataclass, field
from typing import Literal

import pytest

from rooms.fragments.activity import end_session
from rooms.fragments.bin import forget
from rooms.fragments.draft import Draft, remember
from rooms.fragments.errors import ServiceError
from rooms.fragments.fragment import Embedding, Fragment, Link, Suspicion
from rooms.fragments.links import link
from rooms.fragments.models.judge import Label, Verdict
from rooms.fragments.room import Room
from rooms.fragments.upkeep.consolidation import consolidate
from rooms.fragments.versions import Amendment, amend
from tests.support.both_engines import kept_in_seldom as kept_in_seldom
from tests.support.fragments_room import Clock, figures
from tests.support.upkeep_room import (
    AGREEING,
    CONTRADICTING,
    changed,
    figures_of,
    links_of,
    now_of,
    saved,
)


@dataclass
class JudgeOf:
    """A judge who says one thing of every pair, and remembers which it was asked about."""

    label: Label | Literal[""] = "neutral"
    confidence: float = 0.5
    asked: list[tuple[str, str]] = field(default_factory=list)

    def verdict(self, earlier: str, later: str) -> Verdict:
        self.asked.append((earlier, later))
        if not self.label:
            raise ServiceError("unreachable")
        return Verdict(self.label, self.confidence)


SLOW = "The pool holds at most 20 connections."
FAST = "The pool holds at most 50 connections."


def pool(room: Room, clock: Clock, **fields: object) -> tuple[Fragment, Fragment]:
    """Two fragments that contradict each other, the second said a day later."""
    one = saved(room, SLOW, topic="pool", **fields)
    clock.wait(days=1)
    return one, saved(room, FAST, topic="pool", **fields)


def suspicions_of(room: Room) -> list[Suspicion]:
    with room.engine.reading() as reading:
        return reading.entries(Suspicion)


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
def test_a_pair_is_proposed_with_its_signs_and_nothing_is_decided(room: Room, clock: Clock) -> None:
    one, other = pool(room, clock)
    report = consolidate(room)
    [pair] = report.suspicions
    assert (pair.earlier.id, pair.later.id) == (one.id, other.id)
    assert pair.signs == ("numbers",) and pair.similarity >= 0.5
    assert now_of(room, one).is_live and now_of(room, other).is_live
    clock.wait(days=2)
    again = consolidate(room)
    assert "contradictions" not in figures_of(again)  # only what is new is compared
    assert [it.later.id for it in again.suspicions] == [other.id]


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
        with room.engine.writing() as writing:
            writing.put_links([Link(from_id=one.id, to_id=other.id, relation="resolved_by")])
    clock.wait(hours=1)
    report = consolidate(room)
    assert report.suspicions == [] and suspicions_of(room) == []


def test_a_pair_that_nobody_settles_is_proposed_for_a_month(room: Room, clock: Clock) -> None:
    pool(room, clock, type="preference")
    consolidate(room)
    clock.wait(days=30)
    assert len(consolidate(room).suspicions) == 1
    clock.wait(days=1)
    assert consolidate(room).suspicions == []


def test_what_is_amended_is_compared_again(room: Room, clock: Clock) -> None:
    one = saved(room, SLOW, topic="pool")
    other = saved(room, "Dogs sleep most of the day.", topic="pool")
    assert consolidate(room).suspicions == []
    clock.wait(days=1)
    amend(room, Amendment(id=other.id, content=FAST))
    [pair] = consolidate(room).suspicions
    assert {pair.earlier.id, pair.later.id} == {one.id, other.id}


@pytest.mark.row("002 2.61")
def test_other_topics_and_other_agents_are_not_compared(room: Room) -> None:
    saved(room, SLOW, topic="pool")
    saved(room, FAST, topic="database")
    changed(room, saved(room, "The pool holds at most 60 connections.", topic="pool"), agent="kim")
    assert consolidate(room).suspicions == []


@pytest.mark.row("002 2.61.a", "002 2.62")
def test_a_judge_that_is_sure_links_and_lets_the_later_one_count(room: Room, clock: Clock) -> None:
    one, other = pool(room, clock)
    judge = JudgeOf("contradiction", 0.8)
    report = consolidate(room, judge=judge)
    assert judge.asked == [(SLOW, FAST)]
    assert figures_of(report)["contradictions"] == {"checked": 2, "judged": 1, "linked": 1}
    assert figures(room)["superseded"] == 1
    old = now_of(room, one)
    assert old.superseded_at == clock() and old.importance == 0.3
    assert now_of(room, other).is_live and report.suspicions == []
    assert links_of(room, one) >= {
        (other.id, one.id, "contradicts"),
        (one.id, other.id, "superseded_by"),
    }


def test_the_one_that_was_corrected_last_counts(room: Room, clock: Clock) -> None:
    one, other = pool(room, clock)
    clock.wait(days=1)
    amend(room, Amendment(id=one.id, content="The pool holds at most 90 connections."))
    consolidate(room, judge=JudgeOf("contradiction", 0.99))
    assert now_of(room, one).is_live and not now_of(room, other).is_live


def test_what_is_pinned_is_left_to_the_caller_whatever_a_judge_says(
    room: Room, clock: Clock
) -> None:
    one, other = pool(room, clock, is_anchor=True)
    report = consolidate(room, judge=JudgeOf("contradiction", 1.0))
    assert figures_of(report)["contradictions"] == {"checked": 2, "judged": 1, "suspected": 1}
    assert now_of(room, one).is_live and now_of(room, other).is_live
    assert len(report.suspicions) == 1


@pytest.mark.parametrize("label", ["entailment", "neutral"])
def test_a_pair_of_which_a_judge_is_sure_that_it_is_none_passes(
    room: Room, clock: Clock, label: Label
) -> None:
    pool(room, clock)
    report = consolidate(room, judge=JudgeOf(label, 0.9))
    assert figures_of(report)["contradictions"] == {"checked": 2, "judged": 1}
    assert report.suspicions == []


def test_what_a_judge_is_not_sure_of_waits_and_is_judged_again(room: Room, clock: Clock) -> None:
    one, _ = pool(room, clock)
    report = consolidate(room, judge=JudgeOf("contradiction", 0.79))
    assert figures_of(report)["contradictions"] == {"checked": 2, "judged": 1, "suspected": 1}
    clock.wait(hours=1)
    unsure = JudgeOf("neutral", 0.5)
    assert len(consolidate(room, judge=unsure).suspicions) == 1 and len(unsure.asked) == 1
    clock.wait(hours=1)
    report = consolidate(room, judge=JudgeOf("contradiction", 0.9))
    assert figures_of(report)["suspicions"] == {"judged": 1, "linked": 1}
    assert not now_of(room, one).is_live and suspicions_of(room) == []


def test_a_suspicion_that_a_judge_clears_later_is_dropped(room: Room, clock: Clock) -> None:
    pool(room, clock)
    consolidate(room)
    clock.wait(hours=1)
    report = consolidate(room, judge=JudgeOf("entailment", 0.9))
    assert figures_of(report)["suspicions"] == {"judged": 1, "dropped": 1}
    assert report.suspicions == []


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.79.a")
def test_at_most_ten_that_wait_are_judged_again(room: Room, clock: Clock) -> None:
    for at in range(12):
        saved(room, f"Service {at} holds 20 connections.", topic=f"t{at}")
        saved(room, f"Service {at} holds 50 connections.", topic=f"t{at}")
    consolidate(room)
    clock.wait(hours=1)
    judge = JudgeOf("contradiction", 0.9)
    report = consolidate(room, judge=judge)
    assert figures_of(report)["suspicions"] == {"judged": 10, "linked": 10, "waiting": 2}
    assert len(judge.asked) == 10


@pytest.mark.row("002 2.79")
def test_a_judge_that_does_not_answer_leaves_the_signs(room: Room, clock: Clock) -> None:
    pool(room, clock)
    saved(room, "Redis caching is enabled in staging.", topic="cache")
    saved(room, "Redis caching is enabled in staging and in production.", topic="cache")
    report = consolidate(room, judge=JudgeOf(""))
    assert figures_of(report)["contradictions"] == {"checked": 4, "suspected": 1}


def vector(*numbers: float) -> bytes:
    return struct.pack(f"<{len(numbers)}f", *numbers)


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.61")
@pytest.mark.parametrize(("cosine", "found"), [(0.84, 0), (0.86, 1)])
def test_with_vectors_the_cosine_of_the_specification_decides(
    room: Room, clock: Clock, cosine: float, found: int
) -> None:
    one, other = pool(room, clock)
    with room.engine.writing() as writing:
        writing.put_vectors(
            [
                Embedding(one.number, vector(1.0, 0.0)),
                Embedding(other.number, vector(cosine, (1 - cosine**2) ** 0.5)),
            ]
        )
    assert len(consolidate(room).suspicions) == found


@pytest.mark.row("002 2.79")
@pytest.mark.parametrize(("cosine", "waits"), [(0.93, True), (0.91, False)])
def test_a_near_pair_waits_until_the_judge_answers(
    room: Room, clock: Clock, cosine: float, waits: bool
) -> None:
    one = saved(room, "The shop sells bread on Sundays.", topic="shop")
    other = saved(room, "Bakers of the shop work at night.", topic="shop")
    with room.engine.writing() as writing:
        for it, numbers in ((one, (1.0, 0.0)), (other, (cosine, (1 - cosine**2) ** 0.5))):
            writing.put_vectors([Embedding(it.number, vector(*numbers))])
    report = consolidate(room, judge=JudgeOf(""))
    ids = [(it.earlier.id, it.later.id) for it in report.suspicions]
    assert ids == ([(one.id, other.id)] if waits else [])
    clock.wait(days=1)
    consolidate(room, judge=JudgeOf("contradiction", 0.9))
    assert bool(now_of(room, one).superseded_at) == waits


def test_what_is_noted_of_sessions_is_no_contradiction(room: Room, clock: Clock) -> None:
    for at in range(3):
        for text in ("Alpha is here.", "Bravo is there.", "Charlie is gone.")[: at + 1]:
            draft = Draft(content=f"{text} {at}", topic=f"t{at}{text[0]}")
            remember(room, draft, session=f"s{at}")
        clock.wait(hours=1)
        assert end_session(room, f"s{at}").reflected
    consolidate(room)
    assert suspicions_of(room) == []
