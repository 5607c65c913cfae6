"""Collects what the page shows of sessions: the newest ones by month, with chains and actions.

Pure. It redacts everything once more: others may write the database, and a page is passed on.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

from commands.view.sessions.rails import ALONE, Rail, rails_of
from core.lessons.answers.rendering import day_of
from rooms.sessions.exchange.cleaning import cleaned
from rooms.sessions.session import Action, Session

NEAR_LINKS = 5  # of a chain, on either side of a session


class Found(NamedTuple):
    """What was read: the newest sessions, the newest first; how many there are in all.

    actions: the last ones of each session by its id, oldest first; counts: how many it has.
    parents: the numbers of sessions before these that are not among them, by their ids.
    """

    sessions: Sequence[Session]
    total: int
    actions: Mapping[str, Sequence[Action]]
    counts: Mapping[str, int]
    parents: Mapping[str, int]


class Link(NamedTuple):
    """One session of a chain. is_shown: whether it is on the page. is_own: this very session."""

    number: int
    goal: str = ""
    day: str = ""
    is_shown: bool = True
    is_own: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A session on the page.

    name: its id, redacted. place: how many of the sessions shown are older. earlier_actions: how
    many come before those that are shown. before: the session that it continues, None where it
    begins; after: those that continue it. chain: its neighbours in the chain with itself, oldest
    first, () where it is alone; is_cut: whether the chain has more. rail: where it stands beside
    the lines of chains.
    """

    session: Session
    name: str
    place: int
    actions: tuple[Action, ...] = ()
    earlier_actions: int = 0
    before: Link | None = None
    after: tuple[Link, ...] = ()
    chain: tuple[Link, ...] = ()
    is_cut: bool = False
    rail: Rail = ALONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    """The sessions that were saved last in one month, the newest first.

    name: YYYY-MM. lanes: how many lines of chains run side by side.
    """

    name: str
    items: tuple[Item, ...]

    @property
    def lanes(self) -> int:
        return max((item.rail.lane + 1 for item in self.items), default=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """All that the page shows of sessions.

    total: how many the project has. redacted: the kinds of secrets that were replaced.
    """

    months: tuple[Month, ...]
    total: int
    redacted: tuple[str, ...] = ()

    @property
    def items(self) -> list[Item]:
        """All sessions in the order of the page."""
        return [item for month in self.months for item in month.items]


def timeline_of(found: Found) -> Timeline:
    """Return the timeline of what was read."""
    done = [cleaned(session, list(found.actions.get(session.id, ()))) for session in found.sessions]
    sessions = [  # by whose ids they are linked, whatever stands there
        replace(it.session, id=session.id, parent_id=session.parent_id)
        for session, it in zip(found.sessions, done, strict=True)
    ]
    links = _Links(sessions, found.parents)
    items = [
        Item(
            session=session,
            name=it.session.id,
            place=len(done) - 1 - at,
            actions=tuple(it.actions),
            earlier_actions=found.counts.get(session.id, 0) - len(it.actions),
            before=links.before(session),
            after=links.after(session),
            chain=chain,
            is_cut=is_cut,
        )
        for at, (session, it) in enumerate(zip(sessions, done, strict=True))
        for chain, is_cut in [links.chain(session)]
    ]
    months = [
        Month(name=name, items=_with_rails(list(group), links))
        for name, group in groupby(items, key=lambda item: day_of(item.session.updated_at)[:7])
    ]
    redacted = tuple(kind for it in done for kind in it.redacted)
    return Timeline(months=tuple(months), total=found.total, redacted=redacted)


class _Links:
    """Which sessions continue which; a chain that somebody tied into a circle does no harm."""

    def __init__(self, sessions: Sequence[Session], parents: Mapping[str, int]) -> None:
        self._by_id = {session.id: session for session in sessions}
        self._parents = parents
        self._children: dict[str, list[Session]] = {}
        for session in sorted(sessions, key=lambda it: it.number):
            if session.parent_id and session.parent_id != session.id:
                self._children.setdefault(session.parent_id, []).append(session)
        self._heads = self._found_heads()
        self._chains: dict[str, list[Session]] = {}
        for session in sorted(sessions, key=lambda it: it.number):
            self._chains.setdefault(self._heads[session.id], []).append(session)

    def _found_heads(self) -> dict[str, str]:
        """Return for each session the first one of its chain."""
        heads: dict[str, str] = {}
        for id_ in self._by_id:
            line, current = dict[str, None](), id_
            while current not in heads and current not in line:
                line[current] = None
                parent = self._by_id[current].parent_id
                if parent not in self._by_id:
                    break
                current = parent
            head = heads.get(current, current)
            heads.update(dict.fromkeys(line, head))
        return heads

    def head(self, session: Session) -> str:
        """Return the id of the first session of a chain, which tells it from others."""
        return self._heads[session.id]

    def before(self, session: Session) -> Link | None:
        """Return the session that this one continues."""
        parent = self._by_id.get(session.parent_id)
        if parent and parent.id != session.id:
            return _link(parent)
        number = self._parents.get(session.parent_id)
        return Link(number, is_shown=False) if number else None

    def after(self, session: Session) -> tuple[Link, ...]:
        """Return the sessions that continue this one, at most NEAR_LINKS."""
        return tuple(_link(child) for child in self._children.get(session.id, ())[:NEAR_LINKS])

    def chain(self, session: Session) -> tuple[tuple[Link, ...], bool]:
        """Return the neighbours of a session in its chain, and whether there are more of them."""
        chain = self._chains[self._heads[session.id]]
        if len(chain) == 1:
            return (), False
        at = bisect_left(chain, session.number, key=lambda it: it.number)
        near = chain[max(at - NEAR_LINKS, 0) : at + NEAR_LINKS + 1]
        links = tuple(_link(it)._replace(is_own=it is session) for it in near)
        return links, len(near) < len(chain)


def _link(session: Session) -> Link:
    return Link(session.number, session.goal_short, day_of(session.updated_at))


def _with_rails(items: Sequence[Item], links: _Links) -> tuple[Item, ...]:
    """Return the items of a month, each with its place beside the lines of chains."""
    rails = rails_of([links.head(item.session) for item in items])
    return tuple(replace(item, rail=rail) for item, rail in zip(items, rails, strict=True))
