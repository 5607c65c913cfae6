"""Finds the words of an index that a misspelled word may mean."""

from collections.abc import Sequence

from core.text.terms import FIRST_WIDE, Term

_LEAST_CHARS = 5  # a shorter word is near to too many others
_SAME_CHARS = 3  # that it begins with
_MOST_WORDS = 3
_LEAST_RATIO = 0.8


def begins_of(term: Term) -> str:
    """Return what words begin with that are near to one; "" for scripts without blanks."""
    needle = term.needle
    if len(needle) < _LEAST_CHARS or not needle.isalpha() or needle[0] >= FIRST_WIDE:
        return ""
    return needle[:_SAME_CHARS]


def near_words(term: Term, words: Sequence[str]) -> list[str]:
    """Return those of some words that are spelled almost as a term."""
    from difflib import get_close_matches  # few questions need it

    return get_close_matches(term.needle, words, _MOST_WORDS, _LEAST_RATIO)
