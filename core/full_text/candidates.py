"""Finds the rows of a table that answer a question by its full-text index.

The index tells which rows have which terms of the question, and by that alone which share of the
question each of them has. Those that have most are put in order by the ranker, with what is known
of all rows; so few are read for it that the time hardly grows with their number.
"""

import sqlite3
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from core.full_text.asking import Extent, holding_of
from core.text.ranking import Ranking
from core.text.terms import Term, verb_beginning

MOST_CANDIDATES = 3_000  # that have one of the rarest terms of the question
BLOCK = 12  # rows of about the same share, whose texts are ranked
_MOST_CHARS = 500_000  # of the texts that are ranked at once


class Index(NamedTuple):
    """A full-text index of `indexed` texts.

    texts: returns the whole texts of some rows by their numbers, ascending.
    """

    name: str
    texts: Callable[[sqlite3.Connection, Iterable[int]], Iterable[tuple[int, str]]]

    @property
    def rows(self) -> str:
        """The statement that yields the rows of an expression, the newest first."""
        return f"SELECT rowid FROM {self.name} WHERE {self.name} MATCH ? ORDER BY rowid DESC LIMIT"


class IndexTerms:
    """See `Terms`. The full-text index of a connection, which is asked by expressions of MATCH."""

    def __init__(self, connection: sqlite3.Connection, index: Index) -> None:
        self._connection, self._index = connection, index

    def extent(self) -> Extent:
        """See `Terms`."""
        sizes = f"{self._index.name}_docsize"  # a row for each text, few bytes long
        ones = ", ".join(f"(SELECT {it} FROM {sizes})" for it in ("min(id)", "max(id)", "count(*)"))
        first, newest, texts = self._connection.execute(f"SELECT {ones}").fetchone()
        return Extent(first or 1, newest or 0, texts)

    def match(self, term: Term) -> str:
        """See `Terms`. A term is letters and digits alone."""
        needle = term.needle
        if term.run.startswith(needle) and (stem := verb_beginning(term.run)):
            return f'"{needle}" OR " {stem} "'
        if term.begins and not term.ends:
            return f'"{needle}" *'
        if term.ends and needle.isalpha():
            return f'" {needle} " OR "{needle}s"'
        return f'" {needle} "'  # between blanks, the index has it for the tokenizer trigram, too

    def any_of(self, words: Sequence[str]) -> str:
        """See `Terms`."""
        return " OR ".join(f'"{word}"' for word in words)

    def words(self, begins: str, most: int) -> list[str]:
        """See `Terms`."""
        name = self._index.name
        self._connection.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS"
            f" temp.{name}_words USING fts5vocab('main', '{name}', 'row')"
        )
        rows = self._connection.execute(
            f"SELECT term FROM temp.{name}_words WHERE term >= ? AND term < ? LIMIT ?",
            (begins, begins + "\U0010ffff", most),
        )
        return [word for (word,) in rows]

    def newest(
        self, matches: Sequence[str], most: int, within: Sequence[str] = ()
    ) -> list[list[int]]:
        """See `Terms`."""
        any_of_these = " OR ".join(f"({it})" for it in within)
        both = f" AND ({any_of_these})" if within else ""
        return [self._numbers(f"({it}){both}", most) for it in matches]

    def _numbers(self, expression: str, most: int) -> list[int]:
        rows = self._connection.execute(f"{self._index.rows} {most}", (expression,))
        return [number for (number,) in rows]


class Candidates:
    """The rows that have a good part of a question, those that have most of it first.

    shares: by number the share of the question that each has. best: the numbers, those of the
    greatest share first, of equals the newer. frequencies: of its words in all rows.
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
        holding = holding_of(
            IndexTerms(connection, index), query, most if fitting is None else sys.maxsize
        )
        self.frequencies = holding.frequencies()
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
        order = Ranking(self._query, texts, self.frequencies).order()
        return [kept[at] for at in order]
