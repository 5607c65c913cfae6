"""Collects what the page shows of sessions: the newest ones with links and actions.

Pure. It redacts everything once more: others may write the database, and a page is passed on.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from rooms.sessions.exchange.document import cleaned
from rooms.sessions.session import Action, Session

MOST_LINKS = 5  # of the sessions that continue one


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
    """Another session of a chain. is_shown: whether it is on the page."""

    number: int
    goal: str = ""
    is_shown: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A session on the page.

    name: its id, redacted. earlier_actions: how many come before those that are shown. before: the
    session that it continues, None where it begins; after: those that continue it.
    """

    session: Session
    name: str
    actions: tuple[Action, ...] = ()
    earlier_actions: int = 0
    before: Link | None = None
    after: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """All that the page shows of sessions, the newest first.

    total: how many the project has. redacted: the kinds of secrets that were replaced.
    """

    items: tuple[Item, ...]
    total: int
    redacted: tuple[str, ...] = ()


def collection_of(found: Found) -> Collection:
    """Return what the page shows of what was read."""
    done = [cleaned(session, list(found.actions.get(session.id, ()))) for session in found.sessions]
    sessions = [  # by whose ids they are linked, whatever stands there
        replace(it.session, id=session.id, parent_id=session.parent_id)
        for session, it in zip(found.sessions, done, strict=True)
    ]
    by_id = {session.id: session for session in sessions}
    children = _children(sessions)
    items = [
        Item(
            session=session,
            name=it.session.id,
            actions=tuple(it.actions),
            earlier_actions=found.counts.get(session.id, 0) - len(it.actions),
            before=_before(session, by_id, found.parents),
            after=tuple(_link(child) for child in children.get(session.id, ())[:MOST_LINKS]),
        )
        for session, it in zip(sessions, done, strict=True)
    ]
    redacted = tuple(kind for it in done for kind in it.redacted)
    return Collection(items=tuple(items), total=found.total, redacted=redacted)


def _children(sessions: Iterable[Session]) -> dict[str, list[Session]]:
    """Return by id of a session those that continue it, the first one first."""
    children: dict[str, list[Session]] = {}
    for session in sorted(sessions, key=lambda it: it.number):
        if session.parent_id and session.parent_id != session.id:
            children.setdefault(session.parent_id, []).append(session)
    return children


def _before(
    session: Session, by_id: Mapping[str, Session], parents: Mapping[str, int]
) -> Link | None:
    """Return the session that this one continues. parents: as of `Found`."""
    parent = by_id.get(session.parent_id)
    if parent and parent.id != session.id:
        return _link(parent)
    number = parents.get(session.parent_id)
    return Link(number, is_shown=False) if number else None


def _link(session: Session) -> Link:
    return Link(session.number, session.goal_short)
