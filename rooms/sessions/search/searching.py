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
    sessions = all_sessions(store)
    if criteria.query.strip():
        hits = [hit for hit in ranked(criteria.query, sessions) if fits(hit.session, criteria)]
    else:
        hits = [hit for hit in newest(sessions) if fits(hit.session, criteria)]
    return Page(hits[offset : offset + limit], len(hits))


def resembling(store: SessionStore, goal: str, *, limit: int, but: str = "") -> list[Hit]:
    """Return the sessions that are about the same as a goal, the closest first; each has a level.

    but: the id of a session to leave out with its whole chain.
    """
    left_out = set[str]()
    if but:
        with suppress(NoSuchSessionError):
            left_out = {it.id for it in store.chain(store.get(but))}
    hits = [hit for hit in ranked(goal, all_sessions(store)) if hit.session.id not in left_out]
    return hits[:limit]


def all_sessions(store: SessionStore) -> list[Session]:
    """Return all sessions of a project, the oldest first."""
    with store.database.reading() as connection:
        return list(sessions_where(connection, "1 ORDER BY number")) if connection else []


def newest(sessions: Iterable[Session]) -> list[Hit]:
    """Return all of these sessions, the newest first."""
    order = sorted(sessions, key=lambda it: (it.updated_at, it.number), reverse=True)
    return [Hit(session) for session in order]


def ranked(query: str, sessions: Iterable[Session]) -> list[Hit]:
    """Return those of these sessions that say something to a question, the best first."""
    kept = list(sessions)
    scores = Ranking(query, [*("\n".join(it.texts) for it in kept), query]).scores()
    own = scores.pop(len(kept), 0.0) or 1.0
    best = sorted(scores, key=lambda at: (scores[at], at), reverse=True)
    return [Hit(kept[at], level) for at in best if (level := _level(scores[at] / own))]


def _level(share: float) -> Level | None:
    if share < _LOW:
        return None
    return "high" if share >= _HIGH else "medium" if share >= _MEDIUM else "low"


def fits(session: Session, criteria: Criteria) -> bool:
    """Return whether a session is what is looked for, but for the words of the query."""
    moment = session.updated_at or session.created_at
    return (
        set(criteria.tags) <= set(session.tags)
        and criteria.status in ("", session.status)
        and criteria.agent in ("", session.agent)
        and moment >= criteria.since
        and (not criteria.until or moment[: len(criteria.until)] <= criteria.until)
    )
