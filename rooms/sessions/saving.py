"""Works out what a save makes of a session: a new one, or the one that it continues.

Pure: the session as it was and the draft go in, the session as it will be comes out.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from core.text.plain import normal_form
from rooms.sessions.session import (
    ENDED,
    Approach,
    Blocker,
    Changes,
    Decision,
    Draft,
    Session,
)


def begun(draft: Draft, *, id_: str, agent: str, now: str) -> Session:
    """Return the new session of a draft; its number is given when it is stored."""
    started = Session(
        number=0, id=id_, goal=draft.goal, agent=agent, started_at=now, created_at=now
    )
    return continued(started, draft, agent=agent, now=now)


def continued(session: Session, draft: Draft, *, agent: str, now: str) -> Session:
    """Return the session with what the draft adds and changes.

    An item with the text of a stored one takes its place. What is told again as it was keeps the
    time at which it was told first, and a blocker the time of its discovery.
    """
    status = draft.status or session.status
    ended_at = (session.ended_at or now) if status in ENDED else ""
    changes = _joined_changes(session.changes, draft.changes)
    done = replace(
        session,
        goal=draft.goal,
        summary=session.summary if draft.summary is None else draft.summary,
        status=status,
        tags=session.tags if draft.tags is None else draft.tags,
        agent=agent or session.agent,
        parent_id=draft.parent or session.parent_id,
        decisions=_joined_decisions(session.decisions, draft.decisions, agent, now),
        approaches=_joined_approaches(session.approaches, draft.approaches, now),
        blockers=_joined_blockers(session.blockers, draft.blockers, now),
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
    resolved = _by_text(it for it in blockers if it.resolved)
    settled = tuple(
        replace(it, resolved=True, resolution=cure.resolution or it.resolution, resolved_at=now)
        if not it.resolved and (cure := resolved.get(_key(it.description)))
        else it
        for it in session.blockers
    )
    return with_flag(replace(session, blockers=settled)) if settled != session.blockers else session


def _joined_decisions(
    stored: Sequence[Decision], given: Iterable[Decision], agent: str, now: str
) -> tuple[Decision, ...]:
    known = {_key(it.what): it for it in stored}
    for it in given:
        before = known.get(_key(it.what))
        if before is None or (it.why and it.why != before.why):
            new = replace(it, made_by=it.made_by or agent, timestamp=it.timestamp or now)
            known[_key(it.what)] = new
    return tuple(known.values())


def _joined_approaches(
    stored: Sequence[Approach], given: Iterable[Approach], now: str
) -> tuple[Approach, ...]:
    known = {_key(it.description): it for it in stored}
    for it in given:
        before = known.get(_key(it.description))
        is_same = before and before.result == it.result and it.reason in ("", before.reason)
        if not is_same:
            known[_key(it.description)] = replace(it, timestamp=it.timestamp or now)
    return tuple(known.values())


def _joined_blockers(
    stored: Sequence[Blocker], given: Iterable[Blocker], now: str
) -> tuple[Blocker, ...]:
    known = dict(_by_text(stored))
    for it in given:
        before = known.get(_key(it.description), it)
        known[_key(it.description)] = replace(
            it,
            resolution=it.resolution or before.resolution * it.resolved,
            discovered_at=it.discovered_at or before.discovered_at or now,
            resolved_at=(it.resolved_at or before.resolved_at or now) * it.resolved,
        )
    return tuple(known.values())


def _by_text(blockers: Iterable[Blocker]) -> Mapping[str, Blocker]:
    return {_key(it.description): it for it in blockers}


def _key(text: str) -> str:
    """Return what two texts have in common that differ in case, blanks or the last full stop."""
    return " ".join(normal_form("NFC", text).casefold().split()).rstrip(".")


def _joined_changes(stored: Changes, given: Changes | None) -> Changes:
    if given is None:
        return stored
    files = dict.fromkeys((*stored.modified_files, *given.modified_files))
    return Changes(modified_files=tuple(files), summary=given.summary or stored.summary)
