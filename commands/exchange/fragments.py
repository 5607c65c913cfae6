"""Takes fragments of other places into the room once a person confirms.

The person first sees which fragments would come, and why anything is left out.
"""

import argparse
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from commands.exchange.sessions import STDIN, head_of
from commands.terminal.ask import is_confirmed, progress, settings_here
from commands.terminal.records import counted_kinds
from commands.terminal.rooms_here import rooms_with
from commands.terminal.safe_text import plain
from commands.terminal.screen import INDENT, Screen, day_text, print_lines, screen_here, table
from core.messages import say

if TYPE_CHECKING:  # the room costs nothing where nobody asks for it
    from rooms.fragments.exchange.importing import Plan
    from rooms.fragments.exchange.incoming import Source
    from rooms.fragments.fragment import Fragment

FRAGMENTS = "fragments"  # the name of the format
MOST_ROWS = 25  # on a terminal
_MOST_PLACES = 5  # that are named of what is left out for one reason
_LINE_BYTES = 100
_SQLITE = b"SQLite format 3\0"
_TABLE = re.compile(rb'CREATE TABLE (?:IF NOT EXISTS )?["`\[]?(?:memory_item|fragments)\b')
_OURS = b'{"format": "sentinel-memory-fragments"'
_DOCUMENT = b"<!-- sentinel-memory-fragments:"  # of an export for people, which has to be refused
_KEYS = (b'"content"', b'"topic"'), (b'"from_id"', b'"to_id"'), (b'"fragment_id"', b'"content"')


def holds_fragments(path: str, wanted: str | None) -> bool:
    """Return whether a file has fragments, by its first bytes; of - by what waits.

    wanted: the format that the user has named, None for none.
    """
    if wanted is not None:
        return wanted == FRAGMENTS
    head = head_of(path)
    if head.startswith(_SQLITE):
        return bool(_TABLE.search(head))
    if head.startswith(_OURS) or _DOCUMENT in head[:_LINE_BYTES]:
        return True
    first = head.lstrip(b"[ \r\n\t").partition(b"\n")[0]
    is_row = first.startswith(b"{") and b'"lesson"' not in first
    return is_row and any(all(key in first for key in pair) for pair in _KEYS)


def run(arguments: argparse.Namespace) -> int:
    """Show, ask, save; return 1 when nobody confirms. Raises SentinelError."""
    if arguments.topic:
        facts = {"one": "--topic", "other": f"--format {FRAGMENTS}"}
        arguments.refuse(say("terminal.together", **facts))
    return take(arguments, _read(arguments.file))


def take(arguments: argparse.Namespace, source: "Source") -> int:
    """Show, ask, save what was read; return 1 when nobody confirms. Raises SentinelError."""
    from rooms.fragments.exchange.importing import carry_out, planned
    from rooms.fragments.exchange.incoming import as_of
    from rooms.fragments.room import open_room, own_name

    settings = settings_here()
    if arguments.agent:
        source = as_of(source, own_name(arguments.agent, "--agent"))
    room = open_room(settings, os.environ)
    is_first = not room.engine.exists()
    with progress() as tell:
        plan = planned(
            room, source, lambda d, n: tell(say("import_fragments.reading", done=d, count=n))
        )
    print_lines(_preview(plan, source, screen_here()))
    if not (plan.new or plan.links or plan.entries):
        print(say("import_fragments.nothing"))
        return 0
    is_readable = arguments.file != STDIN
    if not is_confirmed(
        arguments, say("import_fragments.ask"), is_readable=is_readable, table="import_fragments"
    ):
        return int(not arguments.dry_run)
    with progress() as tell:
        saved = carry_out(
            room, plan, lambda d, n: tell(say("import_fragments.saving", done=d, count=n))
        )
    print_lines([say("import_fragments.saved", count=saved.fragments), *_further(is_first)])
    return 0


def _further(is_first: bool) -> Iterator[str]:
    """Yield what a person may want to do next."""
    if is_first:
        yield say("import_fragments.switch_on", rooms=rooms_with(FRAGMENTS))
    if os.environ.get("SENTINEL_MEMORY_EMBEDDINGS", "").strip():
        yield say("import_fragments.embed")


def _read(path: str) -> "Source":
    from rooms.fragments.exchange.sources import MOST_BYTES, read_source, read_text

    if path != STDIN:
        return read_source(Path(path))
    return read_text(sys.stdin.buffer.read(MOST_BYTES + 1), "<stdin>")


def _preview(plan: "Plan", source: "Source", screen: Screen) -> list[str]:
    """Return all that a person must know before saying yes."""
    form = say(f"import_fragments.{source.form}")
    lines = [
        plain(say("import_fragments.head", path=source.path, form=form, count=len(plan.new))),
        "",
    ]
    if plan.new:
        lines += [*_table(plan.new, screen), ""]
    counts = {
        **{"links": len(plan.links), "entries": len(plan.entries), "known": plan.known},
        **{"other": plan.other, "in_bin": plan.in_bin, "shortened": plan.shortened},
    }
    lines += [
        say(f"import_fragments.{name}", count=count) for name, count in counts.items() if count
    ]
    if plan.redacted:
        lines.append(say("import_fragments.redacts", **counted_kinds(plan.redacted.elements())))
    if plan.faults:
        lines += [say("import_fragments.passed"), *_passed(plan, source)]
    return [*lines, ""] if lines[-1] else lines


def _table(new: "Sequence[Fragment]", screen: Screen) -> list[str]:
    """Return a line for each fragment, in the order of the source."""

    shown = new[: MOST_ROWS if screen.is_terminal else None]
    rows = [
        [day_text(it.created_at), say(f"fragments.exchange.{it.kind}"), plain(it.content)]
        for it in shown
    ]
    names = [say(f"import_fragments.{name}") for name in ("date", "kind", "fragment")]
    head, *lines = table(names, rows, screen.width)
    more = len(new) - len(shown)
    return [
        screen.painted(head, "bold"),
        *lines,
        *([INDENT + say("import_fragments.more_rows", more=more)] if more else ()),
    ]


def _passed(plan: "Plan", source: "Source") -> Iterator[str]:
    """Yield a line for each reason: how many are left out for it, and the first places."""
    by_reason: dict[str, list[int]] = {}
    for fault in plan.faults:
        by_reason.setdefault(fault.why, []).append(fault.place)
    for why, found in by_reason.items():
        line = INDENT + say(f"import_fragments.passed_{why}", count=len(found))
        if places := sorted({place for place in found if place}):
            shown = ", ".join(map(str, places[:_MOST_PLACES]))
            shown += " …" if places[_MOST_PLACES:] else ""
            unit = "rows" if source.form == "memory_db" else "lines"
            line += f" ({say(f'import_fragments.{unit}', places=shown)})"
        yield line
