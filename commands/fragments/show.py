"""Shows whole fragments: what they say, where they are from, their links and former versions."""

import argparse
from typing import TYPE_CHECKING

from commands.fragments.lines import whole
from commands.fragments.room import add_ids, add_json, as_data, open_fragments
from commands.terminal.console import add_examples
from commands.terminal.safe_text import plain_json
from commands.terminal.screen import screen_here

if TYPE_CHECKING:
    from rooms.fragments.engine import Reading
    from rooms.fragments.fragment import Fragment, Link


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py fragments show`."""
    add_ids(parser)
    add_json(parser)
    add_examples(parser, "fragments show k3fa9x2m", "fragments show k3fa9x2m b7wq4e5n --json")


def run(arguments: argparse.Namespace) -> int:
    """Print the fragments; always 0. Raises FragmentNameError where an id names none."""
    from rooms.fragments.exchange.lines import line_of
    from rooms.fragments.fragment import Version

    opened, screen = open_fragments(), screen_here()
    named = opened.named(arguments.ids)
    with opened.room.engine.reading() as reading:
        links = {it.id: _linked(reading, it) for it in named}
        versions = {it.id: reading.entries(Version, of=it.id) for it in named}
    if arguments.json:
        shown = [
            {
                **as_data(it),
                "links": [line_of(link) for link, _ in links[it.id]],
                "versions": [line_of(version) for version in versions[it.id]],
            }
            for it in named
        ]
        print(plain_json({"fragments": shown}))
        return 0
    blocks = [whole(it, links[it.id], versions[it.id], screen, opened.lang) for it in named]
    print("\n\n".join("\n".join(lines) for lines in blocks))
    return 0


def _linked(reading: "Reading", fragment: "Fragment") -> "list[tuple[Link, Fragment]]":
    links = reading.links([fragment.id])
    ends = {end for it in links for end in (it.from_id, it.to_id)}
    others = {it.id: it for it in reading.by_ids(ends)}
    found = []
    for link in links:
        other = others.get(link.to_id if link.from_id == fragment.id else link.from_id)
        if other and not other.deleted_at:
            found.append((link, other))
    return found
