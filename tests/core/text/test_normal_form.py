"""Tests that a normal form costs a time that grows with the text, and is the one of Unicode."""

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.normal_form import normal_form

MARKS = "\u0301\u0316"  # of two classes, so that each pair has to be exchanged


@pytest.mark.long  # it costs much
@given(st.text(max_size=300))
def test_a_text_gets_its_form(text: str) -> None:
    assert normal_form("NFC", text) == unicodedata.normalize("NFC", text)
    assert normal_form("NFKC", text) == unicodedata.normalize("NFKC", text)


@pytest.mark.parametrize("word", ["e\u0301te\u0301 ", "\u1100\u1161\u11a8 ", "ﬁ①", "한글 과 "])
def test_a_long_text_gets_the_same_form_as_a_short_one(word: str) -> None:
    text = word * 100 + (word + " ") * 1_000
    assert normal_form("NFC", text) == unicodedata.normalize("NFC", text)
    assert normal_form("NFKC", text) == unicodedata.normalize("NFKC", text)


@pytest.mark.long  # it measures the time
def test_marks_without_an_end_take_a_time_that_grows_with_them() -> None:
    def took(pairs: int) -> float:
        start = time.process_time()
        normal_form("NFKC", "a" + MARKS * pairs)
        return time.process_time() - start

    assert took(40_000) < 8 * took(10_000) + 0.05  # of its square it would be 16
