"""Writes fragments as JSON lines, to the terminal or to a file, to be imported again."""

import argparse
import sys

from commands.fragments.room import add_json, empty_lines, open_fragments
from commands.terminal.ask import STDOUT, add_examples, explain, file_name, progress
from commands.terminal.safe_text import plain, plain_json, warn
from commands.terminal.screen import print_lines
from core.messages import say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py fragments export`."""
    topic = explain("fragments_topic")
    parser.add_argument("--public", action="store_true", help=explain("fragments_public"))
    parser.add_argument("--topic", metavar="TOPIC", help=topic)
    output = explain("fragments_output")
    parser.add_argument("-o", "--output", type=file_name, metavar="FILE", help=output)
    add_json(parser)
    parser.set_defaults(refuse=parser.error)
    add_examples(parser, "fragments export -o backup.jsonl", "fragments export --public -o f.jsonl")


def run(arguments: argparse.Namespace) -> int:
    """Write the document; 1 when there is nothing to write. Raises SentinelError."""
    from rooms.fragments.exchange.exporting import Choice, document, export

    opened = open_fragments()
    if not opened.is_there:
        for line in empty_lines():
            warn(line)
        return 1
    output = "" if arguments.output in (None, STDOUT) else arguments.output
    topics = (arguments.topic,) if arguments.topic else ()
    choice = Choice(topics=topics, only_public=arguments.public)
    if not output:
        with document(opened.room, choice) as (head, pieces):
            for piece in pieces:
                sys.stdout.write(piece)
        if head.private:
            warn(say("fragment_commands.holds_private", count=head.private))
        return 0
    with progress():
        done = export(opened.room, output, choice)
    if arguments.json:
        told = {"path": str(done.path), "fragments": done.count, "private": done.private}
        print(plain_json(told))
        return 0
    print(plain(say("fragment_commands.written", path=output, count=done.count)))
    if done.private:
        print_lines([say("fragment_commands.holds_private", count=done.private)])
    return 0
