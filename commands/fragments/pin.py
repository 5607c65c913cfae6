"""Pins fragments, so that nothing ages or removes them, or unpins them."""

import argparse

from commands.fragments.room import add_ids, open_fragments
from commands.terminal.ask import add_examples
from commands.terminal.safe_text import plain
from commands.terminal.screen import print_lines
from core.messages import say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py fragments pin` or `unpin`, whichever the parser is."""
    add_ids(parser)
    name = parser.prog.rpartition(" ")[2]
    add_examples(parser, f"fragments {name} k3fa9x2m", f"fragments {name} k3fa9x2m b7wq4e5n")


def run(arguments: argparse.Namespace) -> int:
    """Pin or unpin the fragments; always 0. Raises SentinelError."""
    from rooms.fragments.saving.forgetting import pin

    opened, action = open_fragments(), arguments.action
    named = opened.named(arguments.ids)
    pinned = action == "pin"
    key = "now_pinned" if pinned else "now_unpinned"
    done = [pin(opened.room, it.id, pinned=pinned) for it in named]
    ids = plain(", ".join(it.id for it in done))
    print_lines([say(f"fragment_commands.{key}", ids=ids)])
    return 0
