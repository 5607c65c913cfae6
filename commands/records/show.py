"""Whole records at a terminal, wrapped to its width."""

import argparse

from commands.records.filters import print_json, screen_here
from commands.records.lines import whole
from commands.terminal.console import add_project, open_memory
from core.lessons.git.naming import records_named
from core.lessons.git.repository import HistoryError, tell
from core.lessons.log import MemoryLog
from core.lessons.record import Record


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `cli.py show`."""
    parser.add_argument(
        "ids", metavar="ID", nargs="+", help="an id, its first 4 or more characters, or id@fp"
    )
    add_project(parser)
    parser.add_argument("--json", action="store_true", help="print the records as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the records; 1 and nothing but a sentence when one of them cannot be named."""
    opened = open_memory(arguments)
    try:
        records = all_named(arguments.ids, opened.store.read())
    except HistoryError as error:
        return tell(error, opened.lang)
    if arguments.json:
        print_json(opened, records)
        return 0
    screen = screen_here()
    print("\n\n".join("\n".join(whole(record, screen, opened.lang)) for record in records))
    return 0


def all_named(names: list[str], log: MemoryLog) -> list[Record]:
    """The records that these arguments name, each once, in their order. Raises HistoryError."""
    found = {record.token: record for name in names for record in records_named(name, log)}
    return list(found.values())
