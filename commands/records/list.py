"""Lists records, the newest first, in one line each, narrowed down by filters."""

import argparse
import shlex
from datetime import UTC, datetime

from commands.records.filters import (
    add_filters,
    filtered,
    newest_first,
    nothing_lines,
    print_json,
)
from commands.records.lines import record_table
from commands.rooms.beside import count_lines
from commands.rooms.choice import add_room, hand_over, other_room
from commands.terminal.ask import add_examples, open_memory
from commands.terminal.safe_text import plain
from commands.terminal.screen import print_within, screen_here
from core.messages import say
from core.parser import add_project

MOST_ROWS = 25  # on a terminal, unless --limit says otherwise
FILTERS = ("topic", "type", "since", "questions")
KEPT = ("project", *FILTERS)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py list`."""
    add_project(parser)
    add_filters(parser)
    add_room(parser)
    add_examples(parser, "list --topic auth --questions", "list --room sessions")


def run(arguments: argparse.Namespace) -> int:
    """Print the records; always 0. Raises SentinelError when the log cannot be read."""
    if room := other_room(arguments):
        return hand_over(arguments, room, "list")
    opened = open_memory(arguments)
    log = opened.store.read()
    found = newest_first(filtered(log, arguments))
    screen = screen_here()
    most = arguments.limit or (None if arguments.json or not screen.is_terminal else MOST_ROWS)
    shown = found[:most]
    if arguments.json:
        print_json(opened, shown, total=log.count, found=len(found))
        return 0
    lines = nothing_lines(opened, log, arguments)
    if shown:
        lines = record_table(shown, log.records, screen, questions=arguments.questions)
        lines += ["", say("records.listed", shown=len(shown), count=log.count)]
        if more := len(found) - len(shown):
            options = _options(arguments, limit=len(found))
            lines.append(say("records.more_listed", more=more, options=options))
    if not arguments.room and not any(getattr(arguments, name) for name in FILTERS):
        lines += count_lines(opened)
    print_within(lines)
    return 0


def _options(arguments: argparse.Namespace, *, limit: int) -> str:
    """Return the options that list the same records and more of them, as somebody types them."""
    words = list[str]()
    for name in KEPT:
        value = getattr(arguments, name)
        if name == "since" and value is not None:
            value = datetime.fromtimestamp(value, UTC).date()
        if value is True:
            words.append(f"--{name}")
        elif value:
            for one in value if isinstance(value, list) else [value]:
                words += [f"--{name}", str(one)]
    return plain(shlex.join([*words, "--limit", str(limit)]))
