"""Turns rows of the database into sessions and actions, and back."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from core.room.documents import texts_in
from rooms.sessions.session import Action, Session, from_metadata, to_metadata

COLUMNS = (
    "number, id, parent_id, goal, summary, status, tags, agent, metadata, has_warnings,"
    " started_at, ended_at, created_at, updated_at, archive"
)
ACTION_COLUMNS = "id, context_id, type, content, result, file_path, created_at"
INTO_ACTIONS = f"INTO actions ({ACTION_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"


def session_of(row: Sequence[Any]) -> Session:
    """Return the session of a row of COLUMNS; what another program left out counts as empty."""
    number, id_, parent_id, goal, summary, status, tags, agent, metadata, flag, *dates, archive = (
        as_texts(row)
    )
    started_at, ended_at, created_at, updated_at = (value or "" for value in dates)
    return Session(
        number=number,
        id=id_,
        parent_id=parent_id or "",
        goal=goal,
        summary=summary or "",
        status=status or "planning",
        tags=tags_of(tags),
        agent=agent or "",
        has_warnings=bool(flag),
        started_at=started_at,
        ended_at=ended_at,
        created_at=created_at,
        updated_at=updated_at or created_at,
        archive=archive or "",
        **from_metadata(metadata or "{}"),
    )


def tags_of(text: str | None) -> tuple[str, ...]:
    """Return the tags of the column `tags`."""
    if not text or text == "[]":
        return ()
    try:
        return texts_in(json.loads(text))
    except (ValueError, RecursionError):
        return ()


def values_of(session: Session) -> dict[str, Any]:
    """Return the values of a session by column, but for its number, process and revision."""
    return {
        "id": session.id,
        "parent_id": session.parent_id or None,
        "goal": session.goal,
        "goal_short": session.goal_short,
        "summary": session.summary,
        "summary_short": session.summary_short,
        "status": session.status,
        "tags": json.dumps(list(session.tags), ensure_ascii=False),
        "agent": session.agent,
        "metadata": to_metadata(session),
        "has_warnings": int(session.has_warnings),
        "started_at": session.started_at,
        "ended_at": session.ended_at or None,
        "created_at": session.created_at,
        "updated_at": session.updated_at,
        "archive": session.archive,
    }


def sessions_where(
    connection: sqlite3.Connection, condition: str, values: Iterable[Any] = ()
) -> Iterator[Session]:
    """Yield the sessions of a condition in SQL: ours, with `?` for each value."""
    statement = f"SELECT {COLUMNS} FROM contexts WHERE {condition}"
    yield from map(session_of, connection.execute(statement, tuple(values)))


def texts_of(connection: sqlite3.Connection, numbers: Iterable[int]) -> Iterator[tuple[int, str]]:
    """Yield the words of sessions by their numbers, ascending: what `Session.texts` has."""
    columns = "number, goal, coalesce(tags, ''), coalesce(summary, ''), metadata"
    condition = f"number IN ({', '.join(map(str, numbers))}) ORDER BY number"
    rows = connection.execute(f"SELECT {columns} FROM contexts WHERE {condition}")
    for number, *texts, metadata in map(as_texts, rows):
        if metadata not in ("{}", None):
            texts += Session(number=number, id="", goal="", **from_metadata(metadata)).texts
        yield number, "\n".join(texts)


def session_with_id(connection: sqlite3.Connection, id_: str) -> Session | None:
    """Return the session of an id."""
    return next(sessions_where(connection, "id = ?", (id_,)), None)


def actions_of(connection: sqlite3.Connection, context_id: str) -> list[Action]:
    """Return the actions of a session, oldest first."""
    statement = (
        f"SELECT {ACTION_COLUMNS} FROM actions WHERE context_id = ? ORDER BY created_at, rowid"
    )
    return [action_of(row) for row in connection.execute(statement, (context_id,))]


def action_of(row: Sequence[Any]) -> Action:
    """Return the action of a row of ACTION_COLUMNS."""
    id_, context_id, kind, content, result, file_path, created_at = as_texts(row)
    return Action(
        id=id_,
        context_id=context_id,
        kind=kind,
        content=content,
        result=result or "",
        file_path=file_path or "",
        created_at=created_at or "",
    )


def as_texts(row: Sequence[Any]) -> Sequence[Any]:
    """Return the row with texts in the place of bytes, which another program may have put there."""
    if bytes not in map(type, row):
        return row
    return [it.decode("utf-8", "replace") if isinstance(it, bytes) else it for it in row]


def values_of_action(it: Action) -> tuple[str | None, ...]:
    """Return the values of an action in the order of ACTION_COLUMNS."""
    optional = it.result or None, it.file_path or None
    return it.id, it.context_id, it.kind, it.content, *optional, it.created_at
