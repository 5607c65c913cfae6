"""Tests which topics are too broad or too narrow, and which texts are code: few false alarms.

The topics and texts stand in tests/data/wording.json.
"""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.wording import is_source_code, scope_of
from tests.support.rows import none_of
from tests.support.tables import table

TABLES = table("wording")


def test_a_topic_is_narrow_or_broad_or_neither_and_code_is_no_prose() -> None:
    for scope in ("narrow", "broad", None):
        none_of(topic for topic in TABLES[scope or "fine"] if scope_of(topic) != scope)
    none_of(text for text in TABLES["code"] if not is_source_code(text))
    none_of(text for text in TABLES["prose"] if is_source_code(text))


@given(st.text(alphabet="ab1 2026-_/.:#{}();=<>`~@\n가fix버그", max_size=200))
def test_any_text_is_judged(text: str) -> None:
    assert scope_of(text) in ("broad", "narrow", None)
    assert is_source_code(text) in (True, False)


@pytest.mark.long  # it measures the time
@pytest.mark.parametrize(
    "unit", ["a", "; ", "{", "def a", "<a", "a.", "x = ", " ", "a(", "#1", "A-1"]
)
def test_no_text_takes_long(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    began = time.process_time()
    is_source_code(text)
    scope_of(text)
    assert time.process_time() - began < 1
