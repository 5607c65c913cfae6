"""Puts sessions in the order in which they answer a question."""

import sqlite3
from collections.abc import Sequence
from contextlib import suppress

from core.room.full_text import Candidates
from rooms.sessions.errors import NoSuchSessionError
from rooms.sessions.rows import sessions_where
from rooms.sessions.search.filters import Filter
from rooms.sessions.search.found import LEAST_SHARE, Criteria, Hit, Page, level_of
from rooms.sessions.search.index import INDEX
from rooms.sessions.store import SessionStore

_MOST_RESEMBLING = 1_000  # of whom the best are told; nobody asks how many there are
MOST_OFFSET = 2**31  # SQLite takes no number beyond 63 bits


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
        found = Candidates(
            connection, INDEX, criteria.query, fitting, least=LEAST_SHARE, any_word=True
        )
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
        found = Candidates(
            connection, INDEX, goal, least=LEAST_SHARE, most=_MOST_RESEMBLING, without=left_out
        )
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
