"""Looks for secrets in a memory log, in other files or in git's history; takes them out of the log.

It prints where a secret stands and of what kind it is, never what it is.
"""

import argparse
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from commands.scan.findings import (
    MOST_BYTES,
    Scan,
    is_in_last_commit,
    scan_history,
    scan_paths,
)
from commands.scan.lines import (
    INDENT,
    change_json,
    change_lines,
)
from commands.scan.rooms import (
    ROOMS,
    Room,
    aside_lines,
    held_json,
    held_lines,
    is_there,
    redact,
    redaction_lines,
    secrets_in,
    words_of,
)
from commands.suspicions import Suspicion, shown_path, suspicion_json, suspicion_line
from commands.terminal.ask import (
    add_confirmation,
    add_examples,
    add_json,
    check_confirmation,
    explain,
    is_confirmed,
    open_memory,
    progress,
    settings_here,
)
from commands.terminal.safe_text import complain, plain, plain_json, warn
from commands.terminal.screen import print_lines, screen_here
from core.errors import SentinelError
from core.git import Repository
from core.lessons.file import place_of
from core.lessons.upkeep import Cleaning
from core.messages import say
from core.parser import add_project
from core.sanitizer import safe
from rooms.room import Opened

if TYPE_CHECKING:
    from core.room.redaction import Held, Redaction

FOUND, FAILED = 1, 2
_DAMAGED = "damaged"  # the key of DatabaseDamagedError, whose module loads SQLite
MINUTES = 16


