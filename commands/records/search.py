"""Lists the records that have every word, the most relevant first, and shows where it is.

Below them stands what the other rooms know on the words.
"""

import argparse
from collections.abc import Collection, Mapping

from commands.records.filters import add_filters, as_data, filtered, nothing_lines
from commands.records.found import Words, found_lines, holders_of, in_order
from commands.rooms.choice import (
    LESSONS,
    add_room,
    hand_over,
    meant_beside,
    named_rooms,
    other_room,
)
from commands.rooms.searching import found_beside, section_lines
from commands.terminal.ask import add_examples, explain, open_memory
from commands.terminal.safe_text import plain, plain_json
from commands.terminal.screen import print_within, screen_here
from core.messages import say
from core.parser import add_project
from rooms.room import Opened

SEARCHED_BY = {"sessions": "list", "fragments": "search"}  # actions of the rooms' commands


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py search`."""
    parser.add_argument("words", metavar="WORD", nargs="+", help=explain("search_words"))
    add_project(parser)
    add_filters(parser)
    add_room(parser, several=True)
    add_examples(parser, "search payment retry --type principle", "search redis --room sessions")


def run(arguments: argparse.Namespace) -> int:
    """Print what was found; always 0. Raises SentinelError when the log cannot be read."""
    query = " ".join(arguments.words)
    if room := other_room(arguments):
        words = (SEARCHED_BY[room], *arguments.words)
        return hand_over(arguments, room, *words)
    opened = open_memory(arguments)
    beside = meant_beside(arguments, opened)
    if LESSONS in (named_rooms(arguments) or [LESSONS]):
        lines, data = _of_log(opened, arguments, query)
    else:
        lines, data = [], {"project": str(opened.project.root), "query": query}
    found = found_beside(opened, arguments, beside, query)
    if arguments.json:
        print(plain_json(data | {it.room: it.data for it in found}))
    else:
        more = section_lines(opened, found)
        print_within([*lines, *more] if lines else more[1:])
    return 0


def _of_log(
    opened: Opened, arguments: argparse.Namespace, query: str
) -> tuple[list[str], dict[str, object]]:
    """Return what the log has on the words: for a terminal, or with `--json` for scripts."""
    log = opened.store.read()
    records = list(log.records)
    holders = holders_of(query, records)
    hits = set.intersection(*holders.values()) if holders else set[int]()
    fitting = {id(record) for record in filtered(log, arguments)}
    order = in_order(query, records) if hits else []
    found = [records[at] for at in order if at in hits and id(records[at]) in fitting]
    shown = found[: arguments.limit]
    if arguments.json:
        return [], as_data(opened, shown, query=query, total=log.count, found=len(found))
    if shown:
        screen = screen_here()
        lines = found_lines(shown, records, Words(holders), screen, questions=arguments.questions)
        facts = {"shown": len(shown), "found": len(found), "without": len(fitting) - len(found)}
        lines += ["", say("records.searched", **facts)]
    elif fitting:
        lines = [say("records.no_hit", count=len(fitting)), *_counted(holders)]
    else:
        lines = nothing_lines(opened, log, arguments)
    return lines, {}


def _counted(holders: Mapping[str, Collection[int]]) -> list[str]:
    """Say how many records have each of several words."""
    if len(holders) < 2:
        return []
    counts = ", ".join(f"{plain(text)} {len(found):,}" for text, found in holders.items())
    return [say("records.each_word", counts=counts)]
