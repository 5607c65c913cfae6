"""Lists records, the newest first, in one line each, narrowed down by filters."""

import argparse

from commands.records.filters import (
    add_filters,
    filtered,
    newest_first,
    nothing_lines,
    print_json,
)
from commands.records.lines import print_within, record_table
from commands.records.words import word
from commands.terminal.console import add_examples, open_memory
from commands.terminal.screen import screen_here
from core.parser import add_project


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py list`."""
    add_project(parser)
    add_filters(parser)
    add_examples(parser, "list --since 7d", "list --topic auth --questions")


def run(arguments: argparse.Namespace) -> int:
    """Print the records; always 0. Raises SentinelError when the log cannot be read."""
    opened = open_memory(arguments)
    log = opened.store.read()
    found = newest_first(filtered(opened, log, arguments))
    shown = found[: arguments.limit]
    if arguments.json:
        print_json(opened, shown, total=log.count, found=len(found))
        return 0
    lines = nothing_lines(opened, log, arguments)
    if shown:
        screen = screen_here()
        lines = record_table(shown, log.records, screen, opened.lang, questions=arguments.questions)
        lines += ["", word(opened.lang, "listed", shown=len(shown), count=log.count)]
    print_within(lines)
    return 0
