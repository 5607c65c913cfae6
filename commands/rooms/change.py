"""`forget` and `restore`: show a change, ask, carry it out."""

import argparse

from commands.rooms.read import first_answer, named_items, whole
from commands.terminal.ask import is_confirmed, open_memory, progress
from commands.terminal.safe_text import complain, plain
from commands.terminal.screen import print_lines, screen_here
from core.messages import say
from rooms.room import Item, Restoring, Room, rooms_of


def forget_items(arguments: argparse.Namespace) -> int:
    """Forget items; return 1 without a yes, or if one stayed. Raises SentinelError."""
    opened = open_memory(arguments, writes=not arguments.dry_run)
    of_room = dict[str, tuple[Room, list[Item]]]()
    for room, item in named_items(opened, arguments, one_each=True):
        of_room.setdefault(room.name, (room, []))[1].append(item)
    fates = [room.fate(items, hard=arguments.hard) for room, items in of_room.values()]
    for fate, (_, items) in zip(fates, of_room.values(), strict=True):
        print_lines([fate, *_blocks(items), ""])
    if not is_confirmed(arguments, say("rooms.ask_forget")):
        return int(not arguments.dry_run)
    stayed, left = list[Item](), list[str]()
    for room, items in of_room.values():
        done = room.forget(items, hard=arguments.hard)
        print_lines([plain(note) for note in done.notes])
        stayed += done.stayed
        left += done.left
    if stayed:
        left.append(say("rooms.stayed", ids=", ".join(item.id for item in stayed)))
    for sentence in left:
        complain(sentence)
    return int(bool(left))


def restore_item(arguments: argparse.Namespace) -> int:
    """Bring an item back; return 1 without a yes. Raises SentinelError."""
    opened = open_memory(arguments, writes=not arguments.dry_run)
    rooms = rooms_of(opened, arguments.room or ())
    with progress():
        originals = arguments.originals
        planned = first_answer(
            rooms, arguments.id, lambda room, name: room.restore(name, originals=originals)
        )
    if planned.carry_out is None:
        print_lines([plain(note) for note in planned.notes])
        return 0
    if not arguments.yes:
        _print_restoring(planned, "would_restore")
    if not is_confirmed(arguments, say("rooms.ask_restore")):
        return int(not arguments.dry_run)
    _print_restoring(planned.carry_out(), "restored")
    return 0


def _print_restoring(restoring: Restoring, heading: str) -> None:
    lines = [say(f"rooms.{heading}", count=len(restoring.items)), *_blocks(restoring.items)]
    if restoring.instead_of:
        count = len(restoring.instead_of)
        lines += ["", say("rooms.instead_of", count=count), *_blocks(restoring.instead_of)]
    print_lines([*lines, "", *map(plain, restoring.notes)])


def _blocks(items: list[Item]) -> list[str]:
    screen = screen_here()
    return [line for item in items for line in ("", *whole(item, screen))]
