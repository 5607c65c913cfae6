"""Finds the texts that answer a question by a full-text index of SQLite or of PostgreSQL.

The rarest terms choose the texts.
"""

import re
import sqlite3
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple, Protocol, TypeVar

from core.text.ranking import Coverage, TermCount
from core.text.terms import FIRST_WIDE, Term, pieces_of, terms_of, verb_beginning

INDEXED_VERSION = 4  # of the result of `with_pieces`
PREFIXES = "4 6"  # the beginnings that an index keeps: of most English stems

_PLAIN_WORD = re.compile("[a-z0-9]+")
_SHORT_CHARS = 2  # too few for the tokenizer `trigram`
_MOST_TERMS = 32
_MOST_KNOWN = 8  # of the terms that any text has, the rarest tell which texts are near
_MOST_SPELLED = 4  # words of a question that is short enough to be typed
# Of a misspelled word: a shorter one is near to too many others; near ones begin as it does.
_LEAST_CHARS, _SAME_CHARS = 5, 3
_MOST_WORDS, _LEAST_RATIO = 3, 0.8
_MOST_COMPARED = 20_000  # words that begin as it does
_COUNTED = 100  # how common a term is that more texts have is worked out from the newest

Query = TypeVar("Query")
Numbers = Sequence[int]
Counts = dict[Term, TermCount]


def with_pieces(text: str) -> str:
    """Return the text with the pieces of its words behind it, each between blanks.

    >>> with_pieces("feeRate")
    'feeRate fee rate '

    Also pairs of characters (`인증` finds 로그인인증을) and stems of Korean verbs, but no plain
    words of an ASCII text, which every tokenizer finds.
    """
    plain_words = set(_PLAIN_WORD.findall(text.lower())) if text.isascii() else set[str]()
    pieces = [piece for piece in dict.fromkeys(pieces_of(text)) if piece not in plain_words]
    pieces += dict.fromkeys(filter(None, map(verb_beginning, pieces)))
    short_words = [word for word in plain_words if len(word) <= _SHORT_CHARS]
    added_words = [*pieces, *sorted(short_words)]
    return f"{text} {' '.join(added_words)} " if added_words else text


class TextRange(NamedTuple):
    """The least and the greatest number of the texts, and about how many there are."""

    first: int
    last: int
    texts: int


class TermIndex(Protocol[Query]):
    """An index of numbered texts by the pieces of `with_pieces`."""

    def text_range(self) -> TextRange:
        """Return the range of the texts."""

    def query_for(self, term: Term) -> Query:
        """Return the query for texts with a term."""

    def query_for_any(self, words: Sequence[str]) -> Query:
        """Return the query for texts with one of these words."""

    def words_with_prefix(self, begins: str, most: int) -> Sequence[str]:
        """Return words of the texts that begin so, in order."""

    def newest_texts(
        self, queries: Sequence[Query], most: int, within: Sequence[Query] = ()
    ) -> Sequence[Numbers]:
        """Return the newest texts of each query, the newest first.

        within: they also match one of these, () for all.
        """


def coverage_of(index: TermIndex[Query], query: str, most: int) -> Coverage:
    """Return which texts have which strong terms of a question. most: texts to look at."""
    span = index.text_range()
    words = terms_of(query)[:_MOST_TERMS]
    queries = {term: index.query_for(term) for term, *_ in words}
    counts = _count_texts(index, queries, span)
    if len(words) <= _MOST_SPELLED:
        near_queries = dict[Term, Query]()
        for term in [term for term, count in counts.items() if not (count.texts or term.is_spare)]:
            needle = term.needle
            if len(needle) >= _LEAST_CHARS and needle.isalpha() and needle[0] < FIRST_WIDE:
                from difflib import get_close_matches  # few questions need it

                candidates = index.words_with_prefix(needle[:_SAME_CHARS], _MOST_COMPARED)
                if matches := get_close_matches(needle, candidates, _MOST_WORDS, _LEAST_RATIO):
                    near_queries[term] = index.query_for_any(matches)
        queries |= near_queries
        counts |= _count_texts(index, near_queries, span)
    known_counts = [count for count in counts.values() if count.texts]
    rarest = sorted(known_counts, key=lambda count: count.texts)[:_MOST_KNOWN]
    places = _find_places(index, queries, rarest, most)
    for term, count in counts.items():
        counts[term] = count._replace(numbers=places.get(term) if count.texts else ())
    return Coverage(span.texts, [*counts.values()])


