"""Tests how a fragment ages: tiers, decay, expiry, staleness, doubt, and clocks that jump."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooms.fragments.config import Config
from rooms.fragments.fragment import Fragment
from rooms.fragments.upkeep import life

SAVED = "2026-05-01T10:00:00+00:00"
CONFIG = Config(Path("memory.db"))


def later(days: float, start: str = SAVED) -> str:
    return (datetime.fromisoformat(start) + timedelta(days=days)).isoformat(timespec="seconds")


def fragment(**fields: object) -> Fragment:
    dates = dict.fromkeys(("created_at", "updated_at", "verified_at"), SAVED)
    return Fragment(**{"id": "a", "content": "c", **dates, **fields})  # type: ignore[arg-type]


@pytest.mark.row("002 2.27", "002 2.27.b", "002 2.27.c")
def test_a_fragment_cools_after_a_week_and_a_month_and_later_if_it_was_used_often() -> None:
    rare, often = fragment(access_count=9), fragment(access_count=10)
    ages = (0, 6.9, 7, 13.9, 14, 29.9, 30, 59.9, 60, 4_000)
    assert [life.tier_of(rare, later(it)) for it in ages] == (
        ["hot"] * 2 + ["warm"] * 4 + ["cold"] * 4
    )
    assert [life.tier_of(often, later(it)) for it in ages] == (
        ["hot"] * 4 + ["warm"] * 4 + ["cold"] * 2
    )


@pytest.mark.row("002 2.27.e", "002 2.85")
def test_what_is_recalled_is_hot_again_and_what_is_pinned_permanent() -> None:
    assert life.tier_of(fragment(accessed_at=later(99)), later(100)) == "hot"
    assert life.tier_of(fragment(is_anchor=True), later(4_000)) == "permanent"


def test_a_lifetime_ends_for_what_is_not_pinned() -> None:
    one = fragment(expires_at=later(2))
    assert [life.is_expired(one, later(it)) for it in (1.9, 2, 2.1)] == [False, False, True]
    assert not life.is_expired(replace(one, is_anchor=True), later(99))
    assert not life.is_expired(fragment(), later(10_000))


@pytest.mark.row("002 2.27.d", "002 2.29")
def test_a_cold_fragment_is_stale_after_its_days_and_one_without_never() -> None:
    one = fragment(stale_days=60)
    assert [life.is_stale(one, later(it), CONFIG) for it in (60, 60.1)] == [False, True]
    assert not life.is_stale(replace(one, is_anchor=True), later(999), CONFIG)
    assert not life.is_stale(fragment(stale_days=0), later(36_000), CONFIG)
    assert not life.is_stale(replace(one, stale_days=8), later(29), CONFIG)  # it is not cold yet
    assert not life.is_stale(replace(one, accessed_at=later(50)), later(100), CONFIG)


@pytest.mark.row("002 2.30.b")
def test_days_of_the_settings_hold_for_what_was_saved_before() -> None:
    shorter, never = (CONFIG._replace(stale_days=(("fact", it),)) for it in (40, 0))
    one = fragment(stale_days=60)
    assert life.is_stale(one, later(41), shorter) and not life.is_stale(one, later(999), never)
    assert not life.is_stale(fragment(stale_days=0), later(999), shorter)


def test_only_a_procedure_that_nobody_verified_is_doubtful() -> None:
    one = fragment(kind="procedure", lifetime="procedural")
    assert [life.is_doubtful(one, later(it), CONFIG) for it in (30, 31)] == [False, True]
    assert not life.is_doubtful(replace(one, verified_at=later(20)), later(31), CONFIG)
    assert not life.is_doubtful(fragment(), later(999), CONFIG)
    assert not life.is_doubtful(one, later(999), CONFIG._replace(doubtful_days=0))
    assert life.is_doubtful(one, later(8), CONFIG._replace(doubtful_days=7))


@pytest.mark.row("002 2.27")
def test_a_cold_fragment_loses_half_of_its_importance_in_half_a_year() -> None:
    one = fragment(importance=0.8)
    assert life.decay_of(one, later(36.9)) is None
    half = life.decay_of(one, later(30 + 26 * 7))
    assert half and abs(half.importance - 0.4) < 1e-9
    assert half.decayed_at == later(30 + 26 * 7)


def test_importance_sinks_to_a_tenth_and_what_is_lower_stays() -> None:
    sunk = life.decay_of(fragment(importance=0.8), later(36_000))
    assert sunk and sunk.importance == life.LEAST_IMPORTANCE
    assert life.decay_of(fragment(importance=0.05), later(36_000)) is None
    assert life.decay_of(fragment(importance=0.8, is_anchor=True), later(36_000)) is None


@given(
    st.lists(st.floats(0, 300), max_size=20),
    st.floats(0, 1),
    st.integers(0, 20),
)
def test_how_often_upkeep_runs_makes_no_difference_to_decay(
    days: list[float], importance: float, uses: int
) -> None:
    once = often = fragment(importance=importance, access_count=uses)
    moments = sorted(later(it) for it in [*days, 300])
    for now in moments:
        decay = life.decay_of(often, now)
        if decay:
            often = replace(often, **decay._asdict())
    decay = life.decay_of(once, moments[-1])
    if decay:
        once = replace(once, **decay._asdict())
    assert abs(once.importance - often.importance) < 1e-9
    assert 0 <= often.importance <= importance


@given(st.floats(-40_000, 40_000), st.floats(-40_000, 40_000), st.booleans())
def test_a_clock_that_jumps_back_makes_nothing_older(
    there: float, back: float, is_anchor: bool
) -> None:
    """Whatever was noted in a time that lies ahead by now."""
    ahead, now = later(max(there, back)), later(min(there, back))
    one = fragment(
        accessed_at=ahead, decayed_at=ahead, importance=0.8, stale_days=60, is_anchor=is_anchor
    )
    decay = life.decay_of(one, now)
    assert decay is None or decay.importance == 0.8
    assert life.tier_of(one, now) == ("permanent" if is_anchor else "hot")
    assert not life.is_stale(one, now, CONFIG)


def test_decay_goes_on_from_now_after_a_clock_was_ahead() -> None:
    one = fragment(importance=0.8, decayed_at=later(30_000))
    put_back = life.decay_of(one, later(100))
    assert put_back == life.Decay(0.8, later(100))
    after_half_a_year = life.decay_of(replace(one, **put_back._asdict()), later(100 + 26 * 7))
    assert after_half_a_year and abs(after_half_a_year.importance - 0.4) < 1e-9


def test_moments_that_nobody_can_read_make_nothing_older() -> None:
    one = fragment(accessed_at="~", decayed_at="once", expires_at="later", stale_days=1)
    assert life.tier_of(one, later(9_000)) == "hot"
    assert not life.is_expired(one, later(9_000)) and not life.is_stale(one, later(9_000), CONFIG)


def test_use_is_reckoned_as_the_specification_says() -> None:
    assert life.utility_of(fragment(importance=0.5)) == 0.5
    assert abs(life.utility_of(fragment(importance=0.5, access_count=10)) - 1.65129) < 1e-5


def test_ten_uses_and_eight_tenths_make_a_fragment_worth_pinning() -> None:
    assert life.is_worth_pinning(fragment(access_count=10, importance=0.8))
    assert not life.is_worth_pinning(fragment(access_count=9, importance=0.9))
    assert not life.is_worth_pinning(fragment(access_count=99, importance=0.79))
    assert not life.is_worth_pinning(fragment(access_count=10, importance=0.8, is_anchor=True))


def test_what_was_used_at_the_end_of_time_has_not_decayed() -> None:
    assert life.decay_of(fragment(accessed_at="9999-12-31T23:59:59+00:00"), SAVED) is None
