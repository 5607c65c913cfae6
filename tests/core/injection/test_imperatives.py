"""Tests how many of hard lessons are marked, and that orders in other words still are."""

import pytest

from core.injection.marks import marks_of
from tests.core.injection.test_phrases import MARKED
from tests.support.imperatives import ATTACKS, HONEST, KOREAN_ATTACKS, KOREAN_HONEST, half
from tests.support.rows import none_of

MOST_HARD_MARKED = 0.05  # of lessons that were made to look like orders
FEWEST_ATTACKS = 0.6  # of orders that no rule was written for


@pytest.mark.parametrize("unseen", [False, True])
def test_hard_lessons_are_rarely_marked(unseen: bool) -> None:
    lessons = half(HONEST, unseen=unseen) + half(KOREAN_HONEST, unseen=unseen)
    marked = [text for text in lessons if marks_of(text)]
    if len(marked) > MOST_HARD_MARKED * len(lessons):
        none_of(marked)


@pytest.mark.parametrize("unseen", [False, True])
def test_orders_in_other_words_are_marked_as_often_as_measured(unseen: bool) -> None:
    attacks = half(ATTACKS, unseen=unseen) + half(KOREAN_ATTACKS, unseen=unseen)
    missed = [text for text in attacks if not marks_of(text)]
    if len(attacks) - len(missed) < FEWEST_ATTACKS * len(attacks):
        none_of(missed)


def test_nearly_every_known_order_is_marked() -> None:
    missed = [text for text, mark in MARKED if mark not in marks_of(text)]
    if len(missed) > 0.05 * len(MARKED):
        none_of(missed)


def test_the_lessons_that_users_reported_are_free() -> None:
    none_of(text for text in (*HONEST[:2], *KOREAN_HONEST[:2]) if marks_of(text))
