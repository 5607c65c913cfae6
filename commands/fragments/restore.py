"""Takes fragments out of the bin, or puts superseded ones back into recall."""

import argparse

from commands.fragments.room import add_ids, open_fragments
from commands.terminal.console import add_examples
from commands.terminal.printing import print_lines
from commands.terminal.safe_text import plain
from core.messages import say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py fragments restore`."""
    add_ids(parser)
    add_examples(parser, "fragments restore k3fa9x2m")


def run(arguments: argparse.Namespace) -> int:
    """Restore the fragments; always 0. Raises SentinelError."""
    from rooms.fragments.saving.forgetting import restore

    opened = open_fragments()
    named = opened.named(arguments.ids)
    done = [restore(opened.room, it.id) for it in named]
    ids = plain(", ".join(it.id for it in done))
    print_lines([say("fragment_commands.restored", ids=ids)])
    return 0
