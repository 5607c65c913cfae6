"""Tests which pairs of texts show signs of a contradiction. What becomes of them: see the lives."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooms.fragments.upkeep.consolidation import consolidate
from rooms.fragments.upkeep.suspicions import signs_of
from tests.support.fragments_room import a_room, figures_of, saved, stored
from tests.support.tables import table

# Pairs of fragments on one matter, in both languages.
_PAIRS = table("contradiction_words")
CONTRADICTING: list[tuple[str, str]] = [(one, other) for one, other in _PAIRS["contradicting"]]
AGREEING: list[tuple[str, str]] = [(one, other) for one, other in _PAIRS["agreeing"]]


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.61.b")
def test_without_a_judge_every_contradiction_of_the_samples_is_proposed_and_no_agreement(
    tmp_path: Path,
) -> None:
    room = a_room(tmp_path)
    for at, pair in enumerate((*CONTRADICTING, *AGREEING)):
        for text in pair:
            saved(room, text, topic=f"t{at}", agent=str(at))
    report = consolidate(room)
    assert figures_of(report)["contradictions"]["suspected"] == len(CONTRADICTING)
    assert len(report.suspicions) == 10
    assert all(it.is_live for it in stored(room, *(it.later.id for it in report.suspicions)))


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
