"""Works out what a save makes of a session: a new one, or the one that it continues.

Pure: the session as it was and the draft go in, the session as it will be comes out.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from rooms.sessions.session import ENDED, Blocker, Changes, Draft, Session

_Item = TypeVar("_Item")


def begun(draft: Draft, *, id_: str, agent: str, now: str) -> Session:
    """Return the new session of a draft; its number is given when it is stored."""
    started = Session(
        number=0, id=id_, goal=draft.goal, agent=agent, started_at=now, created_at=now
    )
    return continued(started, draft, agent=agent, now=now)


def continued(session: Session, draft: Draft, *, agent: str, now: str) -> Session:
    """Return the session with what the draft adds and changes.

    An item with the text of a stored one takes its place; the time of that stays.
    """
    status = draft.status or session.status
    ended_at = (session.ended_at or now) if status in ENDED else ""
    changes = _joined_changes(session.changes, draft.changes)
    now_decided = [
        replace(it, made_by=it.made_by or agent, timestamp=it.timestamp or now)
        for it in draft.decisions
    ]
    now_tried = [replace(it, timestamp=it.timestamp or now) for it in draft.approaches]
    blockers = _joined_blockers(session.blockers, draft.blockers, now)
    done = replace(
        session,
        goal=draft.goal,
        summary=session.summary if draft.summary is None else draft.summary,
        status=status,
        tags=session.tags if draft.tags is None else draft.tags,
        agent=agent or session.agent,
        parent_id=draft.parent or session.parent_id,
        decisions=_joined(session.decisions, now_decided, lambda it: it.what),
        approaches=_joined(session.approaches, now_tried, lambda it: it.description),
        blockers=blockers,
        changes=changes,
        ended_at=ended_at,
        updated_at=now,
    )
    return with_flag(done)


def with_flag(session: Session) -> Session:
    """Return the session with `has_warnings` as its approaches and blockers have it."""
    return replace(session, has_warnings=bool(session.failed or session.open_blockers))


def with_resolved(session: Session, blockers: Iterable[Blocker], now: str) -> Session:
    """Return a session that came before, its open blockers resolved as these report it."""
    resolved = {it.description: it for it in blockers if it.resolved}
    settled = tuple(
        replace(
            it,
            resolved=True,
            resolution=resolved[it.description].resolution or it.resolution,
            resolved_at=now,
        )
        if not it.resolved and it.description in resolved
        else it
        for it in session.blockers
    )
    return with_flag(replace(session, blockers=settled)) if settled != session.blockers else session


def _joined(
    stored: Sequence[_Item], given: Iterable[_Item], name: Callable[[_Item], str]
) -> tuple[_Item, ...]:
    items = {name(it): it for it in stored}
    items.update((name(it), it) for it in given)
    return tuple(items.values())


def _joined_blockers(
    stored: Sequence[Blocker], given: Iterable[Blocker], now: str
) -> tuple[Blocker, ...]:
    """Join blockers; one that is told again keeps the moment of its discovery."""
    known = {it.description: it for it in stored}
    for it in given:
        before = known.get(it.description)
        found = it.discovered_at or (before.discovered_at if before else "") or now
        solved = (it.resolved_at or (before.resolved_at if before else "") or now) * it.resolved
        known[it.description] = replace(it, discovered_at=found, resolved_at=solved)
    return tuple(known.values())


def _joined_changes(stored: Changes, given: Changes | None) -> Changes:
    if given is None:
        return stored
    files = dict.fromkeys((*stored.modified_files, *given.modified_files))
    return Changes(modified_files=tuple(files), summary=given.summary or stored.summary)
