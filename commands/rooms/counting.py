"""Counts what the rooms beside the log hold, in one line each."""

from functools import partial

from commands.rooms.choice import FRAGMENTS, SESSIONS, rooms_here, unless_unread
from commands.terminal.console import Opened
from core.messages import say


def count_lines(opened: Opened) -> list[str]:
    """Return a line for each room that holds something: how much, and what lists it."""
    counts = {SESSIONS: _sessions, FRAGMENTS: _fragments}
    lines = list[str]()
    for room in rooms_here(opened):
        if count := unless_unread(opened, room, partial(counts[room], opened)):
            lines.append(say(f"rooms.has_{room}", count=count))
    return lines


def _sessions(opened: Opened) -> int:
    from commands.sessions.room import room_of
    from rooms.sessions.search.found import Criteria
    from rooms.sessions.search.searching import search

    room = room_of(opened)
    return search(room.store, Criteria(), limit=1).total if room.is_there else 0


def _fragments(opened: Opened) -> int:
    from commands.fragments.room import fragments_of
    from rooms.fragments.engine import Wanted

    room = fragments_of(opened.settings)
    if not room.is_there:
        return 0
    with room.room.engine.reading() as reading:
        return sum(reading.count(Wanted()).values())
