"""Tests how a fragment ages, and which two contradict each other. What becomes of them: the lives.

Tiers, decay, expiry, staleness, doubt, and clocks that jump; signs that two texts show.
"""

import time
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooms.fragments.fragment import Fragment
from rooms.fragments.links import signs_of
from rooms.fragments.room import Config
from rooms.fragments.upkeep import life
from rooms.fragments.upkeep.consolidation import consolidate
from tests.support.fragments_room import a_room, figures_of, saved, stored
from tests.support.tables import table

SAVED = "2026-05-01T10:00:00+00:00"
CONFIG = Config(Path("memory.db"))


def later(days: float) -> str:
    moment = datetime.fromisoformat(SAVED) + timedelta(days=days)
    return moment.isoformat(timespec="seconds")


def fragment(**fields: Any) -> Fragment:
    dates = dict.fromkeys(("created_at", "updated_at", "verified_at"), SAVED)
    return Fragment(**{"id": "a", "content": "c", **dates, **fields})


@pytest.mark.row("002 2.27", "002 2.27.b", "002 2.27.c", "002 2.27.e", "002 2.85")
@pytest.mark.parametrize(
    ("fields", "hot", "warm", "cold"),
    [
        ({"access_count": 9}, (0, 6.9), (7, 13.9, 29.9), (30, 4_000)),
        ({"access_count": 10}, (0, 13.9), (14, 59.9), (60, 4_000)),
        ({"accessed_at": later(99)}, (100,), (107,), (130,)),
        ({"accessed_at": "~", "decayed_at": "once"}, (9_000,), (), ()),  # nobody can read that
    ],
)
def test_a_fragment_cools_after_a_week_and_a_month_and_later_if_it_was_used_often(
    fields: dict[str, Any], hot: tuple[float], warm: tuple[float], cold: tuple[float]
) -> None:
    for tier, ages in (("hot", hot), ("warm", warm), ("cold", cold)):
        assert {life.tier_of(fragment(**fields), later(it)) for it in ages} <= {tier}
        pinned = fragment(**fields, is_anchor=True)
        assert {life.tier_of(pinned, later(it)) for it in ages} <= {"permanent"}


def test_a_lifetime_ends_for_what_is_not_pinned() -> None:
    one = fragment(expires_at=later(2))
    assert [life.is_expired(one, later(it)) for it in (1.9, 2, 2.1)] == [False, False, True]
    for other in (replace(one, is_anchor=True), fragment(), fragment(expires_at="later")):
        assert not life.is_expired(other, later(9_000))


@pytest.mark.row("002 2.27.d", "002 2.29", "002 2.30.b")
@pytest.mark.parametrize(
    ("fields", "days", "is_stale"),
    [
        *(({"stale_days": 60}, days, days > 60) for days in (60, 60.1)),
        ({"stale_days": 60, "is_anchor": True}, 999, False),
        ({"stale_days": 0}, 36_000, False),
        ({"stale_days": 8}, 29, False),  # it is not cold yet
        ({"stale_days": 60, "accessed_at": later(50)}, 100, False),
    ],
)
def test_a_cold_fragment_is_stale_after_its_days_and_one_without_never(
    fields: dict[str, Any], days: float, *, is_stale: bool
) -> None:
    assert life.is_stale(fragment(**fields), later(days), CONFIG) == is_stale
    shorter, never = (CONFIG._replace(stale_days=(("fact", it),)) for it in (40, 0))
    assert not life.is_stale(fragment(**fields), later(days), never)
    if is_stale:  # days of the settings hold for what was saved before
        assert life.is_stale(fragment(**fields), later(41), shorter)


def test_only_a_procedure_that_nobody_verified_is_doubtful() -> None:
    one = fragment(kind="procedure", lifetime="procedural")
    assert [life.is_doubtful(one, later(it), CONFIG) for it in (30, 31)] == [False, True]
    assert not life.is_doubtful(replace(one, verified_at=later(20)), later(31), CONFIG)
    assert not life.is_doubtful(fragment(), later(999), CONFIG)
    assert not life.is_doubtful(one, later(999), CONFIG._replace(doubtful_days=0))
    assert life.is_doubtful(one, later(8), CONFIG._replace(doubtful_days=7))


HALF_A_YEAR = 26 * 7


