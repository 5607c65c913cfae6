"""`list`, `search`, `show`, `forget` and `restore`, with the same lines for each room."""

import argparse
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from commands.terminal import ask
from commands.terminal import screen as terminal
from commands.terminal.screen import INDENT, Screen, plain, print_lines, screen_here, shorten
from core.errors import RefusedError, SentinelError
from core.git import HistoryError
from core.lessons.record_text import minute_of
from core.messages import say
from rooms.room import Filter, Item, Memory, Restoration, Room, rooms_of

MOST_ROWS, MOST_BESIDE = 25, 5  # of the first room on a terminal, and of each other one
NARROW = 56  # in fewer cells an item takes two lines
MOST_TOPIC = 14
SHORT_ID, LONG_ID = 8, 16
_MOST_CANDIDATES = 20
_T = TypeVar("_T")


def list_items(arguments: argparse.Namespace) -> int:
    """Print a line for each item, of a search for each match; return 0."""
    opened, screen = ask.open_memory(arguments), screen_here()
    words, named = " ".join(getattr(arguments, "words", ())), arguments.room or ()
    wanted = Filter(
        words=words,
        topics=tuple(arguments.topic or ()),
        kind=arguments.kind or "",
        since=arguments.since or "",
        forgotten=getattr(arguments, "forgotten", False),
        is_brief=not arguments.json,
    )
    data: dict[str, Any] = {"project": str(opened.project.root)}
    data |= {"query": words} if words else {}
    lines, nothing = list[str](), list[str]()
    for at, room in enumerate(rooms_with_kind(rooms_of(opened, named), wanted.kind)):
        is_first = not at or bool(named)
        usual = (MOST_ROWS if screen.is_terminal else None) if is_first else MOST_BESIDE
        limit = arguments.limit or (None if arguments.json else usual)
        asked = replace(wanted, limit=limit)
        found = ask.ask_room(room, partial(room.find, asked), named=named)
        if found is None:
            continue
        data[room.name] = {"found": found.count, "items": [it.data for it in found.items]}
        if found.items:
            shown, key = len(found.items), "searched" if words else "listed"
            lines += ["", *table_lines(found.items, screen, words)]
            lines.append(
                say(f"rooms.{key}", room=ask.title_of(room.name), shown=shown, count=found.count)
            )
            if more := found.count - shown:
                options = ["--project", arguments.project] if arguments.project else []
                options += [it for topic in wanted.topics for it in ("--topic", topic)]
                options += ["--kind", wanted.kind] if wanted.kind else []
                options += ["--since", wanted.since[:10]] if wanted.since else []
                options += ["--forgotten"] if wanted.forgotten else []
                options += ["--room", room.name, "--limit", str(found.count)]
                typed = shlex.join([arguments.command, *getattr(arguments, "words", ()), *options])
                lines.append(say("rooms.more", more=more, options=plain(typed)))
        elif is_first or room.find(Filter(forgotten=wanted.forgotten, limit=1)).count:
            nothing += room.explain_no_match(wanted)
    if arguments.json:
        print(terminal.plain_json(data))
    else:
        terminal.print_within(lines[1:] or list(map(plain, nothing)))
    return 0


def show_items(arguments: argparse.Namespace) -> int:
    """Print items whole, or all their versions. Raises SentinelError."""
    opened, lines = ask.open_memory(arguments), list[str]()
    data: dict[str, Any] = {"project": str(opened.project.root)}
    if arguments.versions:
        rooms, names = rooms_of(opened, arguments.room or ()), dict.fromkeys(arguments.ids)
        with ask.progress():
            known = [
                first_answer(rooms, it, lambda room, name: room.versions(name)) for it in names
            ]
        data["versions"] = [
            {**it.item.data, "places": it.data} for one in known for it in one.found
        ]
        data["notes"] = list(dict.fromkeys(note for one in known for note in one.notes))
        for one in known:
            head = screen_here().paint(plain(one.found[0].item.id), "bold")
            count = say("records.versions", count=len(one.found))
            lines += ["", head, *map(plain, one.notes), count]
            for number, (item, places, _) in enumerate(one.found, 1):  # the newest first
                head = f"{number}. {minute_of(item.date)}  {places}".rstrip()
                lines += ["", plain(head), *whole(item)]
    else:
        for _, item in named_items(opened, arguments):
            data.setdefault(item.room, {"items": []})["items"].append(item.data)
            lines += ["", *whole(item)]
    if arguments.json:
        print(terminal.plain_json(data))
    else:
        print_lines(lines[1:])
    return 0


