"""Tests what a text costs, its normal forms, which topics are of use, and which texts are code.

The topics and texts stand in tests/data/wording.json.
"""

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.plain import estimate_tokens, normal_form
from core.text.wording import is_source_code, scope_of
from tests.support.tables import none_of, table

WORDING = table("wording")


@pytest.mark.row("001 7-2.a")
def test_a_text_costs_what_its_characters_do_and_records_what_a_tokenizer_counts() -> None:
    for text, hundredths in WORDING["cost in hundredths of a token"]:
        assert estimate_tokens(text) == -(-hundredths // 100)
        assert estimate_tokens(text * 100) == hundredths
    """Counted with o200k_base for `date missing_context`, `→ lesson`, `ask: question`."""
    counted = table("counted_tokens")
    for kind in ("english", "korean", "mixed"):
        of_kind = [it for it in counted if it["kind"] == kind]
        tokens = sum(it["tokens"] for it in of_kind)
        assert abs(sum(estimate_tokens(it["text"]) for it in of_kind) - tokens) <= 0.15 * tokens
    off = [abs(estimate_tokens(it["text"]) / it["tokens"] - 1) for it in counted]
    assert sum(share <= 0.15 for share in off) >= 0.9 * len(off)


@given(st.text(st.characters()), st.text(st.characters()))
def test_two_texts_cost_what_they_cost_together(one: str, two: str) -> None:
    # But for rounding, and for halves that become one character where they meet.
    if not (one[-1:] >= "\ud800" and two[:1] >= "\udc00"):
        both = estimate_tokens(one) + estimate_tokens(two)
        assert both - 1 <= estimate_tokens(one + two) <= both


MARKS = "\u0301\u0316"  # of two classes, so that each pair has to be exchanged


@pytest.mark.long  # it costs much
@given(st.text(max_size=300))
def test_a_text_gets_its_form(text: str) -> None:
    assert normal_form("NFC", text) == unicodedata.normalize("NFC", text)
    assert normal_form("NFKC", text) == unicodedata.normalize("NFKC", text)


def test_a_long_text_gets_the_same_form_as_a_short_one() -> None:
    for word in ["e\u0301te\u0301 ", "\u1100\u1161\u11a8 ", "ﬁ①", "한글 과 "]:
        text = word * 100 + (word + " ") * 1_000
        assert normal_form("NFC", text) == unicodedata.normalize("NFC", text)
        assert normal_form("NFKC", text) == unicodedata.normalize("NFKC", text)


# Which topics are too broad or too narrow, and which texts are code.


def test_a_topic_is_narrow_or_broad_or_neither_and_code_is_no_prose() -> None:
    for scope in ("narrow", "broad", None):
        none_of(topic for topic in WORDING[scope or "fine"] if scope_of(topic) != scope)
    none_of(text for text in WORDING["code"] if not is_source_code(text))
    none_of(text for text in WORDING["prose"] if is_source_code(text))


@given(st.text(alphabet="ab1 2026-_/.:#{}();=<>`~@\n가fix버그", max_size=200))
def test_any_text_is_judged(text: str) -> None:
    assert scope_of(text) in ("broad", "narrow", None)
    assert is_source_code(text) in (True, False)


@pytest.mark.long  # it measures the time
def test_no_text_takes_long_and_marks_without_an_end_a_time_that_grows_with_them() -> None:
    for unit in ["a", "; ", "{", "def a", "<a", "a.", "x = ", " ", "a(", "#1", "A-1"]:
        text = unit * (200_000 // len(unit))
        began = time.process_time()
        is_source_code(text)
        scope_of(text)
        assert time.process_time() - began < 1

    def took(pairs: int) -> float:
        start = time.process_time()
        normal_form("NFKC", "a" + MARKS * pairs)
        return time.process_time() - start

    assert took(40_000) < 8 * took(10_000) + 0.05  # of its square it would be 16
