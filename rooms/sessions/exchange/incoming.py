"""Reads one session from JSON of others: the former `current.json`, a snapshot, a declared object.

The former fields are those of section 9 of the specification: `currentWork`, `agentChain`,
`conversationSummary`, `codeChanges`. Decisions, approaches and blockers may be texts or objects.
Whatever is of another kind is passed over. Pure.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, TypeVar

from core.room.documents import objects_at, text_at, texts_in
from core.sanitizer import redact
from core.text.plain import moment_of
from rooms.sessions.actions.kinds import KINDS
from rooms.sessions.saving import with_flag
from rooms.sessions.session import (
    ENDED,
    OUTCOMES,
    STATUSES,
    Action,
    Approach,
    Blocker,
    Changes,
    Decision,
    Session,
)

_OUR_ID = re.compile(r"ctx_[0-9a-f]{12}")
_OUR_ACTION = re.compile(r"[a-z]{2,6}_[0-9a-f]{6,32}")
_UNKNOWN_AGENT = "unknown"
_GOAL_CHARS = 10_000  # of a goal that go into an id

Data = Mapping[str, Any]
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A session that somebody else has kept, before its texts are checked.

    session: without a number; its parent_id is the name of the source. name: its own there, and
    snapshot: that of the snapshot that it is from. place: the file, and the entry of a list.
    """

    session: Session
    actions: tuple[Action, ...]
    place: str
    name: str
    snapshot: str = ""


def incoming(data: object, place: str) -> Incoming | None:
    """Return the session of a value from JSON; None where there is none in it."""
    if not isinstance(data, dict):
        return None
    context, snapshot, moment = data, "", ""
    if isinstance(data.get("data"), dict):  # a snapshot
        context, snapshot = data["data"], text_at(data, "id")
        moment = _moment(data.get("timestamp"))
    if isinstance(context.get("currentWork"), dict):
        session = _former(context)
    elif isinstance(context.get("goal"), str):
        session = _declared(context)
    else:
        return None
    name = text_at(context, "id") or text_at(data, "contextId")
    session = _dated(replace(session, id=_id_of(name, session)), moment)
    actions = tuple(_actions(context, session.id))
    return Incoming(session=session, actions=actions, place=place, name=name, snapshot=snapshot)


def joined(older: Incoming, newer: Incoming) -> Incoming:
    """Return two versions of a session as one: the newer, with what only the older one has."""
    before, after = older.session, newer.session
    session = replace(
        after,
        summary=after.summary or before.summary,
        tags=after.tags or before.tags,
        agent=after.agent or before.agent,
        parent_id=after.parent_id or before.parent_id,
        decisions=_united((*before.decisions, *after.decisions), "what"),
        approaches=_united((*before.approaches, *after.approaches), "description"),
        blockers=_united((*before.blockers, *after.blockers), "description"),
        changes=after.changes or before.changes,
        started_at=min(filter(None, (before.started_at, after.started_at)), default=""),
        created_at=min(filter(None, (before.created_at, after.created_at)), default=""),
    )
    actions = _united((*older.actions, *newer.actions), "id")
    return replace(newer, session=with_flag(session), actions=actions)


def is_ours(name: str) -> bool:
    """Return whether this is an id of a session as this program gives them."""
    return bool(_OUR_ID.fullmatch(name))


def _moment(value: object) -> str:
    """Return a moment as the store writes it; "" for what is none."""
    if isinstance(value, int | float) and not isinstance(value, bool):  # milliseconds
        with suppress(ValueError, OverflowError, OSError):
            return datetime.fromtimestamp(value / 1000, UTC).isoformat(timespec="seconds")
    return moment_of(value.strip()) if isinstance(value, str) else ""


def _former(context: Data) -> Session:
    work, talk = _object(context, "currentWork"), _object(context, "conversationSummary")
    chain = objects_at(context, "agentChain")
    return Session(
        number=0,
        id="",
        goal=text_at(work, "goal"),
        summary=_summary(text_at(context, "summary"), talk),
        status=_status(work),
        tags=texts_in(context.get("tags")),
        agent=_agent(text_at(chain[0], "to") if chain else text_at(context, "agent")),
        parent_id=text_at(context, "parentId"),
        decisions=_decisions(talk.get("keyDecisions")),
        approaches=_approaches(talk.get("triedApproaches")),
        blockers=_blockers(talk.get("blockers")),
        changes=_changes(context),
        started_at=_moment(work.get("startedAt")),
        created_at=_moment(context.get("createdAt")),
        updated_at=_moment(context.get("updatedAt")) or _moment(work.get("lastActiveAt")),
    )


