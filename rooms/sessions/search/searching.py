"""Puts sessions in the order in which they answer a question."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from core.text.ranking import Ranking
from rooms.sessions.errors import NoSuchSessionError
from rooms.sessions.rows import sessions_where
from rooms.sessions.search import candidates, kept
from rooms.sessions.search.filters import Filter
from rooms.sessions.search.found import Criteria, Hit, Level, Page
from rooms.sessions.store import SessionStore

# Shares of the question, rare words counting for more, that a session has. Of real descriptions of
# work, each asked against those before it, two thirds of what is called high, a third of what is
# called medium or high, and a quarter of all that is shown were about the same work.
_HIGH, _MEDIUM, _LOW = 0.6, 0.4, 0.25


class _Order(NamedTuple):
    """The numbers of the sessions that were found, the best first, and the share of each."""

    numbers: Sequence[int]
    shares: Mapping[int, float]


def search(store: SessionStore, criteria: Criteria, *, limit: int, offset: int = 0) -> Page:
    """Return the sessions that fit, the most relevant first; without a query the newest first.

    limit: how many at most; offset: how many to pass over. A session in which less than a quarter
    of the query is found does not count. Raises what the store raises, and SessionsError for a
    date that is none.
    """
    wanted = Filter(criteria)
    with store.database.reading() as connection:
        if connection is None:
            return Page([], 0)
        if not criteria.query.strip():
            return _newest(connection, wanted, limit, offset)
        order = _ranked(store, connection, criteria.query, wanted)
        page = order.numbers[offset : offset + limit]
        return Page(_hits(connection, page, order.shares), len(order.numbers))


def resembling(store: SessionStore, goal: str, *, limit: int, but: str = "") -> list[Hit]:
    """Return the sessions that are about the same as a goal, the closest first; each has a level.

    but: the id of a session to leave out with its whole chain.
    """
    left_out = set[int]()
    if but:
        with suppress(NoSuchSessionError):
            left_out = {it.number for it in store.chain(store.get(but))}
    with store.database.reading() as connection:
        if connection is None or not goal.strip():
            return []
        order = _ranked(store, connection, goal, Filter(Criteria()))
        numbers = [number for number in order.numbers if number not in left_out]
        return _hits(connection, numbers[:limit], order.shares)


def _newest(connection: sqlite3.Connection, wanted: Filter, limit: int, offset: int) -> Page:
    wanted.prepare(connection)
    [total] = connection.execute(
        f"SELECT count(*) FROM contexts WHERE {wanted.condition}", wanted.values
    ).fetchone()
    condition = f"{wanted.condition} ORDER BY updated_at DESC, number DESC LIMIT ? OFFSET ?"
    sessions = sessions_where(connection, condition, (*wanted.values, limit, offset))
    return Page([Hit(session) for session in sessions], total)


def _ranked(
    store: SessionStore, connection: sqlite3.Connection, query: str, wanted: Filter
) -> _Order:
    texts = kept.texts_of(connection, store.path)
    if texts is None:
        return _Order(*candidates.ranked(connection, query, wanted, least=_LOW))
    ranking = Ranking(query, texts.corpus)
    shares = {texts.numbers[at]: share for at, share in ranking.shares().items() if share >= _LOW}
    if wanted:
        fitting = wanted.numbers(connection)
        shares = {number: share for number, share in shares.items() if number in fitting}
    scores = {texts.numbers[at]: score for at, score in ranking.scores().items()}
    best = sorted(shares, key=lambda number: (scores.get(number, 0.0), number), reverse=True)
    return _Order(best, shares)


def _hits(
    connection: sqlite3.Connection, numbers: Iterable[int], shares: Mapping[int, float]
) -> list[Hit]:
    wanted = list(numbers)
    condition = f"number IN ({', '.join('?' * len(wanted))})"
    sessions = {it.number: it for it in sessions_where(connection, condition, wanted)}
    return [
        Hit(sessions[number], level_of(shares[number])) for number in wanted if number in sessions
    ]


def level_of(share: float) -> Level:
    """Return the word for how much of a question a session has."""
    return "high" if share >= _HIGH else "medium" if share >= _MEDIUM else "low"