# Shared by the commands that take ids.


def named_items(
    opened: Memory, arguments: argparse.Namespace, *, one_each: bool = False
) -> list[tuple[Room, Item]]:
    """Return each item of the typed ids once, with its room. Raises SentinelError.

    one_each: refuse an id of several records.
    """
    rooms = rooms_of(opened, arguments.room or ())
    found = dict[tuple[str, ...], tuple[Room, Item]]()
    for name in arguments.ids:
        holders, wrong = list[tuple[Room, list[Item]]](), list[SentinelError]()
        for room in list(rooms):
            try:
                if items := room.find_by_name(name):
                    holders.append((room, items))
            except (RefusedError, HistoryError) as error:
                wrong.append(error)
            except SentinelError as error:
                ask.warn_unreadable(room, error, named=arguments.room or ())
                rooms.remove(room)
        if not holders:
            raise wrong[0] if wrong else _nowhere(name, rooms)
        room, items = holders[0]
        if len(holders) > 1:
            listed = ", ".join(ask.title_of(it.name) for it, _ in holders)
            facts = {"command": arguments.command, "typed": shlex.quote(name), "room": room.name}
            raise RefusedError("rooms.in_several", id=plain(name), rooms=listed, **facts)
        several = len({it.id for it in items}) > 1
        if several or (one_each and len(items) > 1):
            names = [f"{it.id if several else it.version} [{it.topic}]" for it in items]
            listed = plain(", ".join(names[:_MOST_CANDIDATES]))
            listed += ", …" if len(names) > _MOST_CANDIDATES else ""
            key = "rooms.ambiguous" if several else "rooms.shared"
            raise RefusedError(key, id=plain(name), names=listed)
        found |= {(room.name, it.id, it.version): (room, it) for it in items}
    return list(found.values())


def first_answer(
    rooms: Sequence[Room], name: str, answer_of: Callable[[Room, str], _T | None]
) -> _T:
    """Return the first answer on a name. Raises SentinelError.

    The log comes last, since it may have to ask git; where there is none, no room knows the name.
    """
    wrong: SentinelError | None = None
    for room in reversed(rooms):
        try:
            if answer := answer_of(room, name):
                return answer
        except SentinelError as error:
            wrong = wrong or error
    if wrong and (len(rooms) == 1 or wrong.key not in ("no_repository", "no_commits")):
        raise wrong
    raise _nowhere(name, rooms)


def _nowhere(name: str, rooms: Sequence[Room]) -> RefusedError:
    listed = ", ".join(ask.title_of(it.name) for it in rooms)
    return RefusedError("rooms.nowhere", id=plain(name), rooms=listed)


def whole(item: Item) -> list[str]:
    """Return all lines of an item, within the screen."""
    screen = screen_here()
    topic = f" [{plain(item.topic)}]" if item.topic else ""
    mark = f"{item.mark} " if item.mark else ""
    lines = [screen.paint(f"{plain(item.id)}  {mark}{plain(item.kind)}{topic}", "bold")]
    for label, text in item.texts:
        first, *rest = terminal.plain_lines(text.strip("\r\n")) or [""]
        lines += [f"{INDENT}{label}: {first}", *(INDENT * 2 + line for line in rest)]
    lines.append(INDENT + screen.paint(plain("; ".join(item.facts)), "dim"))
    return [piece for line in lines for piece in terminal.wrap_line(line, screen.text_width)]


def table_lines(items: Sequence[Item], screen: Screen | None = None, words: str = "") -> list[str]:
    """Return a table of items, on a narrow terminal two lines each. words: to colour."""
    screen = screen or screen_here()
    cut = SHORT_ID if len({it.id[:SHORT_ID] for it in items}) == len(items) else LONG_ID
    rows = [
        [
            shorten(plain(it.id)[:cut], cut),
            terminal.day_text(it.date),
            plain(it.kind),
            shorten(plain(it.topic), MOST_TOPIC),
            " ".join(f"{it.mark} {plain(it.texts[0][1] if it.texts else '')}".split()),
        ]
        for it in items
    ]
    if screen.width < NARROW:
        lines = []
        for name, day, kind, topic, text in rows:
            first = shorten(INDENT + INDENT.join((name, day, kind)), screen.width)
            second = shorten(INDENT * 2 + (f"[{topic}] {text}" if topic else text), screen.width)
            lines += [screen.paint(first, "dim"), _lit(second, words, screen)]
        return lines
    names = [say(f"rooms.{it}") for it in ("day", "kind", "topic", "text")]
    head, *lines = terminal.render_table(["id", *names], rows, screen)
    start = terminal.without_colours(head).rfind(names[-2])
    return [head, *(line[:start] + _lit(line[start:], words, screen) for line in lines)]


