"""Shows whole sessions: their texts, their actions, and the chain that each is part of."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from commands.sessions.lines import whole
from commands.sessions.room import Room, as_data, open_room
from commands.terminal.ask import add_examples, explain
from commands.terminal.safe_text import plain_json
from commands.terminal.screen import screen_here

if TYPE_CHECKING:
    from rooms.sessions.session import Action, Session


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py sessions show`."""
    about = explain("sessions_number")
    parser.add_argument("names", metavar="SESSION", nargs="+", help=about)
    json = explain("json")
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help=json)
    add_examples(parser, "sessions show 12", "sessions show 12 14 --json")


def run(arguments: argparse.Namespace) -> int:
    """Print the sessions; always 0. Raises SessionNameError where an argument names none."""
    room = open_room(arguments)
    if arguments.json:
        print(plain_json(room.as_json(sessions=data_of(room, arguments.names))))
    else:
        print("\n\n".join(blocks_of(room, arguments.names)))
    return 0


def blocks_of(room: Room, names: Sequence[str]) -> list[str]:
    """Return the text of each session of these numbers and ids. Raises SessionNameError."""
    screen, shown = screen_here(), _named(room, names)
    chains = [room.store.chain(session) for session, _ in shown]
    blocks = [whole(*it, chain, screen) for it, chain in zip(shown, chains, strict=True)]
    return ["\n".join(lines) for lines in blocks]


def data_of(room: Room, names: Sequence[str]) -> list[dict[str, object]]:
    """Return these sessions as data, with their actions. Raises SessionNameError."""
    return [_as_json(room, *it) for it in _named(room, names)]


def _named(room: Room, names: Sequence[str]) -> "list[tuple[Session, list[Action]]]":
    named = {it.id: it for it in map(room.named, names)}
    return [_whole(room, session) for session in named.values()]


def _whole(room: Room, session: "Session") -> "tuple[Session, list[Action]]":
    """Return a session with all of its texts and actions, from its archive if it has one."""
    if not session.archive:
        return session, room.store.actions(session)
    from rooms.sessions.upkeep.archive import whole as whole_from_archive

    return whole_from_archive(room.store, session)


def _as_json(room: Room, session: "Session", actions: "list[Action]") -> dict[str, object]:
    chain = [
        {"number": it.number, "id": it.id, "goal": it.goal, "createdAt": it.created_at}
        for it in room.store.chain(session)
    ]
    return {**as_data(session), "actions": [it.as_json() for it in actions], "chain": chain}
