"""Reads from the database of a project's sessions what the page shows of them."""

import sqlite3
from collections.abc import Iterable
from pathlib import Path

from commands.view.sessions.collection import Found
from core.config import Settings
from core.lessons.record_text import day_of
from rooms.sessions.rows import ACTION_COLUMNS, action_of, sessions_where
from rooms.sessions.session import Action, Session
from rooms.sessions.store import exist_in, open_sessions

MOST_SESSIONS = 2_000  # on a page: above it a browser takes long to open it
MOST_ACTIONS = 30  # of each session

_NEWEST = "SELECT number FROM contexts ORDER BY coalesce(updated_at, created_at) DESC, number DESC"
_LAST_ACTIONS = f"""
SELECT {ACTION_COLUMNS}, total FROM (
  SELECT *, rowid AS row, count(*) OVER (PARTITION BY context_id) AS total,
    row_number() OVER (PARTITION BY context_id ORDER BY created_at DESC, rowid DESC) AS place
  FROM actions
  WHERE context_id IN (SELECT id FROM contexts WHERE number IN ({_NEWEST} LIMIT ?))
) WHERE place <= ? ORDER BY created_at, row
"""


def read_sessions(root: Path, settings: Settings, most: int = MOST_SESSIONS) -> Found | None:
    """Return the newest sessions of a project, None where it has none.

    most: how many sessions. Raises DatabaseError and SessionsError.
    """
    if not exist_in(root):
        return None
    with open_sessions(root, settings).database.reading() as connection:
        if connection is None:
            return None
        [total] = connection.execute("SELECT count(*) FROM contexts").fetchone()
        condition = f"number IN ({_NEWEST} LIMIT ?)"
        sessions = sorted(sessions_where(connection, condition, (most,)), key=_moment, reverse=True)
        if not sessions:
            return None
        actions, counts = dict[str, list[Action]](), dict[str, int]()
        for *row, count in connection.execute(_LAST_ACTIONS, (most, MOST_ACTIONS)):
            action = action_of(row)
            actions.setdefault(action.context_id, []).append(action)
            counts[action.context_id] = count
        return Found(sessions, total, actions, counts, _parents(connection, sessions))


def _moment(session: Session) -> tuple[bool, str, int]:
    """Return what sorts sessions by time; what another program wrote may be no date."""
    return day_of(session.updated_at)[0] != "?", session.updated_at, session.number


def _parents(connection: sqlite3.Connection, sessions: Iterable[Session]) -> dict[str, int]:
    """Return the numbers of the sessions before these that are not among them, by their ids."""
    shown, found = {session.id for session in sessions}, dict[str, int]()
    for id_ in {session.parent_id for session in sessions} - shown - {""}:
        statement = "SELECT number FROM contexts WHERE id = ?"
        for (number,) in connection.execute(statement, (id_,)):
            found[id_] = number
    return found
