"""Ranks sessions that were read already: those of several projects, which have no common index."""

from collections.abc import Iterable

from core.text.ranking import Ranking
from rooms.sessions.search.found import LEAST_SHARE, Hit, level_of
from rooms.sessions.session import Session


def newest(sessions: Iterable[Session]) -> list[Hit]:
    """Return all of these sessions, the newest first."""
    order = sorted(sessions, key=lambda it: (it.updated_at, it.number), reverse=True)
    return [Hit(session) for session in order]


def ranked(query: str, sessions: Iterable[Session]) -> list[Hit]:
    """Return those of these sessions that have a good part of a question, the best first."""
    kept = list(sessions)
    ranking = Ranking(query, ["\n".join(it.texts) for it in kept])
    shares, known = ranking.shares(), ranking.shares(any_word=True)
    return [
        Hit(kept[at], level_of(shares[at]))
        for at in ranking.order()
        if known.get(at, 0.0) >= LEAST_SHARE
    ]
