"""Asks the rooms beside the log what they know on words, each by its own search."""

import argparse
import shlex
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from commands.rooms.choice import named_rooms, since_text, unless_unread
from commands.terminal.safe_text import plain
from commands.terminal.screen import screen_here
from core.messages import say
from rooms.room import Opened

MOST_ROWS = 5  # of each room below the log's table, unless --limit says otherwise


class Found(NamedTuple):
    """What one room knows. data: of what was found, for scripts; lines: for a terminal."""

    room: str
    total: int
    data: list[dict[str, Any]]
    lines: list[str]


def found_beside(
    opened: Opened, arguments: argparse.Namespace, rooms: Sequence[str], query: str
) -> list[Found]:
    """Return what each of these rooms knows; one that is not there is left out.

    One that cannot be read is left out with a word on it, unless it was named. Raises
    SentinelError.
    """
    found = list[Found | None]()
    for room in rooms:
        ask = partial(_ASKED[room], opened, arguments, query)
        found.append(ask() if named_rooms(arguments) else unless_unread(opened, room, ask))
    return [it for it in found if it]


def section_lines(opened: Opened, found: Sequence[Found]) -> list[str]:
    """Return a heading for each room with what was found there below it."""
    screen, lines = screen_here(), list[str]()
    for it in found:
        heading = say(f"rooms.found_{it.room}", count=it.total)
        lines += ["", screen.painted(heading, "bold"), *it.lines]
    return lines


def _sessions(opened: Opened, arguments: argparse.Namespace, query: str) -> Found | None:
    from commands.sessions.lines import session_table
    from commands.sessions.list import ALL, options_of
    from commands.sessions.room import as_data, room_of
    from rooms.sessions.search.found import Criteria
    from rooms.sessions.search.searching import search

    room = room_of(opened)
    if not room.is_there:
        return None
    criteria = Criteria(query=query, since=since_text(arguments.since))
    limit = arguments.limit or (ALL if arguments.json else MOST_ROWS)
    page = search(room.store, criteria, limit=limit)
    shown = [hit.session for hit in page.hits]
    lines = session_table(shown, screen_here()) if shown else []
    if more := page.total - len(shown):
        options = options_of(criteria, limit=page.total)
        lines.append(say("session_commands.more_listed", more=more, options=options))
    return Found("sessions", page.total, [*map(as_data, shown)], lines)


def _fragments(opened: Opened, arguments: argparse.Namespace, query: str) -> Found | None:
    from commands.fragments.lines import fragment_table
    from commands.fragments.list import MOST_ROWS as MOST_FOUND
    from commands.fragments.room import as_data, fragments_of
    from commands.fragments.search import found_on

    room = fragments_of(opened.settings)
    if not room.is_there:
        return None
    since = since_text(arguments.since)
    found = found_on(room, query, arguments.limit or MOST_FOUND, since=since, is_use=False)
    most = arguments.limit or (MOST_FOUND if arguments.json else MOST_ROWS)
    shown, count = found.fragments[:most], len(found.fragments) + found.left_out
    lines = fragment_table(shown, screen_here()) if shown else []
    if more := count - len(shown):
        typed = [*query.split(), *(("--since", since) if since else ()), "--limit", str(count)]
        options = plain(shlex.join(typed))
        lines.append(say("rooms.more_fragments", more=more, options=options))
    return Found("fragments", count, [*map(as_data, shown)], lines)


_ASKED = {"sessions": _sessions, "fragments": _fragments}
