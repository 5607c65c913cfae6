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
from core.messages import say
from core.text.plain import minute_of
from rooms.room import Filter, Item, Memory, Restoration, Room, rooms_of

MOST_ROWS, MOST_OTHER_ROWS = 25, 5  # of the first room on a terminal, and of each other one
NARROW_CELLS = 56  # in fewer cells an item takes two lines
MOST_TOPIC_CELLS = 14
SHORT_ID, LONG_ID = 8, 16
_MOST_CANDIDATES = 20
_T = TypeVar("_T")


def list_items(options: argparse.Namespace) -> int:
    """Print a line for each item, of a search for each match; return 0."""
    memory, screen = ask.open_memory(options), screen_here()
    words, names = " ".join(getattr(options, "words", ())), options.room or ()
    is_forgotten = getattr(options, "forgotten", False)
    filter_ = filter_of(options, words=words, forgotten=is_forgotten, is_brief=not options.json)
    data: dict[str, Any] = {"project": str(memory.project.root)}
    data |= {"query": words} if words else {}
    lines, reasons = list[str](), list[str]()
    for index, room in enumerate(rooms_with_kind(rooms_of(memory, names), filter_.kind)):
        is_first = not index or bool(names)
        usual_limit = (MOST_ROWS if screen.is_terminal else None) if is_first else MOST_OTHER_ROWS
        limit = options.limit or (None if options.json else usual_limit)
        matches = ask.ask_room(room, partial(room.find, replace(filter_, limit=limit)), names=names)
        if matches is None:
            continue
        data[room.name] = {"found": matches.count, "items": [item.data for item in matches.items]}
        if matches.items:
            facts = {"shown": len(matches.items), "count": matches.count}
            key = "searched" if words else "listed"
            lines += ["", *table_lines(matches.items, screen, words)]
            lines.append(say(f"rooms.{key}", room=ask.title_of(room.name), **facts))
            if more := matches.count - len(matches.items):
                flags = [part for topic in filter_.topics for part in ("--topic", topic)]
                flags += ["--kind", filter_.kind] if filter_.kind else []
                flags += ["--since", filter_.since[:10]] if filter_.since else []
                flags += ["--forgotten"] if filter_.forgotten else []
                flags += ["--room", room.name, "--limit", str(matches.count)]
                line = shlex.join([options.command, *getattr(options, "words", ()), *flags])
                lines.append(say("rooms.more", more=more, options=plain(line)))
        elif is_first or room.find(Filter(forgotten=filter_.forgotten, limit=1)).count:
            reasons += room.explain_no_match(filter_)
    if options.json:
        print(terminal.plain_json(data))
    else:
        terminal.print_within(lines[1:] or list(map(plain, reasons)))
    return 0


def show_items(options: argparse.Namespace) -> int:
    """Print items whole, or all their versions. Raises SentinelError."""
    memory, lines = ask.open_memory(options), list[str]()
    data: dict[str, Any] = {"project": str(memory.project.root)}
    if options.versions:
        rooms, names = rooms_of(memory, options.room or ()), dict.fromkeys(options.ids)
        with ask.progress():
            histories = [
                first_answer(rooms, name, lambda room, name: room.versions(name)) for name in names
            ]
        versions = [version for history in histories for version in history.versions]
        data["versions"] = [{**entry.item.data, "places": entry.data} for entry in versions]
        data["notes"] = list(dict.fromkeys(note for history in histories for note in history.notes))
        for history in histories:
            head = screen_here().paint(plain(history.versions[0].item.id), "bold")
            count = say("records.versions", count=len(history.versions))
            lines += ["", head, *map(plain, history.notes), count]
            for number, (item, places, _) in enumerate(history.versions, 1):  # the newest first
                head = f"{number}. {minute_of(item.date)}  {places}".rstrip()
                lines += ["", plain(head), *item_lines(item)]
    else:
        for _, item in find_typed_items(memory, options):
            data.setdefault(item.room, {"items": []})["items"].append(item.data)
            lines += ["", *item_lines(item)]
    if options.json:
        print(terminal.plain_json(data))
    else:
        print_lines(lines[1:])
    return 0


