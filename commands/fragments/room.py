"""Opens the fragments of this person for a command, and says what the room is where it is empty."""

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from commands.terminal.ask import explain, settings_here
from commands.terminal.rooms_here import rooms_with
from commands.terminal.safe_text import plain, warn
from core.config import Settings
from core.errors import RefusedError
from core.messages import say

if TYPE_CHECKING:  # the room costs nothing where nobody asks for it
    from rooms.fragments.fragment import Fragment
    from rooms.fragments.room import Room


class FragmentNameError(RefusedError):
    """No fragment has the id that a person has typed, or what was asked cannot be done to it."""

    table = "fragment_commands"


class Opened(NamedTuple):
    """The fragments that one command works with. is_there: whether any was ever saved."""

    room: "Room"
    is_there: bool

    def named(self, ids: Sequence[str]) -> "list[Fragment]":
        """Return the fragments of these ids, each once. Raises FragmentNameError, DatabaseError."""
        with self.room.engine.reading() as reading:
            found = {it.id: it for it in reading.by_ids(ids)}
        for id_ in ids:
            if id_ not in found:
                raise FragmentNameError("no_fragment", id=plain(id_))
        return list(found.values())


def open_fragments() -> Opened:
    """Open the fragments of this person; creates nothing. Raises SentinelError."""
    settings = settings_here()
    for warning in settings.warnings:
        warn(warning)
    return fragments_of(settings)


def fragments_of(settings: Settings) -> Opened:
    """Return the fragments of this person; creates nothing. Raises SentinelError."""
    from rooms.fragments.room import open_room

    room = open_room(settings, os.environ)
    return Opened(room, room.engine.exists())


def empty_lines() -> list[str]:
    """Say what fragments are and how to switch them on."""
    switch_on = say("fragment_commands.switch_on", rooms=rooms_with("fragments"))
    return [say("fragment_commands.none"), say("fragment_commands.what"), switch_on]


def add_ids(parser: argparse.ArgumentParser) -> None:
    """Add the fragments that an action is about."""
    about = explain("fragments_id")
    parser.add_argument("ids", metavar="FRAGMENT", nargs="+", help=about)


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add `--json` to an action."""
    about = explain("json")
    parser.add_argument("--json", action="store_true", help=about)


def as_data(fragment: "Fragment") -> dict[str, Any]:
    """Return everything about one fragment by the names of the specification."""
    from rooms.fragments.exchange.lines import line_of

    data = line_of(fragment)
    del data["kind"]
    return data
