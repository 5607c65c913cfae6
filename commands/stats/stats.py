"""Answers whether the memory helps: what it holds and costs, what came back, what hooks showed.

It only reads: the log, the rooms, and the notes of hooks, which are outside the project.
"""

import argparse
import os
import time

from commands.hook.journal import sessions_in
from commands.rooms.choice import FRAGMENTS, LESSONS, SESSIONS, add_room
from commands.stats.data import as_json
from commands.stats.figures import Stats, count
from commands.stats.fragments import FragmentStats, count_fragments, fragment_lines, fragments_data
from commands.stats.lines import lines_of
from commands.stats.parts import Page
from commands.stats.sessions import (
    SessionStats,
    count_sessions,
    room_lines,
    session_lines,
    sessions_data,
)
from commands.terminal.ask import (
    add_examples,
    add_json,
    open_memory,
)
from commands.terminal.safe_text import plain, plain_json, warn
from commands.terminal.screen import print_lines, screen_here
from core.config import state_directory
from core.errors import SentinelError
from core.lessons.answers import Frame
from core.lessons.log import MemoryLog
from core.messages import say
from core.parser import add_project
from rooms.room import Opened


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py stats`."""
    add_project(parser)
    add_json(parser)
    add_room(parser)
    add_examples(parser, "stats", "stats --room sessions")


def run(arguments: argparse.Namespace) -> int:
    """Count and print; return 0. Raises SentinelError when the log cannot be read."""
    opened = open_memory(arguments)
    sessions, fragments = _beside(opened, arguments.room)
    data: dict[str, object] = {
        **({SESSIONS: sessions_data(sessions)} if sessions else {}),
        **({FRAGMENTS: fragments_data(fragments)} if fragments else {}),
    }
    screen, page = screen_here(), Page(screen_here())
    lines = list[str]()
    if arguments.room in (None, LESSONS):
        stats = _of_log(opened, arguments)
        data = as_json(stats) | data
        lines = lines_of(stats, screen, room_lines(stats, sessions, fragments, page))
    sections = [session_lines(sessions, page)] if sessions else []
    sections += [fragment_lines(fragments, page)] if fragments else []
    lines += [line for section in sections for line in ("", *page.titled(section))]
    if arguments.json:
        print(plain_json(data))
    elif lines:
        print("\n".join(lines if lines[0] else lines[1:]))
    else:
        print_lines(_empty_lines(opened, arguments.room))
    return 0


def _of_log(opened: Opened, arguments: argparse.Namespace) -> Stats:
    """Count what the log holds, and what hooks showed of it."""
    root = str(opened.project.root)
    frame = Frame(project=root, settings=opened.settings)
    sessions = list(sessions_in(state_directory(root, os.environ)))
    data, now_s = opened.store.read_bytes(), time.time()
    return count(MemoryLog.parse(data), len(data), sessions, frame, now_s=now_s)


def _beside(opened: Opened, room: str | None) -> tuple[SessionStats | None, FragmentStats | None]:
    """Count the other rooms that are meant; what keeps one from being read is said."""
    sessions = fragments = None
    if room in (None, SESSIONS):
        try:
            sessions = count_sessions(opened.project.root, opened.settings)
        except SentinelError as error:
            warn(say("stats_sessions.unread", reason=plain(str(error))))
    if room in (None, FRAGMENTS):
        try:
            fragments = count_fragments(opened.settings)
        except SentinelError as error:
            warn(say("stats_fragments.unread", reason=plain(str(error))))
    return sessions, fragments


def _empty_lines(opened: Opened, room: str) -> list[str]:
    """Say what a room is that holds nothing."""
    if room == SESSIONS:
        from commands.sessions.room import empty_lines
    else:
        from commands.fragments.room import empty_lines
    return empty_lines()
