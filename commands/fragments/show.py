"""Shows whole fragments: what they say, where they are from, their links and former versions."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from commands.fragments.lines import whole
from commands.fragments.room import Opened, add_ids, add_json, as_data, open_fragments
from commands.terminal.ask import add_examples
from commands.terminal.safe_text import plain_json
from commands.terminal.screen import screen_here

if TYPE_CHECKING:
    from rooms.fragments.engine import Reading
    from rooms.fragments.fragment import Fragment, Link, Version


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py fragments show`."""
    add_ids(parser)
    add_json(parser)
    add_examples(parser, "fragments show k3fa9x2m", "fragments show k3fa9x2m b7wq4e5n --json")


def run(arguments: argparse.Namespace) -> int:
    """Print the fragments; always 0. Raises FragmentNameError where an id names none."""
    opened = open_fragments()
    if arguments.json:
        print(plain_json({"fragments": data_of(opened, arguments.ids)}))
    else:
        print("\n\n".join(blocks_of(opened, arguments.ids)))
    return 0


def blocks_of(opened: Opened, ids: Sequence[str]) -> list[str]:
    """Return the text of each of these fragments. Raises FragmentNameError."""
    screen = screen_here()
    return ["\n".join(whole(*it, screen)) for it in _named(opened, ids)]


def data_of(opened: Opened, ids: Sequence[str]) -> list[dict[str, object]]:
    """Return these fragments as data, with links and versions. Raises FragmentNameError."""
    from rooms.fragments.exchange.lines import line_of

    return [
        {
            **as_data(fragment),
            "links": [line_of(link) for link, _ in links],
            "versions": [line_of(version) for version in versions],
        }
        for fragment, links, versions in _named(opened, ids)
    ]


def _named(
    opened: Opened, ids: Sequence[str]
) -> "list[tuple[Fragment, list[tuple[Link, Fragment]], list[Version]]]":
    """Return each fragment with its links and its former versions."""
    from rooms.fragments.fragment import Version

    named = opened.named(ids)
    with opened.room.engine.reading() as reading:
        return [(it, _linked(reading, it), reading.entries(Version, of=it.id)) for it in named]


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
