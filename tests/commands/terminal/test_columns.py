"""Tests how wide lines on a terminal are, where they break, and that tables line up."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands.terminal.columns import broken, cells, fitted, table, wrapped


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("record", 6),
        ("기록 4건", 8),
        (unicodedata.normalize("NFD", "기록"), 4),
        ("e\u0301", 1),
        ("①…", 2),
        ("日本", 4),
        ("👍\u200d", 2),
        ("", 0),
    ],
)
def test_cells_are_counted_as_a_terminal_draws_them(text: str, width: int) -> None:
    assert cells(text) == width


@given(st.text(), st.integers(min_value=1, max_value=30))
def test_a_fitted_text_is_a_beginning_that_fits(text: str, most: int) -> None:
    shown = fitted(text, most)
    assert cells(shown) <= most
    assert shown == text or text.startswith(shown[:-1])


def test_a_text_is_cut_between_two_syllables() -> None:
    assert [fitted("기록 하나", most) for most in (9, 8, 7, 4, 3, 2, 1)] == [
        "기록 하나",
        "기록 하…",
        "기록…",
        "기…",
        "기…",
        "…",
        "…",
    ]


def test_a_sentence_breaks_at_blanks_and_a_long_word_stays_whole() -> None:
    long = "x" * 90
    assert wrapped(f"one {long} two", 80) == ["  one", f"  {long}", "  two"]
    assert wrapped("한글 " * 17, 80) == ["  " + "한글 " * 14 + "한글", "  한글 한글"]
    assert wrapped("", 80) == []


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("Run `git add .context -p`, then", ["Run", "`git add .context -p`,", "then"]),
        ("Run python cli.py doctor --fix, or", ["Run", "python cli.py doctor --fix,", "or"]),
        (
            "See python cli.py list --topic T로 보기",
            ["See", "python cli.py list --topic T로", "보기"],
        ),
        ("As python cli.py doctor. Then go", ["As", "python cli.py doctor.", "Then go"]),
    ],
)
def test_a_command_is_not_torn_where_it_fits(text: str, lines: list[str]) -> None:
    width = max(map(cells, lines))
    assert wrapped(text, width, "") == broken(text, width) == lines


def test_numbers_stand_at_the_right_and_texts_at_the_left_of_their_columns() -> None:
    rows = [["1,000", "a", "last"], ["7", "가나", "x" * 80]]
    assert table(["수", "이름", "text"], rows, 80) == [
        "     수  이름  text",
        "  1,000  a     last",
        "      7  가나  " + "x" * 64 + "…",
    ]
