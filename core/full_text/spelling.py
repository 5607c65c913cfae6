"""Finds the words of the index that a misspelled word may mean."""

import sqlite3

from core.text.terms import FIRST_WIDE, Term

_LEAST_CHARS = 5  # a shorter word is near to too many others
_SAME_CHARS = 3  # that it begins with
_MOST_WORDS = 3
_LEAST_RATIO = 0.8


def near_words(connection: sqlite3.Connection, index: str, term: Term) -> list[str]:
    """Return words of this index that are spelled almost so; [] for scripts without blanks."""
    needle = term.needle
    if len(needle) < _LEAST_CHARS or not needle.isalpha() or needle[0] >= FIRST_WIDE:
        return []
    connection.execute(
        "CREATE VIRTUAL TABLE IF NOT EXISTS"
        f" temp.{index}_words USING fts5vocab('main', '{index}', 'row')"
    )
    from difflib import get_close_matches  # few questions need it

    begins = needle[:_SAME_CHARS]
    rows = connection.execute(
        f"SELECT term FROM temp.{index}_words WHERE term >= ? AND term < ? LIMIT 20000",
        (begins, begins + "\U0010ffff"),
    )
    return get_close_matches(needle, [word for (word,) in rows], _MOST_WORDS, _LEAST_RATIO)
