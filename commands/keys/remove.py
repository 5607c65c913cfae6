"""Takes a key back, after it has said what goes with it and a person has said yes."""

import argparse

from commands.keys.papers import open_keys
from commands.terminal.console import add_confirmation, add_examples, explain, is_confirmed
from commands.terminal.printing import print_lines
from commands.terminal.safe_text import plain
from core.messages import Facts, say
from http_server.keys import Key


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py keys remove`."""
    parser.add_argument("name", metavar="NAME", help=explain("keys_name"))
    add_confirmation(parser)
    add_examples(parser, "keys remove laptop", "keys remove laptop --dry-run")


def run(arguments: argparse.Namespace) -> int:
    """Show, ask, remove; 1 when it was not confirmed. Raises HttpServerError, DatabaseError."""
    with open_keys() as keys:
        key = keys.named(arguments.name)
        print_lines([say("keys.would_remove", **_facts(key))])
        if not is_confirmed(arguments, say("keys.ask_remove")):
            return int(not arguments.dry_run)
        gone = keys.remove(key.name)
    print_lines([say("keys.removed", **_facts(gone))])
    return 0


def _facts(key: Key) -> Facts:
    return {"name": plain(key.name), "tokens": key.tokens, "sessions": key.sessions}
