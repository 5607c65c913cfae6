"""Lists the fragments that answer a question, the most relevant first."""

import argparse
from typing import TYPE_CHECKING, Any

from commands.fragments.lines import fragment_table
from commands.fragments.list import MOST_ROWS, common_filters, nothing_lines
from commands.fragments.room import Opened, as_data, open_fragments
from commands.terminal.ask import add_examples, explain
from commands.terminal.safe_text import plain_json
from commands.terminal.screen import print_within, screen_here
from core.messages import say

if TYPE_CHECKING:
    from rooms.fragments.recall.recalling import Recalled

_TOKENS = 1_000_000  # what is found is bounded by its number


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py fragments search`."""
    about = explain("search_words")
    parser.add_argument("words", metavar="WORD", nargs="+", help=about)
    for action in common_filters(parser):
        action.default = argparse.SUPPRESS
    add_examples(parser, "fragments search cache deploy", "fragments search timeout --type error")


def run(arguments: argparse.Namespace) -> int:
    """Print what was found; always 0. Raises SentinelError when it cannot be read."""
    opened, screen = open_fragments(), screen_here()
    limit = arguments.limit or MOST_ROWS
    found = found_on(
        opened,
        " ".join(arguments.words),
        limit,
        agent=arguments.agent or "",
        type=arguments.type or "",
        topic=arguments.topic or "",
        tags=tuple(arguments.tag or ()),
        since=arguments.since or "",
        until=arguments.until or "",
    )
    shown, count = found.fragments, len(found.fragments) + found.left_out
    if arguments.json:
        print(plain_json({"found": count, "fragments": [*map(as_data, shown)]}))
        return 0
    if not shown:
        print_within(nothing_lines(opened, arguments, "none_found"))
        return 0
    key = "found_more" if found.left_out else "found"
    lines = fragment_table(shown, screen)
    print_within([*lines, "", say(f"fragment_commands.{key}", shown=len(shown), count=count)])
    return 0


def found_on(
    opened: Opened, text: str, limit: int, *, agent: str = "", is_use: bool = True, **narrowed: Any
) -> "Recalled":
    """Return the fragments that answer a question, at most that many.

    agent: only from this one. is_use: whether that counts as use of them. narrowed: more that
    `Query` takes. Raises SentinelError.
    """
    from rooms.fragments.recall.recalling import Query, recall
    from rooms.fragments.recall.using import count_use

    query = Query(text=text, tokens=_TOKENS, limit=limit, with_links=False, **narrowed)
    count = count_use if is_use else lambda *_: None
    return recall(opened.room, query, agent=agent, count=count)
