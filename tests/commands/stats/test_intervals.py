"""Tests the intervals of shares against figures that others have published."""

import pytest

from commands.stats.intervals import LEAST, Share, difference


@pytest.mark.parametrize(
    ("count", "of", "low", "high"),
    [
        # Newcombe 1998, Statistics in Medicine 17:857, table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_the_interval_of_a_share_is_wilsons(count: int, of: int, low: float, high: float) -> None:
    assert Share(count, of).interval == pytest.approx((low, high), abs=0.00006)


@pytest.mark.parametrize(
    ("one", "other", "low", "high"),
    [
        # Newcombe 1998, Statistics in Medicine 17:873, table II, method 10.
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((10, 10), (0, 10), 0.6075, 1.0),
        ((0, 10), (0, 10), -0.2775, 0.2775),
    ],
)
def test_the_interval_of_a_difference_is_newcombes(
    one: tuple[int, int], other: tuple[int, int], low: float, high: float
) -> None:
    gap, below, above = difference(Share(*one), Share(*other))
    assert gap == pytest.approx(one[0] / one[1] - other[0] / other[1])
    assert (below, above) == pytest.approx((low, high), abs=0.00006)


def test_a_share_of_nothing_may_be_any() -> None:
    assert (Share(0, 0).value, Share(0, 0).interval) == (0.0, (0.0, 1.0))


def test_the_ends_are_exact() -> None:
    assert [Share(0, of).interval[0] for of in range(1, 50)] == [0.0] * 49
    assert [Share(of, of).interval[1] for of in range(1, 50)] == [1.0] * 49


def test_few_are_not_told_as_a_share() -> None:
    assert [Share(0, of).is_enough for of in (LEAST - 1, LEAST)] == [False, True]
