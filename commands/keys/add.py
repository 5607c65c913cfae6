"""Makes a key and prints it, once."""

import argparse

from commands.keys.papers import open_keys
from commands.terminal.console import add_examples, explain
from commands.terminal.printing import print_lines
from core.messages import say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py keys add`."""
    parser.add_argument("name", metavar="NAME", help=explain("keys_name"))
    parser.add_argument("--agent", metavar="AGENT", default="", help=explain("keys_agent"))
    add_examples(parser, "keys add laptop", "keys add ci --agent ci")


def run(arguments: argparse.Namespace) -> int:
    """Print the key on a line of its own; always 0. Raises HttpServerError, DatabaseError."""
    with open_keys() as keys:
        secret = keys.add(arguments.name, arguments.agent)
        key = keys.named(arguments.name)
    print_lines([say("keys.made", name=key.name, agent=key.agent), ""])
    print(secret)  # whole, to be copied
    print_lines(["", say("keys.once"), say("keys.bearer"), say("keys.no_file")])
    return 0