def _lit(line: str, words: str, screen: Screen) -> str:
    if not (screen.colours and words):
        return line
    from core.text.terms import FIRST_WIDE, terms_of, without_particle

    needles = {re.escape(without_particle(word)) for word in words.split()}
    for term in (term for several in terms_of(words) for term in several):
        needle = re.escape(term.needle)
        is_wide = term.needle[0] >= FIRST_WIDE
        needles.add(needle if is_wide else rf"(?<![^\W_]){needle}[^\W\d_]*")
    pattern = "|".join(sorted(needles, key=len, reverse=True))
    return re.sub(pattern, lambda it: screen.paint(it[0], "yellow"), line, flags=re.IGNORECASE)


def rooms_with_kind(rooms: Sequence[Room], kind: str) -> list[Room]:
    """Return the rooms with a kind. Raises RefusedError without any."""
    found = [room for room in rooms if not kind or kind in room.kinds]
    if rooms and not found:
        known = dict.fromkeys(it for room in rooms for it in room.kinds)
        raise RefusedError("rooms.no_kind", name=plain(kind), kinds=", ".join(known))
    return found


def forget_items(arguments: argparse.Namespace) -> int:
    """Forget items; return 1 without a yes, or if one stayed. Raises SentinelError."""
    opened = ask.open_memory(arguments, writes=not arguments.dry_run)
    of_room = dict[str, tuple[Room, list[Item]]]()
    for room, item in named_items(opened, arguments, one_each=True):
        of_room.setdefault(room.name, (room, []))[1].append(item)
    fates = [room.preview_forget(items, hard=arguments.hard) for room, items in of_room.values()]
    for fate, (_, items) in zip(fates, of_room.values(), strict=True):
        print_lines([fate, *_blocks(items), ""])
    if not ask.is_confirmed(arguments, say("rooms.ask_forget")):
        return int(not arguments.dry_run)
    stayed, left = list[Item](), list[str]()
    for room, items in of_room.values():
        done = room.forget(items, hard=arguments.hard)
        print_lines([plain(note) for note in done.notes])
        stayed += done.changed_items
        left += done.left
    if stayed:
        left.append(say("rooms.stayed", ids=", ".join(item.id for item in stayed)))
    for sentence in left:
        terminal.complain(sentence)
    return int(bool(left))


def restore_item(arguments: argparse.Namespace) -> int:
    """Bring an item back; return 1 without a yes. Raises SentinelError."""
    opened = ask.open_memory(arguments, writes=not arguments.dry_run)
    rooms = rooms_of(opened, arguments.room or ())
    with ask.progress():
        originals = arguments.originals
        planned = first_answer(
            rooms, arguments.id, lambda room, name: room.restore(name, originals=originals)
        )
    if planned.carry_out is None:
        print_lines([plain(note) for note in planned.notes])
        return 0
    if not arguments.yes:
        _print_restoring(planned, "would_restore")
    if not ask.is_confirmed(arguments, say("rooms.ask_restore")):
        return int(not arguments.dry_run)
    _print_restoring(planned.carry_out(), "restored")
    return 0


def _print_restoring(restoring: Restoration, heading: str) -> None:
    lines = [say(f"rooms.{heading}", count=len(restoring.items)), *_blocks(restoring.items)]
    if restoring.instead_of:
        count = len(restoring.instead_of)
        lines += ["", say("rooms.instead_of", count=count), *_blocks(restoring.instead_of)]
    print_lines([*lines, *(["", *map(plain, restoring.notes)] if restoring.notes else [])])


def _blocks(items: list[Item]) -> list[str]:
    return [line for item in items for line in ("", *whole(item))]
