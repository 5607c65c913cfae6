"""Tests how wide lines on a terminal are, where they break, and that tables line up."""

import unicodedata
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands.terminal.screen import broken, cells, day_text, fitted, table, wrapped
from core.messages import Language
from tests.support.sentences import in_language
from tests.support.tables import table as rows_of

ROWS = rows_of("commands/columns")


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


@pytest.mark.parametrize(("text", "lines"), ROWS["a_command_is_not_torn_where_it_fits"])
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


TODAY = date(2026, 11, 22)


@pytest.mark.parametrize(
    ("moment", "lang", "said"), ROWS["a_day_has_its_year_only_where_it_is_another"]
)
def test_a_day_has_its_year_only_where_it_is_another(
    moment: str, lang: Language, said: str
) -> None:
    assert in_language(lang, day_text, moment, TODAY) == said
