"""Scans the sessions of a project and the fragments of its user, where there are any.

Without them nothing of their rooms is loaded.
"""

import os
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from commands.scan.lines import INDENT
from commands.suspicions import shown_path
from commands.terminal.rooms_here import has_fragments, has_sessions
from commands.terminal.safe_text import plain
from core.config import FRAGMENTS_PLACE
from core.messages import say
from rooms.room import Opened

if TYPE_CHECKING:
    from core.room.redaction import Held, Redaction
    from rooms.fragments.postgres.adapter import PostgresEngine
    from rooms.fragments.sqlite.adapter import SqliteEngine
    from rooms.sessions.store import SessionStore

Room = Literal["sessions", "fragments"]
ROOMS: tuple[Room, ...] = "sessions", "fragments"


def is_there(opened: Opened, room: Room) -> bool:
    """Return whether the project has sessions, or its user fragments."""
    if room == "fragments":
        return has_fragments(os.environ)
    return has_sessions(opened.project.root)


def is_on_server() -> bool:
    """Return whether a server keeps the fragments, those of all agents."""
    from core.postgres.server import is_server

    return is_server(os.environ.get(FRAGMENTS_PLACE, "").strip())


def words_of(room: Room) -> str:
    """Return what the sentences about a room are called: those about a server have their own."""
    return "server" if room == "fragments" and is_on_server() else room


def secrets_in(opened: Opened, room: Room) -> "list[Held]":
    """Return what holds secrets in a room that is there. Raises SentinelError."""
    if words_of(room) == "server":
        from rooms.fragments.upkeep.secrets_on_server import secrets_on_server

        with closing(_on_server(opened)) as engine:
            return secrets_on_server(engine)
    if room == "fragments":
        from rooms.fragments.upkeep.secrets import secrets_held as held_by_fragments

        return held_by_fragments(_engine(opened))
    from rooms.sessions.upkeep.secrets import secrets_held

    return secrets_held(_store(opened), os.environ)


def redact(opened: Opened, room: Room) -> "Redaction":
    """Redact a room that is there, in place. Raises SentinelError."""
    if words_of(room) == "server":
        from rooms.fragments.upkeep.secrets_on_server import redact_on_server

        with closing(_on_server(opened)) as engine:
            done = redact_on_server(engine)
        if done.changed:
            _clear_cache()
        return done
    if room == "fragments":
        from rooms.fragments.upkeep.secrets import redact_held as redact_fragments

        return redact_fragments(_engine(opened))
    from rooms.sessions.upkeep.secrets import redact_held

    return redact_held(_store(opened), os.environ)


def aside_lines(opened: Opened, room: Room) -> list[str]:
    """Name the damaged databases that a repair has kept, since nobody looks into them."""
    if words_of(room) == "server":
        return []
    from core.room.copies import kept_aside

    path = _engine(opened).path if room == "fragments" else _store(opened).path
    return [say("scan.aside", path=_shown(aside)) for aside in kept_aside(path)]


def held_lines(room: Room, held: "Sequence[Held]") -> list[str]:
    """Return a line for each place: where, which session or fragment, which rules; no value."""
    lines = []
    for it in held:
        facts = {"where": _shown(it.path), "kinds": ", ".join(it.kinds)}
        key = f"in_{room}" if it.name else "in_room"
        lines.append(say(f"scan.{key}", name=plain(it.name), **facts))
    return lines


def held_json(room: Room, held: "Sequence[Held]") -> list[dict[str, object]]:
    """Return the places as data, without any secret."""
    name = room.removesuffix("s")
    return [
        {"path": _shown(it.path), name: it.name or None, "kinds": list(it.kinds)} for it in held
    ]


def redaction_lines(room: Room, redaction: "Redaction") -> list[str]:
    """Say what was redacted, what is left, and where the bytes are still in a file."""
    lines = list[str]()
    if redaction.changed:
        lines.append(say(f"scan.{words_of(room)}_redacted", count=len(redaction.changed)))
        lines += [INDENT + line for line in held_lines(room, redaction.changed)]
    if redaction.left:
        lines += [say("scan.left"), *held_lines(room, redaction.left)]
    paths = [_shown(path) for path in redaction.unpurged]
    return [*lines, *(say(f"scan.unpurged_{room}", path=path) for path in paths)]


def _store(opened: Opened) -> "SessionStore":
    from rooms.sessions.store import open_sessions

    return open_sessions(opened.project.root, opened.settings)


def _engine(opened: Opened) -> "SqliteEngine":
    from rooms.fragments.config import database_path
    from rooms.fragments.sqlite.adapter import SqliteEngine

    path = database_path(os.environ)
    return SqliteEngine(path, timeout_s=opened.settings.lock_timeout_s)


def _on_server(opened: Opened) -> "PostgresEngine":
    from rooms.fragments.config import database_server
    from rooms.fragments.postgres.adapter import PostgresEngine

    server = database_server(os.environ)
    assert server is not None
    return PostgresEngine(server, timeout_s=opened.settings.lock_timeout_s)


def _clear_cache() -> None:
    """Have Redis forget what it keeps of the fragments, where it is used and answers."""
    from rooms.fragments.config import database_server
    from rooms.fragments.redis.place import place_of

    place, server = place_of(os.environ), database_server(os.environ)
    if place and server:
        from rooms.fragments.redis.cache import Cache

        with closing(Cache(place, server.name)) as cache:
            cache.clear()


def _shown(path: Path | str) -> str:
    return shown_path(str(path).removeprefix(os.path.join(os.getcwd(), "")))
