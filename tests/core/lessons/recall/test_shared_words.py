"""Tests that a text is read as far as it shares words with an action, and that far completely."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.lessons.action import Action, Reading, Vocabulary
from core.lessons.recall import Candidate, Sought
from tests.support.samples import a_record

PIECES = [*"ab9B_-. \nﬁ환불이İK", "is", "ok", "Foo", "bar", "ies", "ing", "s", "ｆ", "É"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


@given(TEXTS, TEXTS)
def test_what_is_shared_is_what_both_have(one: str, other: str) -> None:
    first, second = Reading(one), Reading(other)
    shared = Vocabulary(one).shared(other)
    assert shared.words == first.words & second.words
    assert shared.names == first.names & second.names
    assert shared.pairs == first.pairs & second.pairs
    assert bool(shared) == bool(shared.words or shared.names or shared.pairs)


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("src/Payment/refund.py", "See refund.py.", {"refund.py"}),
        ("src/payment/refund.py", "All in Payment/refund.py", {"payment/refund.py"}),
        ("src/payment/refund.py", "what is below src/payment/", {"src/payment"}),
        ("src/payment/", "the folder src/payment", {"src/payment"}),
        ("src/payment/refund.py", "a payment is kept in vat.py", set()),
    ],
)
def test_a_text_is_searched_for_files_where_it_may_name_those_of_the_action(
    path: str, text: str, found: set[str]
) -> None:
    candidate = Candidate(a_record(lesson=text), Sought(Action(paths=(path,))))
    assert candidate.files == found
