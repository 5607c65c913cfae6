"""Opens the sessions of a project for a command, and says what the room is where it is empty."""

import argparse
from typing import TYPE_CHECKING, Any, NamedTuple

from commands.terminal.ask import open_memory
from commands.terminal.rooms_here import rooms_with
from commands.terminal.safe_text import plain
from core.errors import RefusedError
from core.messages import say
from rooms.room import Opened

if TYPE_CHECKING:  # the room costs nothing where nobody asks for it
    from rooms.sessions.session import Session
    from rooms.sessions.store import SessionStore


class SessionNameError(RefusedError):
    """No session has the number or id that a person has typed."""

    table = "session_commands"


class Room(NamedTuple):
    """The sessions that one command works with. is_there: whether there is a database."""

    opened: Opened
    store: "SessionStore"
    is_there: bool

    def named(self, name: str) -> "Session":
        """Return the session of a number or id. Raises SessionNameError, DatabaseError."""
        from rooms.sessions.errors import NoSuchSessionError
        from rooms.sessions.store import shown_name

        try:
            return self.store.get(name)
        except NoSuchSessionError:
            raise SessionNameError("no_session", name=plain(shown_name(name))) from None

    def as_json(self, **facts: object) -> dict[str, object]:
        """Return data for scripts, below the project that it is about."""
        return {"project": str(self.opened.project.root), **facts}


def open_room(arguments: argparse.Namespace, *, writes: bool = False) -> Room:
    """Open the sessions of the project that is meant; creates nothing. Raises SentinelError.

    writes: refuse a directory that is no project.
    """
    return room_of(open_memory(arguments, writes=writes))


def room_of(opened: Opened) -> Room:
    """Return the sessions of a project that is open; creates nothing. Raises SentinelError."""
    from rooms.sessions.store import exist_in, open_sessions

    root = opened.project.root
    return Room(opened, open_sessions(root, opened.settings), exist_in(root))


def empty_lines() -> list[str]:
    """Say what sessions are and how to switch them on."""
    switch_on = say("session_commands.switch_on", rooms=rooms_with("sessions"))
    return [say("session_commands.none"), say("session_commands.what"), switch_on]


def as_data(session: "Session") -> dict[str, Any]:
    """Return everything about one session; every key is there, null for what it lacks."""
    declared = {"parentId": None, "endedAt": None, **session.as_json()}
    ours = {
        "hasWarnings": session.has_warnings,
        "updatedAt": session.updated_at,
        "archive": session.archive or None,
    }
    return {"number": session.number, **declared, **ours}
