"""Moves old sessions into archives by year, after it has said which and a person has said yes."""

import argparse
import os
from typing import TYPE_CHECKING

from commands.sessions.lines import session_table
from commands.sessions.room import empty_lines, open_room
from commands.terminal.ask import add_confirmation, add_examples, explain, is_confirmed, when
from commands.terminal.screen import print_lines, screen_here
from core.messages import say

if TYPE_CHECKING:
    from rooms.sessions.upkeep.archive import Archived


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py sessions archive`."""
    date = explain("sessions_before")
    parser.add_argument("--before", type=when, metavar="DATE", required=True, help=date)
    parser.add_argument("--open", action="store_true", help=explain("sessions_open"))
    add_confirmation(parser)
    add_examples(parser, "sessions archive --before 1y --dry-run")


def run(arguments: argparse.Namespace) -> int:
    """Show, ask, move; 1 when it was not confirmed. Raises SentinelError."""
    room = open_room(arguments, writes=not arguments.dry_run)
    if not room.is_there:
        print_lines(empty_lines())
        return 0
    from rooms.sessions.upkeep.archive import archive_before

    planned = archive_before(room.store, arguments.before, with_open=arguments.open, dry_run=True)
    if not planned.sessions:
        print_lines([say("session_commands.none_old"), *_left_open(planned)])
        return 0
    files = ", ".join(f"{name}: {count:,}" for name, count in planned.files.items())
    print_lines([say("session_commands.would_archive", count=len(planned.sessions), files=files)])
    print("\n".join(session_table(planned.sessions, screen_here())))
    print_lines(_left_open(planned))
    if not is_confirmed(arguments, say("session_commands.ask_archive")):
        return int(not arguments.dry_run)
    done = archive_before(room.store, arguments.before, with_open=arguments.open)
    folder = os.path.join(str(room.store.path.parent), "")
    print_lines([say("session_commands.archived", count=len(done.sessions), folder=folder)])
    return 0


def _left_open(planned: "Archived") -> list[str]:
    return [say("session_commands.left_open", count=planned.left_open)] if planned.left_open else []
