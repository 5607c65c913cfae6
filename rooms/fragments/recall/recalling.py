"""Recalls fragments: those that answer a question, the best first, within a budget of tokens."""

from dataclasses import dataclass
from typing import NamedTuple

from core.text.ranking import Ranking
from rooms.fragments.engine import Wanted
from rooms.fragments.fragment import Fragment
from rooms.fragments.kinds import TYPES
from rooms.fragments.room import Room, readers

DEFAULT_TOKENS = 1_000
LEAST_SHARE = 0.25
_MOST = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What a caller asks for; what is left empty does not count.

    keywords, text: words, a question. type: one of the ten words of `TYPES`. tags: keywords that a
    fragment must have. since, until: days or moments, both included. tokens: of the answer. limit:
    how many at most, 0 for as many as fit. with_links: also what is linked to them. relation: only
    along such links. threshold: the least cosine of what is found by its vector alone.
    """

    keywords: tuple[str, ...] = ()
    topic: str = ""
    type: str = ""
    text: str = ""
    tags: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    tokens: int = DEFAULT_TOKENS
    limit: int = 0
    with_links: bool = True
    relation: str = ""
    threshold: float | None = None


class Linked(NamedTuple):
    """A fragment that is linked to one of those found: over which relation, from which."""

    fragment: Fragment
    relation: str
    to_id: str


class Recalled(NamedTuple):
    """What was found, the best first; how many more there are that did not fit."""

    fragments: list[Fragment]
    linked: list[Linked]
    left_out: int = 0


def recall(room: Room, query: Query, *, agent: str = "", session: str = "") -> Recalled:
    """Return the fragments that answer a query. Raises FragmentsError, DatabaseError."""
    row = TYPES[query.type] if query.type else None
    wanted = Wanted(
        agents=readers(agent),
        kinds=(row.kind,) if row else (),
        topics=(query.topic,) if query.topic else (),
        keywords=query.tags,
        since=query.since,
        until=query.until,
    )
    asked = " ".join((*query.keywords, query.text)).strip()
    with room.engine.reading() as reading:
        found = reading.find(wanted, order="worth", limit=20_000)
    if asked:
        ranking = Ranking(asked, [it.text for it in found])
        shares = ranking.shares(any_word=True)
        found = [found[at] for at in ranking.order() if shares.get(at, 0.0) >= LEAST_SHARE]
    return Recalled(found[: query.limit or _MOST], [], max(len(found) - _MOST, 0))
