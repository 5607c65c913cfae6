"""Shows whole records, sessions and fragments, wrapped to the width of the terminal."""

import argparse

from commands.records.filters import as_data
from commands.records.lines import whole
from commands.records.versions import version_data, version_lines, versions_named
from commands.rooms.beside import shown_blocks, shown_data
from commands.rooms.choice import LESSONS, add_room, hand_over, other_room
from commands.rooms.naming import by_room
from commands.terminal.ask import add_examples, add_ids, add_json, explain, open_memory
from commands.terminal.safe_text import plain_json
from commands.terminal.screen import print_lines, screen_here
from core.lessons.history import records_named
from core.parser import add_project
from rooms.room import Opened


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py show`."""
    add_ids(parser)
    add_project(parser)
    parser.add_argument("--versions", action="store_true", help=explain("versions"))
    add_json(parser)
    add_room(parser)
    add_examples(parser, "show 3f2a --versions", "show '#12' k3fa9x2m")


def run(arguments: argparse.Namespace) -> int:
    """Print what was named; 0. Raises SentinelError where an argument names nothing."""
    if room := other_room(arguments):
        return hand_over(arguments, room, "show", *arguments.ids, takes=("json",))
    opened = open_memory(arguments)
    if arguments.versions:
        return _show_versions(opened, arguments)
    log = opened.store.read()
    ids = (
        {LESSONS: arguments.ids} if arguments.room else by_room(opened, log, arguments.ids, "show")
    )
    named = {it.token: it for name in ids.pop(LESSONS, ()) for it in records_named(name, log)}
    records = list(named.values())
    if arguments.json:
        print(plain_json(as_data(opened, records) | shown_data(opened, ids)))
        return 0
    screen = screen_here()
    blocks = ["\n".join(whole(record, screen)) for record in records]
    print("\n\n".join([*blocks, *shown_blocks(opened, ids)]))
    return 0


def _show_versions(opened: Opened, arguments: argparse.Namespace) -> int:
    found = versions_named(opened, arguments.ids)
    if arguments.json:
        print(plain_json({"project": str(opened.project.root), **version_data(found)}))
        return 0
    for number, versions in enumerate(found):
        print_lines(["", *version_lines(versions)][not number :])
    return 0
