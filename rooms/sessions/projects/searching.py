"""Finds sessions in all projects of a user that share theirs, and in this one."""

import contextlib
import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from core.config import Settings
from core.text.ranking import Ranking
from rooms.sessions.errors import NoSuchSessionError
from rooms.sessions.projects.consent import is_shared, name_of
from rooms.sessions.projects.hints import global_database, hints_of, projects_in, roots_with
from rooms.sessions.search.filters import Filter
from rooms.sessions.search.found import LEAST_SHARE, Criteria, Hit, Level, Page, level_of
from rooms.sessions.search.searching import MOST_OFFSET, search
from rooms.sessions.session import Session
from rooms.sessions.store import SessionStore, open_sessions

LEVELS: Sequence[Level | None] = (None, "low", "medium", "high")  # the worst first


def search_all(store: SessionStore, criteria: Criteria, *, limit: int, offset: int = 0) -> Page:
    """Return the sessions that fit, of this project and of all that share, the best first.

    Of another project only the short goal and the tags are known; its `Hit.project` names it. Those
    of this project and those of the others each stand in the order of the ranker; they come
    together by level, of the same level the newer first. Raises what the store raises, and
    DatabaseError for the hints.
    """
    offset = min(offset, MOST_OFFSET)
    own = search(store, criteria, limit=offset + limit)
    others = _others(store, criteria)
    hits = list(islice(_merged(own.hits, others), offset, offset + limit))
    return Page(hits, own.total + len(others))


def _others(store: SessionStore, criteria: Criteria) -> list[Hit]:
    """Return the hits of other projects in their order."""
    wanted = Filter(criteria)
    known = list(_elsewhere(store))
    known.sort(key=lambda it: it[0].updated_at)  # of equal hits the newer one comes first
    sessions = [replace(session, number=at) for at, (session, _) in enumerate(known)]
    found = _ranked(criteria.query, sessions) if criteria.query.strip() else _newest(sessions)
    return [
        Hit(known[hit.session.number][0], hit.level, known[hit.session.number][1])
        for hit in found
        if wanted.fits(hit.session)
    ]


def _merged(one: Sequence[Hit], other: Sequence[Hit]) -> Iterator[Hit]:
    """Yield the hits of two lists, each of which keeps its order."""
    lists = [deque(one), deque(other)]
    while any(lists):
        yield max(filter(None, lists), key=lambda hits: _worth(hits[0])).popleft()


def _worth(hit: Hit) -> tuple[int, str]:
    return LEVELS.index(hit.level), hit.session.updated_at


def find_elsewhere(
    id_: str, settings: Settings, *, but: Path
) -> tuple[SessionStore, Session] | None:
    """Return the session of this id in another project that shares, with the store to read it from.

    but: the project that was looked through already. Only read from that store. Raises what a
    store raises.
    """
    for root in _roots_of(id_, but):
        store = open_sessions(Path(root), settings)
        with contextlib.suppress(NoSuchSessionError):
            return store, store.get(id_)
    return None


def _roots_of(id_: str, but: Path) -> list[str]:
    database = global_database(but, os.environ)
    if database is None:
        return []
    with database.reading() as hints:
        roots = roots_with(hints, id_) if hints else []
    return [root for root in roots if root != name_of(but) and _takes_part(root)]


def _elsewhere(store: SessionStore) -> Iterator[tuple[Session, str]]:
    """Yield the hints of other projects, each with the name of its project."""
    database = global_database(store.root, os.environ)
    if database is None:
        return
    own = name_of(store.root)
    with database.reading() as hints:
        if hints is None:
            return
        for project in projects_in(hints):
            if project.root != own and _takes_part(project.root):
                for session in hints_of(hints, project.root):
                    yield session, project.name


def _takes_part(root: str) -> bool:
    """Return whether a project still shares, and is still there."""
    return is_shared(root, os.environ) and os.path.isdir(root)


def _newest(sessions: Iterable[Session]) -> list[Hit]:
    """Return all of these sessions, the newest first."""
    order = sorted(sessions, key=lambda it: (it.updated_at, it.number), reverse=True)
    return [Hit(session) for session in order]


def _ranked(query: str, sessions: Iterable[Session]) -> list[Hit]:
    """Return those of these sessions that have a good part of a question, the best first."""
    kept = list(sessions)
    ranking = Ranking(query, ["\n".join(it.texts) for it in kept])
    shares = ranking.holding().shares(LEAST_SHARE, any_word=True)
    return [Hit(kept[at], level_of(shares[at])) for at in ranking.order() if at in shares]
