"""Tests that the weight check refuses a program that is heavier than before."""

from tests.weight import breaches, raised


def test_a_figure_above_its_ceiling_is_named() -> None:
    assert breaches({"product_lines": 10}, {"product_lines": 10}) == []
    held, now = {"product_lines": 10, "test_lines": 5}, {"product_lines": 11, "test_lines": 4}
    [said] = breaches(held, now)
    assert said.startswith("product_lines is 11, and its ceiling in tests/weight.toml 10")


def test_a_ceiling_is_neither_raised_nor_left_out() -> None:
    assert raised({"product_lines": 10}, {"product_lines": 9, "test_lines": 5}) == []
    for after, figure in (({"product_lines": 11}, "11"), ({}, "gone")):
        wrong = f"the ceiling of product_lines was 10 and is {figure}"
        assert raised({"product_lines": 10}, after) == [wrong]