def filter_of(options: argparse.Namespace, **more: Any) -> Filter:
    """Return the choice of the usual options."""
    topics = tuple(options.topic or ())
    return Filter(topics=topics, kind=options.kind or "", since=options.since or "", **more)


# Shared by the commands that take ids.


def find_typed_items(
    memory: Memory, options: argparse.Namespace, *, one_each: bool = False
) -> list[tuple[Room, Item]]:
    """Return each item of the typed ids once, with its room. Raises SentinelError.

    one_each: refuse an id of several records.
    """
    rooms = rooms_of(memory, options.room or ())
    items_by_key = dict[tuple[str, ...], tuple[Room, Item]]()
    for name in options.ids:
        holders, errors = list[tuple[Room, list[Item]]](), list[SentinelError]()
        for room in list(rooms):
            try:
                if items := room.find_by_name(name):
                    holders.append((room, items))
            except (RefusedError, HistoryError) as error:
                errors.append(error)
            except SentinelError as error:
                ask.warn_unreadable(room, error, names=options.room or ())
                rooms.remove(room)
        if not holders:
            raise errors[0] if errors else _unknown_error(name, rooms)
        room, items = holders[0]
        if len(holders) > 1:
            titles = ", ".join(ask.title_of(room.name) for room, _ in holders)
            facts = {"command": options.command, "typed": shlex.quote(name), "room": room.name}
            raise RefusedError("rooms.in_several", id=plain(name), rooms=titles, **facts)
        is_many = len({item.id for item in items}) > 1
        if is_many or (one_each and len(items) > 1):
            names = [f"{item.id if is_many else item.version} [{item.topic}]" for item in items]
            names_text = plain(", ".join(names[:_MOST_CANDIDATES]))
            names_text += ", …" if len(names) > _MOST_CANDIDATES else ""
            key = "rooms.ambiguous" if is_many else "rooms.shared"
            raise RefusedError(key, id=plain(name), names=names_text)
        items_by_key |= {(room.name, item.id, item.version): (room, item) for item in items}
    return list(items_by_key.values())


def first_answer(
    rooms: Sequence[Room], name: str, answer_of: Callable[[Room, str], _T | None]
) -> _T:
    """Return the first answer on a name. Raises SentinelError.

    The log comes last, since it may have to ask git; where there is none, no room knows the name.
    """
    first_error: SentinelError | None = None
    for room in reversed(rooms):
        try:
            if answer := answer_of(room, name):
                return answer
        except SentinelError as error:
            first_error = first_error or error
    if first_error and (len(rooms) == 1 or first_error.key not in ("no_repository", "no_commits")):
        raise first_error
    raise _unknown_error(name, rooms)


def _unknown_error(name: str, rooms: Sequence[Room]) -> RefusedError:
    titles = ", ".join(ask.title_of(room.name) for room in rooms)
    return RefusedError("rooms.nowhere", id=plain(name), rooms=titles)


def item_lines(item: Item) -> list[str]:
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
    id_chars = SHORT_ID if len({item.id[:SHORT_ID] for item in items}) == len(items) else LONG_ID
    rows = [
        [
            shorten(plain(item.id)[:id_chars], id_chars),
            terminal.day_text(item.date),
            plain(item.kind),
            shorten(plain(item.topic), MOST_TOPIC_CELLS),
            " ".join(f"{item.mark} {plain(item.texts[0][1] if item.texts else '')}".split()),
        ]
        for item in items
    ]
    if screen.width < NARROW_CELLS:
        lines = []
        for name, day, kind, topic, text in rows:
            first = shorten(INDENT + INDENT.join((name, day, kind)), screen.width)
            second = shorten(INDENT * 2 + (f"[{topic}] {text}" if topic else text), screen.width)
            lines += [screen.paint(first, "dim"), _highlight(second, words, screen)]
        return lines
    names = [say(f"rooms.{name}") for name in ("day", "kind", "topic", "text")]
    head, *lines = terminal.render_table(["id", *names], rows, screen)
    start = terminal.without_colours(head).rfind(names[-2])
    return [head, *(line[:start] + _highlight(line[start:], words, screen) for line in lines)]