class RedactionError(SentinelError, RuntimeError):
    """The log cannot be cleaned as it is, or by this Python; nothing was written."""

    table = "scan"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py scan`."""
    places = parser.add_mutually_exclusive_group()
    paths = explain("scan_paths")
    places.add_argument("paths", nargs="*", default=[], metavar="PATH", help=paths)
    add_project(parser)
    places.add_argument("--redact", action="store_true", help=explain("scan_redact"))
    places.add_argument("--history", action="store_true", help=explain("scan_history"))
    add_json(parser)
    add_confirmation(parser)
    parser.set_defaults(refuse=parser.error)
    add_examples(parser, "scan", "scan --redact --dry-run")


def run(arguments: argparse.Namespace) -> int:
    """Look, redact if asked, and print; 1 for secrets, 2 when something could not be looked at."""
    _check(arguments)
    if arguments.paths:
        settings = settings_here()
        for warning in settings.warnings:
            warn(warning)
        return _print(scan_paths(arguments.paths), as_json=arguments.json, held={})
    opened = open_memory(arguments, writes=arguments.redact and not arguments.dry_run)
    if arguments.redact:
        return _redact(opened, arguments)
    if arguments.history:
        return _scan_history(opened, as_json=arguments.json)
    return _scan_log(opened, as_json=arguments.json)


def _check(arguments: argparse.Namespace) -> None:
    """Refuse options that contradict each other. Raises SystemExit(2)."""
    if arguments.paths and arguments.project:
        arguments.refuse(say("terminal.together", one="--project", other="PATH"))
    check_confirmation(arguments, "--redact")


def _scan_log(opened: Opened, *, as_json: bool) -> int:
    scan, has_log = _scanned(opened)
    more = []
    if not has_log:
        more.append(say("scan.no_log", path=_place(opened)))
    held = _held(opened, scan)
    for room, places in held.items():
        more += [*held_lines(room, places), *aside_lines(opened, room)]
        more.append(say(f"scan.{words_of(room)}_summary", count=len(places)))
    with_secrets = [room for room, places in held.items() if places]
    if scan.secrets or with_secrets:
        more.append(say(f"scan.{'_'.join(('would_redact', *with_secrets))}"))
    code = _print(scan, more, as_json=as_json, held=held)
    return code or (FOUND if with_secrets else 0)


def _held(opened: Opened, scan: Scan) -> "dict[Room, list[Held]]":
    """Return what holds secrets in each room that is there.

    One that cannot be read is noted in the scan, and hides nothing that was found elsewhere.
    """
    held = dict[Room, "list[Held]"]()
    with progress():
        for room in ROOMS:
            try:
                if is_there(opened, room):
                    held[room] = secrets_in(opened, room)
            except SentinelError as error:
                scan.unreadable.append(_not_read(room, error))
    return held


def _not_read(room: Room, error: SentinelError) -> tuple[str, str]:
    """Return the file of a room that cannot be read, or the room without one, and why."""
    path = error.facts.get("path", "")
    reason = error.key if error.key == _DAMAGED else str(error)
    return _short(str(path)) if path else room, reason


def _scanned(opened: Opened) -> tuple[Scan, bool]:
    """Scan the log as it stands, and what is kept beside it; return also whether there is a log."""
    scan, store = Scan(), opened.store
    data = store.read_bytes()
    is_there = bool(data) or os.path.lexists(store.path)
    if is_there:
        scan.add(_short(store.path), data, is_log=True)
    if replaced := store.file.read_side():
        scan.add(_short(store.replaced_path), replaced, is_log=True)
    return scan, is_there


def _short(path: Path | str) -> str:
    """Return a path relative to the current directory when below it."""
    return str(path).removeprefix(os.path.join(os.getcwd(), ""))


def _place(opened: Opened) -> str:
    return shown_path(_short(opened.store.path))


def _print(
    scan: Scan,
    more: Sequence[str] = (),
    *,
    as_json: bool,
    held: "Mapping[Room, Sequence[Held]]",
) -> int:
    for path, reason in scan.unreadable:
        key = "unreadable_damaged" if reason == _DAMAGED else "unreadable"
        complain(say(f"scan.{key}", path=shown_path(path), reason=plain(reason)))
    if as_json:
        of_rooms: dict[str, object] = {it: held_json(it, held[it]) for it in held}
        print(plain_json({**_as_json(scan), **of_rooms}))
    else:
        lines = [
            _painted(suspicion_line(it, f"{shown_path(it.path)}:{it.line}"), it)
            for it in scan.found
        ]
        for path, why in scan.skipped:
            lines.append(say(f"scan.{why}", path=shown_path(path), most=MOST_BYTES))
        counts = {"secrets": len(scan.secrets), "marks": len(scan.marks), "files": scan.files}
        if scan.untracked:
            more = [say("scan.untracked", count=scan.untracked), *more]
        print_lines([*lines, _summed(say("scan.summary", **counts), scan), *more])
    return FAILED if scan.has_failed else FOUND if scan.secrets else 0


def _painted(line: str, found: Suspicion) -> str:
    return screen_here().painted(line, "yellow" if found.is_order else "red")


def _summed(line: str, scan: Scan) -> str:
    is_clear = not (scan.secrets or scan.has_failed or scan.untracked)
    return screen_here().painted(line, "green") if is_clear else line


def _as_json(scan: Scan) -> dict[str, object]:
    def listed(paths: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
        return [{"path": shown_path(path), "reason": reason} for path, reason in paths]

    return {
        "findings": [suspicion_json(found) for found in scan.found],
        "skipped": listed(scan.skipped),
        "unreadable": listed(scan.unreadable),
        "secrets": len(scan.secrets),
        "marks": len(scan.marks),
        "files": scan.files,
        "untracked": scan.untracked,
    }


def _scan_history(opened: Opened, *, as_json: bool) -> int:
    repository = Repository(place_of(opened.store.path))
    with progress():
        scan = scan_history(repository)
    if as_json:
        print(plain_json({**_as_json(scan), "shallow": repository.is_cut}))
    else:
        print_lines(_history_lines(opened, scan, is_cut=repository.is_cut))
    return FOUND if scan.secrets else 0


def _history_lines(opened: Opened, scan: Scan, *, is_cut: bool) -> list[str]:
    lines, last = list[str](), None
    for found in scan.found:
        commit = found.commit
        head = (commit.id if commit else "", found.path)
        if commit and head != last:
            date = commit.date[:MINUTES].replace("T", " ")
            who = [commit.short, date, safe(commit.author), shown_path(found.path)]
            named = INDENT.join(plain(fact) for fact in who if fact)
            lines.append(screen_here().painted(named, "bold"))
            last = head
        line = suspicion_line(found, say("scan.line", line=found.line))
        lines.append(INDENT + _painted(line, found))
    if not scan.files:
        lines.append(say("scan.no_history", path=_place(opened)))
    else:
        facts = {"secrets": len(scan.secrets), "files": scan.files}
        lines.append(_summed(say("scan.history_summary", **facts), scan))
    if is_cut:
        lines.append(say("git.cut"))
    return [*lines, say("scan.history_advice")] if scan.secrets else lines


def _redact(opened: Opened, arguments: argparse.Namespace) -> int:
    if not arguments.yes and not _is_wanted(opened, arguments):
        return FOUND
    try:
        cleaning = opened.store.clean()
    except ModuleNotFoundError as error:  # only a writer needs it; a scan runs with any Python
        if error.name != "filelock":
            raise
        raise RedactionError("no_filelock") from None
    left, _ = _scanned(opened)
    with progress():
        of_rooms = {room: redact(opened, room) for room in ROOMS if is_there(opened, room)}
    if arguments.json:
        told: dict[str, object] = {
            "redacted": [change_json(change) for change in cleaning.changes],
            "left": [suspicion_json(found) for found in left.secrets],
        }
        for room, it in of_rooms.items():
            told[room] = held_json(room, it.changed)
            told[f"{room}_left"] = held_json(room, it.left)
        print(plain_json(told))
    else:
        print_lines(_redacted_lines(opened, cleaning, left, of_rooms))
    is_left = left.secrets or any(it.left or it.unpurged for it in of_rooms.values())
    return FOUND if is_left else 0


def _is_wanted(opened: Opened, arguments: argparse.Namespace) -> bool:
    """Show what a redaction would change, and ask; True also where there is nothing to ask."""
    planned = opened.store.clean(dry_run=True)
    held = {room: secrets_in(opened, room) for room in ROOMS if is_there(opened, room)}
    is_clean = not planned.changes and not _scanned(opened)[0].secrets
    if is_clean and not any(held.values()):
        return True
    if arguments.json:
        changes = [change_json(change) for change in planned.changes]
        of_rooms = {f"would_redact_{it}": held_json(it, held[it]) for it in held}
        print(plain_json({"would_redact": changes, **of_rooms}))
        return False
    if not is_clean:
        count = sum(len(change.kinds) for change in planned.changes)
        print(say("scan.to_redact", path=_place(opened), count=count))
        for change in planned.changes:
            print("\n".join(change_lines(change)))
    for room, places in held.items():
        if places:
            print(say(f"scan.to_redact_{words_of(room)}", count=len(places)))
            print_lines([INDENT + line for line in held_lines(room, places)])
    return is_confirmed(arguments, say("scan.ask_redact"))


def _redacted_lines(
    opened: Opened, cleaning: Cleaning, left: Scan, of_rooms: "Mapping[Room, Redaction]"
) -> list[str]:
    is_clean = not any(it.changed for it in of_rooms.values())
    lines = [say("scan.nothing_to_redact")] if is_clean else []
    if cleaning.changes:
        count = sum(len(change.kinds) for change in cleaning.changes)
        lines = [say("scan.redacted", path=_place(opened), count=count)]
        for change in cleaning.changes:
            lines += change_lines(change)
    if left.secrets:
        shown = [suspicion_line(it, say("scan.line", line=it.line)) for it in left.secrets]
        lines += [say("scan.left"), *shown]
    for room, it in of_rooms.items():
        lines += redaction_lines(room, it)
    if not (cleaning.changes or is_clean):
        lines.append(say("scan.next_rotate"))
    if cleaning.changes:
        is_kept = is_in_last_commit(opened.store.path)
        first = "next_rotate_committed" if is_kept else "next_rotate"
        lines += [say(f"scan.{key}") for key in (first, "next_diff", "next_clones")]
    return lines