def _declared(context: Data) -> Session:
    metadata = _object(context, "metadata")
    return Session(
        number=0,
        id="",
        goal=text_at(context, "goal"),
        summary=_summary(text_at(context, "summary"), metadata),
        status=_status(context),
        tags=texts_in(context.get("tags")),
        agent=_agent(text_at(context, "agent")),
        parent_id=text_at(context, "parentId"),
        decisions=_decisions(metadata.get("decisions")),
        approaches=_approaches(metadata.get("approaches")),
        blockers=_blockers(metadata.get("blockers")),
        changes=_changes(metadata),
        started_at=_moment(context.get("startedAt")),
        ended_at=_moment(context.get("endedAt")),
        created_at=_moment(context.get("createdAt")),
        updated_at=_moment(context.get("updatedAt")),
    )


def _dated(session: Session, moment: str) -> Session:
    """Fill in the dates that the source leaves out. moment: of the snapshot."""
    known = [session.updated_at, session.ended_at, session.created_at, session.started_at]
    updated = session.updated_at or moment or max(known)
    started = session.started_at or session.created_at or updated
    ended = (session.ended_at or updated) if session.status in ENDED else ""
    return with_flag(
        replace(
            session,
            started_at=started,
            ended_at=ended,
            created_at=session.created_at or started,
            updated_at=updated,
        )
    )


def _id_of(name: str, session: Session) -> str:
    """Return the id of a session here: always the same one, whenever it is imported.

    A former context lives on from goal to goal, and each of these is a session. No secret in a
    goal goes into the hash, from which somebody could guess it.
    """
    if is_ours(name):
        return name
    goal, _ = redact(session.goal[:_GOAL_CHARS])
    told = "\n".join((name or session.started_at, goal))
    return f"ctx_{_hash(told)}"


def _hash(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _status(data: Data) -> str:
    status = text_at(data, "status")
    return status if status in STATUSES else "paused"


def _agent(name: str) -> str:
    return "" if name == _UNKNOWN_AGENT else name


def _summary(summary: str, data: Data) -> str:
    """Return the summary, and behind it the steps that were to come next."""
    steps = "; ".join(texts_in(data.get("nextSteps")))
    return "\n".join(filter(None, (summary, f"Next steps: {steps}" if steps else "")))


def _decisions(listed: object) -> tuple[Decision, ...]:
    found = (
        Decision(
            what=_first(it, "what", "decision", "description"),
            why=_first(it, "why", "reason", "rationale"),
            made_by=_agent(text_at(it, "madeBy")),
            timestamp=_moment(it.get("timestamp")),
        )
        for it in _items(listed, "what")
    )
    return _united(found, "what")


def _approaches(listed: object) -> tuple[Approach, ...]:
    found = (
        Approach(
            description=_first(it, "description", "approach", "what"),
            result=text_at(it, "result") if it.get("result") in OUTCOMES else "partial",
            reason=text_at(it, "reason"),
            timestamp=_moment(it.get("timestamp")),
        )
        for it in _items(listed, "description")
    )
    return _united(found, "description")


def _blockers(listed: object) -> tuple[Blocker, ...]:
    found = (
        Blocker(
            description=_first(it, "description", "blocker", "what"),
            resolved=it.get("resolved") is True,
            resolution=text_at(it, "resolution"),
            discovered_at=_moment(it.get("discoveredAt")),
            resolved_at=_moment(it.get("resolvedAt")),
        )
        for it in _items(listed, "description")
    )
    return _united(found, "description")


def _changes(data: Data) -> Changes:
    changes = _object(data, "codeChanges")
    files = texts_in(changes.get("modifiedFiles"))
    return Changes(modified_files=tuple(dict.fromkeys(files)), summary=text_at(changes, "summary"))


def _actions(context: Data, id_: str) -> Iterator[Action]:
    for at, it in enumerate(objects_at(context, "actions")):
        if content := text_at(it, "content"):
            given = text_at(it, "id")
            own = f"act_{_hash(f'{id_} {given or at}')}"
            yield Action(
                id=given if _OUR_ACTION.fullmatch(given) else own,
                kind=text_at(it, "type") if it.get("type") in KINDS else "command",
                content=content,
                result=text_at(it, "result"),
                file_path=text_at(it, "filePath"),
                created_at=_moment(it.get("createdAt")),
                context_id=id_,
            )


def _united(items: Iterable[_Item], name: str) -> tuple[_Item, ...]:
    """Return the items that say something, the last of those with the same text."""
    found = {getattr(it, name): it for it in items}
    return tuple(it for text, it in found.items() if text.strip())


def _items(listed: object, name: str) -> Iterator[Data]:
    """Yield the objects of a list; a text in it counts as an object with this name."""
    for it in listed if isinstance(listed, list) else ():
        if isinstance(it, str):
            yield {name: it}
        elif isinstance(it, dict):
            yield it


def _first(data: Data, *names: str) -> str:
    return next(filter(None, (text_at(data, name) for name in names)), "")


def _object(data: Data, name: str) -> Data:
    value = data.get(name)
    return value if isinstance(value, dict) else {}