def _highlight(line: str, words: str, screen: Screen) -> str:
    if not (screen.colours and words):
        return line
    from core.text.terms import FIRST_WIDE, terms_of, without_particle

    needles = {re.escape(without_particle(word)) for word in words.split()}
    for term in (term for terms in terms_of(words) for term in terms):
        needle = re.escape(term.needle)
        is_wide = term.needle[0] >= FIRST_WIDE
        needles.add(needle if is_wide else rf"(?<![^\W_]){needle}[^\W\d_]*")
    pattern = "|".join(sorted(needles, key=len, reverse=True))
    return re.sub(pattern, lambda hit: screen.paint(hit[0], "yellow"), line, flags=re.IGNORECASE)


def rooms_with_kind(rooms: Sequence[Room], kind: str) -> list[Room]:
    """Return the rooms with a kind. Raises RefusedError without any."""
    matching_rooms = [room for room in rooms if not kind or kind in room.kinds]
    if rooms and not matching_rooms:
        kinds = dict.fromkeys(name for room in rooms for name in room.kinds)
        raise RefusedError("rooms.no_kind", name=plain(kind), kinds=", ".join(kinds))
    return matching_rooms


def forget_items(options: argparse.Namespace) -> int:
    """Forget items; return 1 without a yes, or if one stayed. Raises SentinelError."""
    memory = ask.open_memory(options, writes=not options.dry_run)
    by_room = dict[str, tuple[Room, list[Item]]]()
    for room, item in find_typed_items(memory, options, one_each=True):
        by_room.setdefault(room.name, (room, []))[1].append(item)
    previews = [room.preview_forget(items, hard=options.hard) for room, items in by_room.values()]
    for preview, (_, items) in zip(previews, by_room.values(), strict=True):
        print_lines([preview, *_blocks_of(items), ""])
    if not ask.is_confirmed(options, say("rooms.ask_forget")):
        return int(not options.dry_run)
    changed_items, errors = list[Item](), list[str]()
    for room, items in by_room.values():
        outcome = room.forget(items, hard=options.hard)
        print_lines([plain(note) for note in outcome.notes])
        changed_items += outcome.changed_items
        errors += outcome.errors
    if changed_items:
        errors.append(say("rooms.stayed", ids=", ".join(item.id for item in changed_items)))
    for sentence in errors:
        terminal.complain(sentence)
    return int(bool(errors))


def restore_item(options: argparse.Namespace) -> int:
    """Bring an item back; return 1 without a yes. Raises SentinelError."""
    memory = ask.open_memory(options, writes=not options.dry_run)
    rooms = rooms_of(memory, options.room or ())
    with ask.progress():
        plan = first_answer(
            rooms, options.id, lambda room, name: room.restore(name, originals=options.originals)
        )
    if plan.carry_out is None:
        print_lines([plain(note) for note in plan.notes])
        return 0
    if not options.yes:
        _print_restoration(plan, "would_restore")
    if not ask.is_confirmed(options, say("rooms.ask_restore")):
        return int(not options.dry_run)
    _print_restoration(plan.carry_out(), "restored")
    return 0


def _print_restoration(restoration: Restoration, heading: str) -> None:
    lines = [say(f"rooms.{heading}", count=len(restoration.items)), *_blocks_of(restoration.items)]
    if restoration.replaced_items:
        count = len(restoration.replaced_items)
        lines += ["", say("rooms.instead_of", count=count), *_blocks_of(restoration.replaced_items)]
    print_lines([*lines, *(["", *map(plain, restoration.notes)] if restoration.notes else [])])


def _blocks_of(items: list[Item]) -> list[str]:
    return [line for item in items for line in ("", *item_lines(item))]
