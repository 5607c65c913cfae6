"""Gives all fragments the embeddings of the model that is configured."""

import argparse
import os

from commands.fragments.room import add_json, empty_lines, open_fragments
from commands.terminal.ask import add_examples, progress
from commands.terminal.safe_text import complain, plain, plain_json
from commands.terminal.screen import print_lines, print_within
from core.messages import say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py fragments embed`."""
    add_json(parser)
    add_examples(parser, "fragments embed")


def run(arguments: argparse.Namespace) -> int:
    """Embed what has no embedding of this model; 1 without a model. Raises SentinelError."""
    from rooms.fragments.embeddings.embedder import embedder_of
    from rooms.fragments.embeddings.filling import reembed

    opened = open_fragments()
    embedder = embedder_of(os.environ)
    if embedder is None:
        complain(say("fragment_commands.no_model"))
        return 1
    if not opened.is_there and not arguments.json:
        print_within(empty_lines())
        return 0
    with progress() as tell:

        def told(done: int, count: int) -> None:
            tell(say("fragment_commands.embedding", done=done, count=count))

        filled = reembed(opened.room, embedder, progress=told)
    if arguments.json:
        told_all = {"model": embedder.model, "embedded": filled.count, "left": filled.left}
        print(plain_json(told_all))
    else:
        model = plain(embedder.model)
        print_lines(
            [say("fragment_commands.embedded", model=model, count=filled.count, left=filled.left)]
        )
    return 0
