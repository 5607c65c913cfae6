"""Tests how a fragment ages, and which two contradict each other; lives tell the consequences."""

import json
import re
import time
from collections.abc import Callable
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
from tests.support.fragments_room import START
from tests.support.tables import DATA, table

CONFIG = Config(Path("memory.db"))


def later(days: float) -> str:
    moment = datetime.fromisoformat(START) + timedelta(days=days)
    return moment.isoformat(timespec="seconds")


def fragment(**fields: Any) -> Fragment:
    dates = dict.fromkeys(("created_at", "updated_at", "verified_at"), START)
    return Fragment(**{"id": "a", "content": "c", **dates, **fields})


def decayed(one: Fragment, now: str, _: Config) -> list[Any] | None:
    decay = life.decay_of(one, now)
    return decay and [round(decay.importance, 9), decay.decayed_at]


# By rule the fields of fragments, the settings, and the outcome by the days since they were saved.
AGEING = json.loads(
    re.sub(
        r"day ([\d.]+)",
        lambda found: later(float(found[1])),
        (DATA / "fragment_ageing.json").read_text("utf-8"),
    )
)
RULES: dict[str, Callable[[Fragment, str, Config], Any]] = {
    "tier": lambda one, now, _: life.tier_of(one, now),
    "expired": lambda one, now, _: life.is_expired(one, now),
    "stale": life.is_stale,
    "doubtful": life.is_doubtful,
    "decay": decayed,
    "utility": lambda one, *_: round(life.utility_of(one), 5),
    "worth pinning": lambda one, *_: life.is_worth_pinning(one),
}


@pytest.mark.row("002 2.27", "002 2.27.b", "002 2.27.c", "002 2.27.d", "002 2.27.e", "002 2.29")
@pytest.mark.row("002 2.30.b", "002 2.85")
@pytest.mark.parametrize("rule", RULES)
def test_a_fragment_ages_as_the_table_says(rule: str) -> None:
    for fields, settings, by_day in AGEING[rule]:
        one, config = fragment(**fields), CONFIG._replace(**settings)
        found = {day: RULES[rule](one, later(float(day)), config) for day in by_day}
        assert found == by_day, (fields, settings)


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
    """Dates of a fragment may lie ahead of the clock by now."""
    ahead, now = later(max(there, back)), later(min(there, back))
    dates = {"accessed_at": ahead, "decayed_at": ahead}
    one = fragment(**dates, importance=0.8, stale_days=60, is_anchor=is_anchor)
    decay = life.decay_of(one, now)
    assert decay is None or decay.importance == 0.8
    assert life.tier_of(one, now) == ("permanent" if is_anchor else "hot")
    assert not life.is_stale(one, now, CONFIG)


# Pairs of fragments on one matter, in both languages.


@pytest.mark.row("002 2.61.b")
def test_every_contradiction_of_the_samples_shows_a_sign_and_hardly_an_agreement_does() -> None:
    pairs = table("contradiction_words")
    assert [it for it in pairs["contradicting"] if not signs_of(*it)] == []
    shown = [one for one, other in pairs["agreeing"] if signs_of(one, other)]
    assert shown == ["The build works without a network."]  # the other is hardly alike to it
    for one, other, signs in pairs["signs"]:
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
