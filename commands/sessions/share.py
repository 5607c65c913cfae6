"""Lets the user's other projects on this machine find the sessions of this one, or no longer."""

import argparse
import os

from commands.sessions.room import open_room
from commands.terminal.ask import add_examples, explain
from commands.terminal.screen import print_lines
from core.messages import say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py sessions share`."""
    parser.add_argument("--off", action="store_true", help=explain("sessions_off"))
    add_examples(parser, "sessions share", "sessions share --off")


def run(arguments: argparse.Namespace) -> int:
    """Share, or stop; 0. Raises SentinelError."""
    room = open_room(arguments, writes=True)
    from rooms.sessions.projects.sharing import share, unshare

    if arguments.off:
        count = unshare(room.opened.project.root, os.environ)
        print_lines([say("session_commands.unshared", count=count)])
    else:
        count = share(room.store, os.environ)
        print_lines(
            [say(f"session_commands.{key}", count=count) for key in ("shared", "what_is_shared")]
        )
    return 0