def _count_texts(index: TermIndex[Query], queries: dict[Term, Query], span: TextRange) -> Counts:
    """Return how many texts have each term, estimated from the newest where it is common."""
    counts = Counts()
    newest = index.newest_texts([*queries.values()], _COUNTED) if queries else ()
    for term, numbers in zip(queries, newest, strict=True):
        text_count = len(numbers)
        if text_count >= _COUNTED:
            share = max(span.last - numbers[-1] + 1, 1)
            text_count = max(text_count, text_count * (span.last - span.first + 1) // share)
        counts[term] = TermCount(term, text_count, numbers)
    return counts


def _find_places(
    index: TermIndex[Query], queries: dict[Term, Query], counts: Sequence[TermCount], most: int
) -> dict[Term, Numbers]:
    sums = list(accumulate(count.texts for count in counts))
    # Where even the rarest is common, the newest that have it.
    rare_count = max(1, bisect_right(sums, most))
    places = {count.term: count.numbers or () for count in counts if count.texts < _COUNTED}
    within = [queries[count.term] for count in counts[:rare_count]]
    for part, within_part in ((counts[:rare_count], within[:0]), (counts[rare_count:], within)):
        terms = [count.term for count in part if count.term not in places]
        if terms:
            newest = index.newest_texts([queries[term] for term in terms], most, within_part)
            places |= dict(zip(terms, newest, strict=True))
    return places


class SqliteTermIndex:
    """The `TermIndex` of a SQLite index, asked by expressions of MATCH."""

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        self._connection, self._name = connection, name

    def text_range(self) -> TextRange:
        rows = f"{self._name}_docsize"  # a row for each text, few bytes long
        row = ", ".join(f"(SELECT {sql} FROM {rows})" for sql in ("min(id)", "max(id)", "count(*)"))
        first, last, texts = self._connection.execute(f"SELECT {row}").fetchone()
        return TextRange(first or 1, last or 0, texts)

    def query_for(self, term: Term) -> str:
        """See `TermIndex`. A term is letters and digits alone."""
        needle = term.needle
        if term.run.startswith(needle) and (stem := verb_beginning(term.run)):
            return f'"{needle}" OR " {stem} "'
        if term.begins and not term.ends:
            return f'"{needle}" *'
        if term.ends and needle.isalpha():
            return f'" {needle} " OR "{needle}s"'
        return f'" {needle} "'  # between blanks, the index has it for the tokenizer trigram, too

    def query_for_any(self, words: Sequence[str]) -> str:
        return " OR ".join(f'"{word}"' for word in words)

    def words_with_prefix(self, begins: str, most: int) -> list[str]:
        name = self._name
        self._connection.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS"
            f" temp.{name}_words USING fts5vocab('main', '{name}', 'row')"
        )
        rows = self._connection.execute(
            f"SELECT term FROM temp.{name}_words WHERE term >= ? AND term < ? LIMIT ?",
            (begins, begins + "\U0010ffff", most),
        )
        return [word for (word,) in rows]

    def newest_texts(
        self, queries: Sequence[str], most: int, within: Sequence[str] = ()
    ) -> list[list[int]]:
        choice = " OR ".join(f"({query})" for query in within)
        condition = f" AND ({choice})" if within else ""
        name = self._name
        rows = f"SELECT rowid FROM {name} WHERE {name} MATCH ? ORDER BY rowid DESC LIMIT {most}"
        return [
            [number for (number,) in self._connection.execute(rows, (f"({query}){condition}",))]
            for query in queries
        ]


def is_index_sound(connection: sqlite3.Connection, index: str) -> bool:
    """Return whether an index is sound; True where nobody may write, and check it."""
    try:
        connection.execute(f"INSERT INTO {index}({index}) VALUES ('integrity-check')")
    except sqlite3.OperationalError:  # nobody can write here, and a check counts as writing
        return True
    except sqlite3.DatabaseError:
        return False
    return True
