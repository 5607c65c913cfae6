"""Puts sessions in the order in which they answer a question."""

from collections.abc import Iterable
from contextlib import suppress

from core.text.ranking import Ranking
from rooms.sessions.errors import NoSuchSessionError
from rooms.sessions.rows import sessions_where
from rooms.sessions.search.found import Criteria, Hit, Level, Page
from rooms.sessions.session import Session
from rooms.sessions.store import SessionStore

_HIGH, _MEDIUM, _LOW = 0.6, 0.35, 0.15  # of what a text would be worth that has all of the question


def search(store: SessionStore, criteria: Criteria, *, limit: int, offset: int = 0) -> Page:
    """Return the sessions that fit, the most relevant first; without a query the newest first.

    limit: how many at most; offset: how many to pass over. Raises what the store raises.
    """
    sessions = _all(store)
    if criteria.query.strip():
        hits = [hit for hit in _ranked(criteria.query, sessions) if _fits(hit.session, criteria)]
    else:
        newest = sorted(sessions, key=lambda it: (it.updated_at, it.number), reverse=True)
        hits = [Hit(session) for session in newest if _fits(session, criteria)]
    return Page(hits[offset : offset + limit], len(hits))


def resembling(store: SessionStore, goal: str, *, limit: int, but: str = "") -> list[Hit]:
    """Return the sessions that are about the same as a goal, the closest first; each has a level.

    but: the id of a session to leave out with its whole chain.
    """
    left_out = set[str]()
    if but:
        with suppress(NoSuchSessionError):
            left_out = {it.id for it in store.chain(store.get(but))}
    hits = [hit for hit in _ranked(goal, _all(store)) if hit.session.id not in left_out]
    return hits[:limit]


def _all(store: SessionStore) -> list[Session]:
    with store.database.reading() as connection:
        return list(sessions_where(connection, "1 ORDER BY number")) if connection else []


def _ranked(query: str, sessions: Iterable[Session]) -> list[Hit]:
    kept = list(sessions)
    scores = Ranking(query, [*("\n".join(it.texts) for it in kept), query]).scores()
    own = scores.pop(len(kept), 0.0) or 1.0
    best = sorted(scores, key=lambda at: (scores[at], at), reverse=True)
    return [Hit(kept[at], level) for at in best if (level := _level(scores[at] / own))]


def _level(share: float) -> Level | None:
    if share < _LOW:
        return None
    return "high" if share >= _HIGH else "medium" if share >= _MEDIUM else "low"


def _fits(session: Session, criteria: Criteria) -> bool:
    moment = session.updated_at or session.created_at
    return (
        set(criteria.tags) <= set(session.tags)
        and criteria.status in ("", session.status)
        and criteria.agent in ("", session.agent)
        and moment >= criteria.since
        and (not criteria.until or moment[: len(criteria.until)] <= criteria.until)
    )
