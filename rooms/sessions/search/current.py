"""Finds the session that a caller is at, without being told which one."""

from core.lessons.record import utc_now
from rooms.sessions.rows import sessions_where
from rooms.sessions.session import Session
from rooms.sessions.store import SessionStore

_OPEN_DAYS = 1
_LAST = "archive = '' AND process = ? ORDER BY updated_at DESC, number DESC LIMIT 1"
_OPEN = (
    "archive = '' AND agent = ? AND ended_at IS NULL"
    " AND julianday(updated_at) > julianday(?) - ? LIMIT 2"
)


def current(store: SessionStore, process: str, *, agent: str = "") -> Session | None:
    """Return the session that this process saved last, also one that has ended.

    agent: a client by its name. Where its process has saved nothing, as after a restart, it is the
    one session that the client saved within a day and has not ended; of several nobody knows which
    one is meant, and it is none. "" looks for no other process. Raises DatabaseError.
    """
    with store.database.reading() as connection:
        if connection is None:
            return None
        for own in sessions_where(connection, _LAST, (process,)):
            return own
        found = list(sessions_where(connection, _OPEN, (agent, utc_now(), _OPEN_DAYS)))
    return found[0] if agent and len(found) == 1 else None
