"""Removes sessions for good, after it has shown them in full and a person has said yes."""

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from commands.sessions.lines import whole
from commands.sessions.room import Room, open_room
from commands.terminal.ask import add_confirmation, add_examples, explain, is_confirmed
from commands.terminal.safe_text import complain, plain
from commands.terminal.screen import print_lines, screen_here
from core.errors import SentinelError
from core.messages import say

if TYPE_CHECKING:
    from rooms.sessions.session import Session


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py sessions forget`."""
    named = explain("sessions_number")
    parser.add_argument("names", metavar="SESSION", nargs="+", help=named)
    add_confirmation(parser)
    add_examples(parser, "sessions forget 12 --dry-run", "sessions forget 12 14")


def run(arguments: argparse.Namespace) -> int:
    """Show, ask, remove; see `forget_named`."""
    room = open_room(arguments, writes=not arguments.dry_run)
    return forget_named(room, arguments, arguments.names)


def forget_named(room: Room, arguments: argparse.Namespace, names: Sequence[str]) -> int:
    """Show the sessions of these numbers and ids, ask, and remove them.

    1 when it was not confirmed, or when bytes are left. Raises SentinelError.
    """
    sessions = {session.id: session for session in map(room.named, names)}
    _show(room, list(sessions.values()))
    if not is_confirmed(arguments, say("session_commands.ask_forget")):
        return int(not arguments.dry_run)
    from rooms.sessions.upkeep.forgetting import forget

    done = forget(room.store, list(sessions), os.environ)
    print_lines([say("session_commands.forgotten", count=len(done.sessions))])
    for path in done.unpurged:
        complain(say("session_commands.unpurged", path=plain(str(path))))
    return int(bool(done.unpurged))


def _show(room: Room, sessions: "Sequence[Session]") -> None:
    """Print what goes, whole, and which sessions lose their link."""
    from rooms.sessions.upkeep.archive import whole as brought_back

    screen = screen_here()
    print_lines([say("session_commands.would_forget", count=len(sessions))])
    going = {session.id for session in sessions}
    for session in sessions:
        try:
            told, actions = brought_back(room.store, session)
        except SentinelError:  # its archive: what is left of it here goes all the same
            told, actions = session, []
        chain = room.store.chain(session)
        print("\n".join(["", *whole(told, actions, [], screen)]))
        left = [f"#{it.number}" for it in chain if it.parent_id == session.id if it.id not in going]
        if left:
            print_lines([say("session_commands.loses_link", names=", ".join(left))])
    print()
