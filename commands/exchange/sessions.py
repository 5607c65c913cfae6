"""Takes sessions of others into the project once a person confirms: a `.context-sync`, an export.

The person first sees which sessions would come, and why anything is skipped.
"""

import argparse
import os
import re
import sys
from collections.abc import Sequence
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING

from commands.terminal.ask import is_confirmed, open_memory, progress
from commands.terminal.records import counted_kinds
from commands.terminal.rooms_here import rooms_with
from commands.terminal.safe_text import plain
from commands.terminal.screen import INDENT, Screen, day_text, print_lines, screen_here, table
from core.messages import say

if TYPE_CHECKING:  # the room costs nothing where nobody asks for it
    from rooms.sessions.exchange.importing import Plan
    from rooms.sessions.exchange.sources import Fault, Source
    from rooms.sessions.session import Session

SESSIONS = "sessions"  # the name of the format
STDIN = "-"
MOST_ROWS = 25  # on a terminal
_HEAD_BYTES, _LINE_BYTES = 65_536, 100
_STARTS = b"{", b"["
_SQLITE = b"SQLite format 3\0"
_KEYS = re.compile(rb'"(?:contexts|currentWork|conversationSummary|startedAt)"\s*:')
_DOCUMENT = b"<!-- sentinel-memory-sessions:"  # of an export for people, which has to be refused


def holds_sessions(path: str, wanted: str | None) -> bool:
    """Return whether a file or a directory has sessions, by its first bytes; of - by what waits.

    wanted: the format that the user has named, None for none.
    """
    if wanted is not None:
        return wanted == SESSIONS
    if path != STDIN and os.path.isdir(path):
        from rooms.sessions.exchange import sources

        return sources.holds_sessions(Path(path))
    head = head_of(path)
    if head.startswith(_SQLITE) or _DOCUMENT in head[:_LINE_BYTES]:
        return True
    return bool(head.startswith(_STARTS) and _KEYS.search(head))


def run(arguments: argparse.Namespace) -> int:
    """Show, ask, save; return 1 when nobody confirms. Raises SentinelError."""
    if arguments.topic:
        facts = {"one": "--topic", "other": f"--format {SESSIONS}"}
        arguments.refuse(say("terminal.together", **facts))
    return take(arguments, _read(arguments.file))


def take(arguments: argparse.Namespace, source: "Source") -> int:
    """Show, ask, save what was read; return 1 when nobody confirms. Raises SentinelError."""
    from rooms.sessions.exchange.importing import carry_out, planned
    from rooms.sessions.store import exist_in, open_sessions

    opened = open_memory(arguments, writes=not arguments.dry_run)
    project = opened.project.root
    store, is_first = open_sessions(project, opened.settings), not exist_in(project)
    with progress():
        plan = planned(store, source)
    print_lines(_preview(plan, source.path, project, screen_here()))
    if not plan.new:
        print(say("import_sessions.nothing"))
        return 0
    is_readable = arguments.file != STDIN
    if not is_confirmed(
        arguments, say("import_sessions.ask"), is_readable=is_readable, table="import_sessions"
    ):
        return int(not arguments.dry_run)
    with progress():
        saved = carry_out(store, plan)
    print_lines([say("import_sessions.saved", count=len(saved))])
    if is_first:
        print_lines([say("import_sessions.switch_on", rooms=rooms_with(SESSIONS))])
    return 0


def head_of(path: str) -> bytes:
    """Return the first bytes of a file without blanks; b"" where it cannot be read now."""
    try:
        if path == STDIN:
            waiting = sys.stdin.buffer
            return waiting.peek().lstrip() if isinstance(waiting, BufferedReader) else b""
        if not os.path.isfile(path):  # opening a pipe blocks
            return b""
        with open(path, "rb") as file:
            return file.read(_HEAD_BYTES).removeprefix(b"\xef\xbb\xbf").lstrip()
    except (OSError, AttributeError):
        return b""


def _read(path: str) -> "Source":
    from rooms.sessions.exchange.sources import MOST_BYTES, read_source, read_text

    if path != STDIN:
        return read_source(Path(path))
    return read_text(sys.stdin.buffer.read(MOST_BYTES + 1), "<stdin>")


def _preview(plan: "Plan", path: str, project: Path, screen: Screen) -> list[str]:
    """Return all that a person must know before saying yes."""
    head = say("import_sessions.head", path=path, project=str(project), count=len(plan.new))
    lines = [plain(head), ""]
    if plan.new:
        lines += [*_table([session for session, _ in plan.new], screen), ""]
    for name in ("known", "versions", "shortened"):
        if count := getattr(plan, name):
            lines.append(say(f"import_sessions.{name}", count=count))
    if plan.redacted:
        lines.append(say("import_sessions.redacts", **counted_kinds(plan.redacted.elements())))
    if plan.faults:
        lines += [say("import_sessions.passed"), *_passed(plan.faults, screen)]
    return [*lines, ""] if lines[-1] else lines


def _table(sessions: Sequence["Session"], screen: Screen) -> list[str]:
    """Return a line for each session, the newest first."""
    newest = sorted(sessions, key=lambda it: it.updated_at, reverse=True)
    shown = newest[: MOST_ROWS if screen.is_terminal else None]
    rows = [[day_text(it.date), it.status, plain(it.goal)] for it in shown]
    head, *lines = table(
        [say(f"import_sessions.{name}") for name in ("date", "status", "goal")], rows, screen.width
    )
    more = len(newest) - len(shown)
    return [
        screen.painted(head, "bold"),
        *lines,
        *([INDENT + say("import_sessions.more_rows", more=more)] if more else ()),
    ]


def _passed(faults: Sequence["Fault"], screen: Screen) -> list[str]:
    shown = faults[: MOST_ROWS if screen.is_terminal else None]
    lines = [
        INDENT + plain(say(f"import_sessions.passed_{it.why}", place=it.place)) for it in shown
    ]
    more = len(faults) - len(shown)
    return [*lines, *([INDENT + say("import_sessions.more_rows", more=more)] if more else ())]
