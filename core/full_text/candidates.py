"""Finds the rows of a table that answer a question by its full-text index.

The index tells which rows have which terms of the question, and by that alone which share of the
question each of them has. Those that have most are put in order by the ranker, with what is known
of all rows; so few are read for it that the time hardly grows with their number.
"""

import sqlite3
import sys
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from core.full_text.spelling import near_words
from core.text.hangul import verb_beginning
from core.text.holding import Held, Holding
from core.text.ranking import Ranking
from core.text.terms import Term, words_of

MOST_CANDIDATES = 3_000  # that have one of the rarest terms of the question
BLOCK = 12  # rows of about the same share, whose texts are ranked
_MOST_CHARS = 500_000  # of the texts that are ranked at once
_MOST_TERMS = 32
_MOST_KNOWN = 8  # of the terms that any row has, the rarest tell what is near
_MOST_SPELLED = 4  # words of a question that is short enough to be typed
_COUNTED = 100  # how common a term is that more rows have is worked out from the newest


class Index(NamedTuple):
    """A full-text index of `indexed` texts, and the table whose rows it is of.

    texts: returns the whole texts of some rows by their numbers, ascending.
    """

    name: str
    table: str
    texts: Callable[[sqlite3.Connection, Iterable[int]], Iterable[tuple[int, str]]]

    @property
    def rows(self) -> str:
        """The statement that yields the rows of an expression, the newest first."""
        return f"SELECT rowid FROM {self.name} WHERE {self.name} MATCH ? ORDER BY rowid DESC LIMIT"


class _Sought(NamedTuple):
    """A term of the question, its expression for MATCH, and how many rows have it.

    newest: their numbers, all of them where they are fewer than _COUNTED.
    """

    term: Term
    match: str
    having: int
    newest: Sequence[int]


class Candidates:
    """The rows that have a good part of a question, those that have most of it first.

    shares: by number the share of the question that each has. best: the numbers, those of the
    greatest share first, of equals the newer.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        index: Index,
        query: str,
        fitting: Collection[int] | None = None,
        *,
        least: float,
        most: int = MOST_CANDIDATES,
        any_word: bool = False,
        without: Collection[int] = (),
    ) -> None:
        """Find them. The connection must stay open.

        fitting: the only rows that may be found. least: the share that each must have. most: how
        many that have one of the rarest terms are looked at; with `fitting` all of them, for few of
        them may fit. any_word: words that no row has keep none from being found: who searches may
        try some. without: rows that may not be found.
        """
        self._connection, self._index, self._query = connection, index, query
        holding = holding_of(connection, index, query, most if fitting is None else sys.maxsize)
        self._frequencies = holding.frequencies()
        having = holding.shares(least, any_word=any_word)
        allowed = having if fitting is None else fitting
        self.shares = {
            number: share
            for number, share in having.items()
            if number in allowed and number not in without
        }
        self.best = sorted(self.shares, key=lambda it: (self.shares[it], it), reverse=True)

    def page(self, offset: int, limit: int) -> list[int]:
        """Return the numbers of some of them, in the order of the ranker where shares are near.

        No two pages have one in common.
        """
        first = offset // BLOCK * BLOCK
        numbers = list[int]()
        for start in range(first, min(offset + limit, len(self.best)), BLOCK):
            numbers += self._by_text(self.best[start : start + BLOCK])
        return numbers[offset - first : offset - first + limit]

    def _by_text(self, numbers: Sequence[int]) -> list[int]:
        """Return the rows in the order of the ranker."""
        kept, texts, left = list[int](), list[str](), _MOST_CHARS
        for number, text in self._index.texts(self._connection, numbers):
            kept.append(number)
            texts.append(text[:left])
            left -= len(texts[-1])
        order = Ranking(self._query, texts, self._frequencies).order()
        return [kept[at] for at in order]


def holding_of(connection: sqlite3.Connection, index: Index, query: str, most: int) -> Holding:
    """Return which rows have which strong terms of a question.

    most: how many that have one of the rarest terms are looked at.
    """
    newest = connection.execute(f"SELECT max(rowid) FROM {index.table}").fetchone()[0] or 0
    sought = _sought(connection, index, query, newest)
    known = sorted((it for it in sought if it.having), key=lambda it: it.having)[:_MOST_KNOWN]
    places = _places(connection, index, known, most)
    return Holding(
        newest,
        [Held(it.term, it.having, places.get(it.term) if it.having else ()) for it in sought],
    )


def _sought(connection: sqlite3.Connection, index: Index, query: str, newest: int) -> list[_Sought]:
    """Return the strong terms of a question; an unknown word with those that are spelled so."""
    sought = list[_Sought]()
    words = words_of(query)[:_MOST_TERMS]
    for strong, *_ in words:
        found = _counted(connection, index, strong, _match(strong), newest)
        if not found.having and not strong.spare and len(words) <= _MOST_SPELLED:
            near = near_words(connection, index.name, strong)
            if near:
                match = " OR ".join(f'"{word}"' for word in near)
                found = _counted(connection, index, strong, match, newest)
        sought.append(found)
    return sought


def _counted(
    connection: sqlite3.Connection, index: Index, term: Term, match: str, newest: int
) -> _Sought:
    """Return how many rows have a term: counted where it is rare, else by the newest."""
    numbers = [number for (number,) in connection.execute(f"{index.rows} {_COUNTED}", (match,))]
    having = len(numbers)
    if having == _COUNTED:
        having = max(having, having * newest // max(newest - numbers[-1] + 1, 1))
    return _Sought(term, match, having, numbers)


def _places(
    connection: sqlite3.Connection, index: Index, known: Sequence[_Sought], most: int
) -> dict[Term, Sequence[int]]:
    """Return which candidates have a term: the rows that have one of the rarest terms."""
    sums = list(accumulate(it.having for it in known))
    # Where even the rarest is common, the newest that have it.
    some = known[: max(1, bisect_right(sums, most))]
    any_of_some = " OR ".join(f"({it.match})" for it in some)
    places = dict[Term, Sequence[int]]()
    for number, it in enumerate(known):
        if len(it.newest) < _COUNTED:
            places[it.term] = it.newest
            continue
        match = it.match if number < len(some) else f"({it.match}) AND ({any_of_some})"
        rows = connection.execute(f"{index.rows} {most}", (match,))
        places[it.term] = [number for (number,) in rows]
    return places


def _match(term: Term) -> str:
    """Return the expression of a term, which is letters and digits alone."""
    needle = term.needle
    if term.run.startswith(needle) and (stem := verb_beginning(term.run)):
        return f'"{needle}" OR " {stem} "'
    if term.begins and not term.ends:
        return f'"{needle}" *'
    if term.ends and needle.isalpha():
        return f'" {needle} " OR "{needle}s"'
    return f'" {needle} "'  # between blanks, the index has it for the tokenizer trigram, too
