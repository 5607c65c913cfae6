"""Shows, counts and forgets sessions and fragments beside records."""

import argparse
from collections.abc import Mapping, Sequence
from functools import partial

from commands.rooms.choice import FRAGMENTS, SESSIONS, rooms_here, unless_unread
from core.messages import say
from rooms.room import Opened


def shown_blocks(opened: Opened, ids: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the text of each session and fragment. ids: by room. Raises SentinelError."""
    blocks = list[str]()
    if SESSIONS in ids:
        from commands.sessions.room import room_of
        from commands.sessions.show import blocks_of as sessions_shown

        blocks += sessions_shown(room_of(opened), ids[SESSIONS])
    if FRAGMENTS in ids:
        from commands.fragments.room import fragments_of
        from commands.fragments.show import blocks_of as fragments_shown

        blocks += fragments_shown(fragments_of(opened.settings), ids[FRAGMENTS])
    return blocks


def shown_data(opened: Opened, ids: Mapping[str, Sequence[str]]) -> dict[str, object]:
    """Return the same as data, by room."""
    data = dict[str, object]()
    if SESSIONS in ids:
        from commands.sessions.room import room_of
        from commands.sessions.show import data_of as sessions_shown

        data[SESSIONS] = sessions_shown(room_of(opened), ids[SESSIONS])
    if FRAGMENTS in ids:
        from commands.fragments.room import fragments_of
        from commands.fragments.show import data_of as fragments_shown

        data[FRAGMENTS] = fragments_shown(fragments_of(opened.settings), ids[FRAGMENTS])
    return data


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


def forget_beside(
    opened: Opened, arguments: argparse.Namespace, ids: Mapping[str, Sequence[str]]
) -> int:
    """Show, ask, forget, one room after the other; 1 when one was not confirmed.

    ids: by room. Sessions go for good, fragments into their bin. Raises SentinelError.
    """
    code = 0
    if SESSIONS in ids:
        from commands.sessions.forget import forget_named as forget_sessions
        from commands.sessions.room import room_of

        code = forget_sessions(room_of(opened), arguments, ids[SESSIONS])
    if FRAGMENTS in ids:
        from commands.fragments.forget import forget_named as forget_fragments
        from commands.fragments.room import fragments_of

        asked = {**vars(arguments), "ids": ids[FRAGMENTS], "topic": "", "hard": False}
        given = argparse.Namespace(**asked)
        code = max(code, forget_fragments(fragments_of(opened.settings), given))
    return code
