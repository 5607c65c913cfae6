"""Tests which lines of a text count as new."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands.clients.changed_lines import new_lines


@pytest.mark.parametrize(
    ("text", "before", "new"),
    [
        ("a\nb\nc", "a\nc", ["b"]),
        ("a\na", "a", ["a"]),
        ("c\na", "a\nc", []),
        ("  a\n\n", "a", []),
        ("a\r\nb\r\n", "a\n", ["b"]),
        ("값", "", ["값"]),
        ("", "a", []),
    ],
)
def test_only_lines_that_were_not_there_are_new(text: str, before: str, new: list[str]) -> None:
    assert new_lines(text, before) == new


@pytest.mark.long  # it costs much
@given(st.text(), st.text())
def test_nothing_is_new_in_what_was_there_and_all_words_are_where_nothing_was(
    one: str, other: str
) -> None:
    assert new_lines(one, one) == []
    assert "".join(new_lines(one, "")).split() == "".join(one.splitlines()).split()
    assert set(new_lines(one, other)) <= set(one.splitlines())
