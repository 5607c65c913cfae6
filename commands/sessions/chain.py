"""Shows the sessions that continue each other as a tree, from the oldest on."""

import argparse

from commands.sessions.lines import tree
from commands.sessions.room import as_data, open_room
from commands.terminal.ask import add_examples, explain
from commands.terminal.safe_text import plain_json
from commands.terminal.screen import screen_here


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py sessions chain`."""
    parser.add_argument("name", metavar="SESSION", help=explain("sessions_number"))
    json = explain("json")
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help=json)
    add_examples(parser, "sessions chain 12")


def run(arguments: argparse.Namespace) -> int:
    """Print the tree; always 0. Raises SessionNameError where the argument names none."""
    room = open_room(arguments)
    named = room.named(arguments.name)
    oldest = room.store.chain(named)[0]
    chain = room.store.chain(oldest)  # with the branches that lead to other sessions
    if arguments.json:
        print(plain_json(room.as_json(sessions=[*map(as_data, chain)])))
    else:
        print("\n".join(tree(chain, named, screen_here())))
    return 0
