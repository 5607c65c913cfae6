"""Puts sessions in the order in which they answer a question."""

import sqlite3
import sys
from collections.abc import Collection, Sequence
from contextlib import suppress

from core.room.full_text import IndexTerms, holding_of
from core.text.ranking import Ranking
from rooms.sessions.errors import NoSuchSessionError
from rooms.sessions.rows import sessions_where, texts_of
from rooms.sessions.search.filters import Filter
from rooms.sessions.search.found import LEAST_SHARE, Criteria, Hit, Page, level_of
from rooms.sessions.search.index import INDEX
from rooms.sessions.store import SessionStore

_MOST_RESEMBLING = 1_000  # of whom the best are told; nobody asks how many there are
_MOST_CANDIDATES = 3_000  # that have one of the rarest terms of the question
_BLOCK = 12  # sessions of about the same share, whose texts are ranked
_MOST_CHARS = 500_000  # of the texts that are ranked at once
MOST_OFFSET = 2**31  # SQLite takes no number beyond 63 bits


class Candidates:
    """The sessions that have a good part of a question.

    shares: by number the share of the question that each has. best: the numbers, those of the
    greatest share first, of equals the newer. frequencies: of its words in all sessions.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        query: str,
        fitting: Collection[int] | None = None,
        *,
        least: float = LEAST_SHARE,
        most: int = _MOST_CANDIDATES,
        any_word: bool = False,
        without: Collection[int] = (),
    ) -> None:
        """Find them. The connection must stay open.

        fitting: the only sessions that may be found. least: the share that each must have. most:
        how many that have one of the rarest terms are looked at; with `fitting` all of them, for
        few of them may fit. any_word: words that no session has keep none from being found: who
        searches may try some. without: sessions that may not be found.
        """
        self._connection, self._query = connection, query
        most = most if fitting is None else sys.maxsize
        holding = holding_of(IndexTerms(connection, INDEX), query, most)
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

        Few texts are read for it, so that the time hardly grows with their number. No two pages
        have a session in common.
        """
        first = offset // _BLOCK * _BLOCK
        numbers = list[int]()
        for start in range(first, min(offset + limit, len(self.best)), _BLOCK):
            kept, texts, left = list[int](), list[str](), _MOST_CHARS
            for number, text in texts_of(self._connection, self.best[start : start + _BLOCK]):
                kept.append(number)
                texts.append(text[:left])
                left -= len(texts[-1])
            order = Ranking(self._query, texts, self.frequencies).order()
            numbers += [kept[at] for at in order]
        return numbers[offset - first : offset - first + limit]


def search(store: SessionStore, criteria: Criteria, *, limit: int, offset: int = 0) -> Page:
    """Return the sessions that fit, the most relevant first; without a query the newest first.

    limit: how many at most; offset: how many to pass over. A session does not count that has less
    than a quarter of those words of the query that any session has. Raises what the store raises,
    and SessionsError for a date that is none.
    """
    wanted, offset = Filter(criteria), min(offset, MOST_OFFSET)
    with store.database.reading() as connection:
        if connection is None:
            return Page([], 0)
        if not criteria.query.strip():
            return _newest(connection, wanted, limit, offset)
        fitting = wanted.numbers(connection) if wanted else None
        found = Candidates(connection, criteria.query, fitting, any_word=True)
        return Page(_hits(connection, found, found.page(offset, limit)), len(found.best))


def resembling(store: SessionStore, goal: str, *, limit: int, but: str = "") -> list[Hit]:
    """Return the sessions that are about the same as a goal, the closest first; each has a level.

    but: the id of a session to leave out with its whole chain.
    """
    left_out = set[int]()
    if but:
        with suppress(NoSuchSessionError):
            left_out = {it.number for it in store.chain(store.get(but))}
    with store.database.reading() as connection:
        if connection is None:
            return []
        found = Candidates(connection, goal, most=_MOST_RESEMBLING, without=left_out)
        return _hits(connection, found, found.best[:limit])  # a goal says enough by its words


def _newest(connection: sqlite3.Connection, wanted: Filter, limit: int, offset: int) -> Page:
    wanted.prepare(connection)
    [total] = connection.execute(
        f"SELECT count(*) FROM contexts WHERE {wanted.condition}", wanted.values
    ).fetchone()
    condition = f"{wanted.condition} ORDER BY updated_at DESC, number DESC LIMIT ? OFFSET ?"
    sessions = sessions_where(connection, condition, (*wanted.values, limit, offset))
    return Page([Hit(session) for session in sessions], total)


def _hits(connection: sqlite3.Connection, found: Candidates, numbers: Sequence[int]) -> list[Hit]:
    condition = f"number IN ({', '.join(map(str, numbers))})"
    sessions = {it.number: it for it in sessions_where(connection, condition)}
    return [
        Hit(sessions[number], level_of(found.shares[number]))
        for number in numbers
        if number in sessions
    ]
