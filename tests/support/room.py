"""Makes projects with sessions for the tests of what is around them."""

import os
from pathlib import Path
from typing import Any

from core.config import Settings
from rooms.sessions.rows import write
from rooms.sessions.session import Draft, Point, Session
from rooms.sessions.store import SessionStore, open_sessions

OLD, LATER = "2024-03-01T10:00:00+00:00", "2026-05-01T10:00:00+00:00"


def a_room(root: Path, lock_timeout_s: int = 5) -> SessionStore:
    """The sessions of a project of this directory, which is made."""
    root.mkdir(parents=True, exist_ok=True)
    return open_sessions(root, Settings(lock_timeout_s=lock_timeout_s))


def saved(store: SessionStore, goal: str, now: str = LATER, **fields: Any) -> Session:
    """A session that was saved at this moment and has ended, unless `status` says otherwise."""
    draft = Draft(**{"goal": goal, "status": "completed", **fields})
    return store.save(draft, agent="cursor", process=f"process of {goal}", now=now).session


def failed(what: str, why: str = "") -> Point:
    """An approach that failed."""
    return Point(text=what, result="failed", why=why)


def act(store: SessionStore, session: Session, *commands: str) -> None:
    """Record commands of a session."""
    with store.writing() as connection:
        for at, command in enumerate(commands):
            connection.execute(
                "INSERT INTO actions (id, context_id, type, content, result, created_at)"
                " VALUES (?, ?, 'command', ?, 'success', ?)",
                (f"act_{session.id}_{at}", session.id, command, f"{session.date}T1{at}:00:00"),
            )


def stored(store: SessionStore, **fields: Any) -> Session:
    """A session as another program would have put it there: with whatever its texts hold."""
    dates = dict.fromkeys(("started_at", "ended_at", "created_at", "updated_at"), LATER)
    given = {"number": 0, "id": f"ctx_{os.urandom(6).hex()}", **dates, **fields}
    with store.writing() as connection:
        return write(connection, Session(**given))


def every_byte(*folders: Path) -> bytes:
    """What stands in all files below these folders, one behind the other."""
    files = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    return b"\0".join(path.read_bytes() for path in files)
