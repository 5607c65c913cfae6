"""Finds in which room something is that a person names by its id."""

import re
from collections.abc import Sequence
from functools import partial

from commands.rooms.choice import FRAGMENTS, LESSONS, ROOMS, SESSIONS, rooms_here, unless_unread
from commands.terminal.safe_text import plain
from core.errors import RefusedError
from core.git import HistoryError
from core.lessons.history import records_named
from core.lessons.log import MemoryLog
from core.messages import say
from rooms.room import Opened

_SESSION = re.compile(r"#[0-9]+|ctx_\S*")  # what only sessions are called
_NOT_THERE = ("not_there", "too_short")


class RoomNameError(RefusedError):
    """No room has the id that a person has typed, or several have it."""

    table = "rooms"


def by_room(
    opened: Opened, log: MemoryLog, ids: Sequence[str], command: str
) -> dict[str, list[str]]:
    """Return the ids that each room has, only rooms that have any.

    command: what is done with them. Raises RoomNameError, and HistoryError for an id that only the
    log can mean.
    """
    found = {SESSIONS: [it for it in ids if _SESSION.fullmatch(it)]}
    others = [it for it in ids if not _SESSION.fullmatch(it)]
    holders = {LESSONS: _records(log, others)}
    look = {SESSIONS: _sessions, FRAGMENTS: _fragments}
    for room in rooms_here(opened) if others else ():
        ask = partial(look[room], opened, others)
        holders[room] = unless_unread(opened, room, ask) or set()
    for id_ in others:
        rooms = [room for room in ROOMS if id_ in holders.get(room, ())]
        if len(rooms) > 1:
            _refuse_several(opened, id_, rooms, command)
        if not rooms and len(holders) > 1:
            names = ", ".join(say(f"rooms.{room}") for room in ROOMS if room in holders)
            raise RoomNameError("nowhere", id=plain(id_), rooms=names)
        found.setdefault(rooms[0] if rooms else LESSONS, []).append(id_)
    return {room: found[room] for room in ROOMS if found.get(room)}


def _refuse_several(opened: Opened, id_: str, rooms: Sequence[str], command: str) -> None:
    names = ", ".join(say(f"rooms.{room}") for room in rooms)
    facts = {"command": command, "typed": plain(id_), "room": rooms[0]}
    raise RoomNameError("in_several", id=plain(id_), rooms=names, **facts)


def _records(log: MemoryLog, ids: Sequence[str]) -> set[str]:
    """Return which ids mean a record, or several that the log itself tells apart."""
    found = set[str]()
    for id_ in ids:
        try:
            records_named(id_, log)
        except HistoryError as error:
            if error.key in _NOT_THERE:
                continue
        found.add(id_)
    return found


def _sessions(opened: Opened, ids: Sequence[str]) -> set[str]:
    from commands.sessions.room import SessionNameError, room_of

    room, found = room_of(opened), set[str]()
    for id_ in ids if room.is_there else ():
        try:
            room.named(id_)
        except SessionNameError:
            continue
        found.add(id_)
    return found


def _fragments(opened: Opened, ids: Sequence[str]) -> set[str]:
    from commands.fragments.room import fragments_of

    room = fragments_of(opened.settings)
    if not room.is_there:
        return set()
    with room.room.engine.reading() as reading:
        return {it.id for it in reading.by_ids(ids)}