@pytest.mark.row("002 2.27")
@pytest.mark.parametrize(
    ("fields", "days", "left"),
    [
        ({"importance": 0.8}, 36.9, None),
        ({"importance": 0.8}, 30 + HALF_A_YEAR, (0.4, 30 + HALF_A_YEAR)),
        ({"importance": 0.8, "access_count": 10}, 60 + HALF_A_YEAR, (0.4, 60 + HALF_A_YEAR)),
        ({"importance": 0.8}, 36_001, (life.LEAST_IMPORTANCE, 35_996)),
        ({"importance": 0.05}, 36_000, None),
        ({"importance": 0.8, "is_anchor": True}, 36_000, None),
        ({"importance": 0.8, "accessed_at": "9999-12-31T23:59:59+00:00"}, 0, None),
        # The clock was ahead: nothing is lost, and decay goes on from now.
        ({"importance": 0.8, "decayed_at": later(30_000)}, 100, (0.8, 100)),
        ({"importance": 0.8, "decayed_at": later(100)}, 100 + HALF_A_YEAR, (0.4, 282)),
    ],
)
def test_a_cold_fragment_loses_half_of_its_importance_in_half_a_year(
    fields: dict[str, Any], days: float, left: tuple[float, float] | None
) -> None:
    decay = life.decay_of(fragment(**fields), later(days))
    told = decay and (round(decay.importance, 9), decay.decayed_at)
    assert told == (left and (left[0], later(left[1])))


@given(st.lists(st.floats(0, 300), max_size=20), st.floats(0, 1), st.integers(0, 20))
def test_how_often_upkeep_runs_makes_no_difference_to_decay(
    days: list[float], importance: float, uses: int
) -> None:
    def at_last(*moments: float) -> float:
        one = fragment(importance=importance, access_count=uses)
        for it in sorted(moments):
            decay = life.decay_of(one, later(it))
            one = replace(one, **decay._asdict()) if decay else one
        return one.importance

    often = at_last(*days, 300)
    assert abs(at_last(300) - often) < 1e-9
    assert 0 <= often <= importance


@given(st.floats(-40_000, 40_000), st.floats(-40_000, 40_000), st.booleans())
def test_a_clock_that_jumps_back_makes_nothing_older(
    there: float, back: float, is_anchor: bool
) -> None:
    """Whatever was noted in a time that lies ahead by now."""
    ahead, now = later(max(there, back)), later(min(there, back))
    dates = {"accessed_at": ahead, "decayed_at": ahead}
    one = fragment(**dates, importance=0.8, stale_days=60, is_anchor=is_anchor)
    decay = life.decay_of(one, now)
    assert decay is None or decay.importance == 0.8
    assert life.tier_of(one, now) == ("permanent" if is_anchor else "hot")
    assert not life.is_stale(one, now, CONFIG)


def test_use_is_reckoned_as_the_specification_says_and_makes_a_fragment_worth_pinning() -> None:
    assert life.utility_of(fragment(importance=0.5)) == 0.5
    assert abs(life.utility_of(fragment(importance=0.5, access_count=10)) - 1.65129) < 1e-5
    uses = {"access_count": 10, "importance": 0.8}
    changes: list[dict[str, Any]] = [{}, {"access_count": 9}, {"importance": 0.79}]
    changes.append({"is_anchor": True})
    worth = [life.is_worth_pinning(fragment(**{**uses, **it})) for it in changes]
    assert worth == [True, False, False, False]


# Pairs of fragments on one matter, in both languages.

PAIRS = table("contradiction_words")


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.61.b")
def test_without_a_judge_every_contradiction_of_the_samples_is_proposed_and_no_agreement(
    tmp_path: Path,
) -> None:
    room = a_room(tmp_path)
    for at, pair in enumerate((*PAIRS["contradicting"], *PAIRS["agreeing"])):
        for text in pair:
            saved(room, text, topic=f"t{at}", agent=str(at))
    report = consolidate(room)
    suspected = figures_of(report)["contradictions"]["suspected"]
    assert (suspected, len(report.suspicions)) == (len(PAIRS["contradicting"]), 10)
    assert all(it.is_live for it in stored(room, *(it.later.id for it in report.suspicions)))


def test_every_contradiction_of_the_samples_shows_a_sign_and_hardly_an_agreement_does() -> None:
    assert [it for it in PAIRS["contradicting"] if not signs_of(*it)] == []
    shown = [one for one, other in PAIRS["agreeing"] if signs_of(one, other)]
    assert shown == ["The build works without a network."]  # the other is hardly alike to it
    for one, other, signs in PAIRS["signs"]:
        assert [*signs_of(one, other)] == [*signs_of(other, one)] == signs, one


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
