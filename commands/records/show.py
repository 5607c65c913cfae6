"""Shows whole records, wrapped to the width of the terminal."""

import argparse

from commands.records.filters import print_json
from commands.records.lines import whole
from commands.terminal.console import add_examples, add_ids, add_json, open_memory
from commands.terminal.screen import screen_here
from core.lessons.git.naming import records_named
from core.parser import add_project


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py show`."""
    add_ids(parser)
    add_project(parser)
    add_json(parser)
    add_examples(parser, "show 3f2a", "show 3f2a 91bc --json")


def run(arguments: argparse.Namespace) -> int:
    """Print the records. Raises HistoryError where an argument names none."""
    opened = open_memory(arguments)
    log = opened.store.read()
    named = {it.token: it for name in arguments.ids for it in records_named(name, log)}
    records = list(named.values())
    if arguments.json:
        print_json(opened, records)
        return 0
    screen = screen_here()
    print("\n\n".join("\n".join(whole(record, screen, opened.lang)) for record in records))
    return 0
