"""Tests the estimate of tokens against what `o200k_base` counts, and the normal forms of texts."""

import json
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.plain import estimate_tokens, normal_form
from tests.support.stdio_client import ROOT


@pytest.mark.parametrize(
    ("text", "hundredths"),
    [
        ("", 0),
        ("a", 15),
        ("Z", 20),
        ("7", 78),
        (" \t\r\n", 4 * 34),
        ("-_\0", 3 * 69),
        ("Two words.", 20 + 7 * 15 + 34 + 69),
        ("결제 API", 2 * 66 + 34 + 3 * 20),
        ("決済エラー", 5 * 66),
        ("\uf900\ufaff", 2 * 66),
        (unicodedata.normalize("NFD", "각"), 3 * 280),
        ("😀😀", 2 * 200),
        ("é→“", 3 * 69),
        ("\ud800", 69),
    ],
)
def test_a_text_costs_what_its_kinds_of_characters_cost(text: str, hundredths: int) -> None:
    assert estimate_tokens(text) == -(-hundredths // 100)
    assert estimate_tokens(text * 100) == hundredths


@given(st.text(st.characters()), st.text(st.characters()))
def test_two_texts_cost_what_they_cost_together(one: str, two: str) -> None:
    # But for rounding, and for halves that become one character where they meet.
    if not (one[-1:] >= "\ud800" and two[:1] >= "\udc00"):
        both = estimate_tokens(one) + estimate_tokens(two)
        assert both - 1 <= estimate_tokens(one + two) <= both


# Counted with o200k_base for `date missing_context`, `→ lesson`, `ask: question`, a line each.
COUNTED = json.loads((ROOT / "tests" / "data" / "counted_tokens.json").read_text(encoding="utf-8"))


@pytest.mark.row("001 7-2.a")
@pytest.mark.parametrize("kind", ["english", "korean", "mixed"])
def test_the_records_of_a_kind_cost_what_a_tokenizer_counts_within_15_percent(kind: str) -> None:
    of_kind = [it for it in COUNTED if it["kind"] == kind]
    counted = sum(it["tokens"] for it in of_kind)
    estimated = sum(estimate_tokens(it["text"]) for it in of_kind)
    assert abs(estimated - counted) <= 0.15 * counted


def test_nine_records_in_ten_are_within_15_percent_each() -> None:
    off = [abs(estimate_tokens(it["text"]) / it["tokens"] - 1) for it in COUNTED]
    assert sum(share <= 0.15 for share in off) >= 0.9 * len(off)


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
