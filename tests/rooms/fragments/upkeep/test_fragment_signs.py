"""Tests the signs by which two texts may contradict each other."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooms.fragments.upkeep.suspicions import NEGATION, NUMBERS, OPPOSITES, signs_of
from tests.support.upkeep_room import AGREEING, CONTRADICTING


def test_every_contradiction_of_the_samples_shows_a_sign_and_hardly_an_agreement_does() -> None:
    assert [it for it in CONTRADICTING if not signs_of(*it)] == []
    shown = [one for one, other in AGREEING if signs_of(one, other)]
    assert shown == ["The build works without a network."]  # the other is hardly alike to it


@pytest.mark.parametrize(
    ("one", "other", "sign"),
    [
        ("The API is public", "The API isn't public", NEGATION),
        ("It works without a network", "It does not work without a network", NEGATION),
        ("테스트는 병렬로 돌린다", "테스트는 병렬로 안 돌린다", NEGATION),
        ("Port 8080", "Port 9090", NUMBERS),
        ("The cache is on", "The cache is off", OPPOSITES),
        ("알림을 켜 둔다", "알림을 꺼 둔다", OPPOSITES),
        ("동기 방식이다", "비동기 방식이다", OPPOSITES),
    ],
)
def test_each_kind_of_sign_is_seen_in_both_orders(one: str, other: str, sign: str) -> None:
    assert signs_of(one, other) == signs_of(other, one) == (sign,)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The cache is on", "The cache is on and warm"),
        ("Version 3 of the API", "The API"),
        ("비활성화한다", "비활성화해 둔다"),
        ("", ""),
    ],
)
def test_what_is_no_sign_is_none(one: str, other: str) -> None:
    assert signs_of(one, other) == ()


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
