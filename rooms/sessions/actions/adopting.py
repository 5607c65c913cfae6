"""Gives actions to the session of the conversation in which a client did them.

A hook knows the conversation by the client's own id for it, and a session only by what
`context_save` answers in it. So the answer binds the two, exactly, however many conversations of
one client go on at the same time. Until then actions wait, and so do those after a session has
ended, since they may belong to the next one.
"""

import re
import sqlite3
from datetime import datetime, timedelta

KEPT_DAYS = 30  # waiting actions of a conversation that has saved nothing
SETTLED_DAYS = 1  # then what followed the end of a session is part of it
_FRESH_DAYS = 1 / 144  # ten minutes: how long ago a save was whose answer comes in
_END = "(?![0-9A-Za-z_])"  # no \b: a Korean particle may follow at once, as in `#8로 저장했습니다`
_NAMED = re.compile(rf"\b(ctx_[0-9A-Za-z]{{1,40}}){_END}|(?<![\w#])#([0-9]{{1,15}}){_END}")
_COLUMNS = "id, type, content, result, file_path, created_at"


def bind(
    connection: sqlite3.Connection, *, agent: str, conversation: str, answer: str, now: str
) -> int:
    """Bind a conversation to the session that a save's answer names first, and move what waits.

    Returns how many actions were moved; an answer that names no session that was just saved binds
    nothing. agent: the client, as its hooks name it.
    """
    found = _NAMED.search(answer)
    if not found:
        return 0
    row = connection.execute(
        "SELECT id FROM contexts WHERE (id = ? OR number = ?) AND archive = ''"
        " AND julianday(updated_at) > julianday(?) - ?",
        (found[1], int(found[2] or 0), now, _FRESH_DAYS),
    ).fetchone()
    if row is None:
        return 0
    connection.execute(
        "INSERT INTO conversations (agent, client_session, context_id, seen_at)"
        " VALUES (?, ?, ?, ?) ON CONFLICT (agent, client_session)"
        " DO UPDATE SET context_id = excluded.context_id, seen_at = excluded.seen_at",
        (agent, conversation, row[0], now),
    )
    return _move(connection, "w.agent = ? AND w.client_session = ?", (agent, conversation))


def session_of(connection: sqlite3.Connection, agent: str, conversation: str) -> str:
    """Return the id of the open session that a conversation is bound to, "" for none."""
    row = connection.execute(
        "SELECT c.id FROM conversations b JOIN contexts c ON c.id = b.context_id"
        " WHERE b.agent = ? AND b.client_session = ? AND c.ended_at IS NULL AND c.archive = ''",
        (agent, conversation),
    ).fetchone()
    return str(row[0]) if row else ""


def adopt(connection: sqlite3.Connection, now: str) -> int:
    """Settle what has waited long enough; returns how many actions found their session.

    What came behind the end of a session becomes part of it after SETTLED_DAYS, and what no save
    has claimed goes after KEPT_DAYS. `SessionStore.save` calls this in its transaction.
    """
    moved = _move(connection, "w.created_at < ?", (_before(now, SETTLED_DAYS),))
    connection.execute(
        "DELETE FROM waiting_actions WHERE created_at < ?", (_before(now, KEPT_DAYS),)
    )
    return moved


def adopt_overdue(connection: sqlite3.Connection, now: str) -> None:
    """Settle where no save has done so for long, at most once a day: it looks at the oldest alone.

    A hook calls this as it adds an action, so that a project in which nobody saves stays small.
    """
    oldest = connection.execute("SELECT created_at FROM waiting_actions ORDER BY rowid LIMIT 1")
    if oldest.fetchone()[0] < _before(now, KEPT_DAYS + 1):
        adopt(connection, now)


def _before(now: str, days: int) -> str:
    return (datetime.fromisoformat(now) - timedelta(days=days)).isoformat(timespec="seconds")


def _move(connection: sqlite3.Connection, condition: str, values: tuple[object, ...]) -> int:
    """Move waiting actions to the sessions that their conversations are bound to."""
    bound = (
        "waiting_actions w JOIN conversations b"
        " ON b.agent = w.agent AND b.client_session = w.client_session"
        f" JOIN contexts c ON c.id = b.context_id AND c.archive = '' WHERE {condition}"
    )
    chosen = ", ".join(f"w.{name}" for name in _COLUMNS.split(", "))
    moved = connection.execute(
        f"INSERT INTO actions (context_id, {_COLUMNS}) SELECT b.context_id, {chosen} FROM {bound}"
        " ORDER BY w.rowid",
        values,
    ).rowcount
    if moved:
        connection.execute(
            f"DELETE FROM waiting_actions WHERE id IN (SELECT w.id FROM {bound})", values
        )
    return moved
