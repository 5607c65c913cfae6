"""Looks for secrets in a memory, in other files or in git, and takes them out of the memory.

It prints where a secret is and of what kind, never the secret. What was not looked at never passes
for clean: it is named, and the command ends with 2.
"""

import argparse
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from commands.suspicions import (
    MOST_BYTES,
    Scan,
    Suspicion,
    fresh_lines,
    in_lines,
    scan_paths,
    scan_staged,
    shown_path,
    suspicion_json,
    suspicion_line,
    token_of,
    unread_parts,
)
from commands.terminal.ask import (
    check_confirmation,
    is_confirmed,
    open_memory,
    progress,
)
from commands.terminal.safe_text import complain, plain, plain_json, warn
from commands.terminal.screen import print_lines, screen_here
from core.config import read_settings
from core.errors import SentinelError
from core.git import HistoryError, Repository
from core.lessons.file import place_of
from core.lessons.history import EVERYWHERE, Commit, own_commits
from core.lessons.record import LIMITS_BYTES
from core.lessons.record_text import minute_of
from core.lessons.upkeep import Cleaned, Cleaning
from core.messages import say
from core.sanitizer import safe
from rooms.room import Opened, Redacted, Room, Secrets, rooms_of

if TYPE_CHECKING:
    from core.room.redaction import Held

FOUND, FAILED = 1, 2
INDENT = "  "

_DAMAGED = "damaged"  # the key of DatabaseDamagedError, whose module loads SQLite


class RedactionError(SentinelError, RuntimeError):
    """The log cannot be cleaned by this Python; nothing was written."""

    table = "scan"


def scan(arguments: argparse.Namespace) -> int:
    """Look, redact if asked, and print; 1 for secrets, 2 when something could not be looked at."""
    if arguments.paths and arguments.project:
        arguments.refuse(say("terminal.together", one="--project", other="PATH"))
    check_confirmation(arguments, "--redact")
    if arguments.paths:
        for warning in read_settings(os.environ).warnings:
            warn(warning)
        return _end(scan_paths(arguments.paths), as_json=arguments.json)
    opened = open_memory(arguments, writes=arguments.redact and not arguments.dry_run)
    if arguments.redact:
        return _redact(opened, arguments)
    if arguments.history:
        return _scan_history(opened, as_json=arguments.json)
    if arguments.staged:
        return _end(scan_staged(opened.project.root), as_json=arguments.json)
    return _scan_memory(opened, as_json=arguments.json)


# What is said of it.


def _end(scan: Scan, more: Sequence[str] = (), **of_rooms: object) -> int:
    """Print a scan, as data with `as_json`, and return the exit code. more: lines behind it."""
    _complain(scan)
    if of_rooms.pop("as_json"):
        print(plain_json({**_scan_json(scan), **of_rooms}))
    else:
        lines = [_painted(f"{shown_path(it.path)}:{it.line}", it) for it in scan.found]
        for path, why in scan.skipped:
            lines.append(say(f"scan.{why}", path=shown_path(path), most=MOST_BYTES))
        marks = len(scan.found) - len(scan.secrets)
        counts = {"secrets": len(scan.secrets), "marks": marks, "files": scan.files}
        lines.append(_summed(say("scan.summary", **counts), scan))
        if scan.untracked:
            lines.append(say("scan.untracked", count=scan.untracked))
        print_lines([*lines, *more])
    return FAILED if scan.has_failed else FOUND if scan.secrets else 0


def _complain(scan: Scan) -> None:
    for path, reason in scan.unreadable:
        key = "unreadable_damaged" if reason == _DAMAGED else "unreadable"
        complain(say(f"scan.{key}", path=shown_path(path), reason=plain(reason)))


def _painted(where: str, found: Suspicion) -> str:
    line = suspicion_line(found, where)
    return screen_here().painted(line, "yellow" if found.is_order else "red")


def _summed(line: str, scan: Scan) -> str:
    is_clear = not (scan.secrets or scan.has_failed or scan.untracked)
    return screen_here().painted(line, "green") if is_clear else line


def _scan_json(scan: Scan) -> dict[str, object]:
    def listed(paths: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
        return [{"path": shown_path(path), "reason": reason} for path, reason in paths]

    return {
        "findings": [suspicion_json(found) for found in scan.found],
        "skipped": listed(scan.skipped),
        "unreadable": listed(scan.unreadable),
        "secrets": len(scan.secrets),
        "marks": len(scan.found) - len(scan.secrets),
        "files": scan.files,
        "untracked": scan.untracked,
    }


# History.


def _scan_history(opened: Opened, *, as_json: bool) -> int:
    repository = Repository(place_of(opened.store.path))
    with progress():
        scan = _in_history(repository)
    _complain(scan)
    if as_json:
        print(plain_json({**_scan_json(scan), "shallow": repository.is_cut}))
    else:
        print_lines(_history_lines(opened, scan, is_cut=repository.is_cut))
    return FAILED if scan.has_failed else FOUND if scan.secrets else 0


def _in_history(repository: Repository) -> Scan:
    """Look at every version of a log that git has, each different line once, the oldest first.

    A finding names the first commit that has it. files: how many versions there were. Raises
    HistoryError.
    """
    scan, lines = Scan(), set[bytes]()
    head = "HEAD" if repository.has_head else ""
    versions: dict[str, tuple[str, Commit]] = {}
    for commit in reversed(own_commits(repository, *EVERYWHERE, last=head)):
        for path, blob in commit.files.items():
            if blob:
                versions.setdefault(blob, (path, commit))
    contents = repository.contents(versions)
    for (path, commit), data in zip(versions.values(), contents, strict=True):
        scan.found += in_lines(path, fresh_lines(data, lines), commit)
        scan.unreadable += [(f"{path} {commit.short}", reason) for reason in unread_parts(data)]
    scan.files = len(versions)
    return scan


def _history_lines(opened: Opened, scan: Scan, *, is_cut: bool) -> list[str]:
    lines, last = list[str](), None
    for found in scan.found:
        commit = found.commit
        head = (commit.id if commit else "", found.path)
        if commit and head != last:
            who = [
                commit.short,
                minute_of(commit.date),
                safe(commit.author),
                shown_path(found.path),
            ]
            named = INDENT.join(plain(fact) for fact in who if fact)
            lines.append(screen_here().painted(named, "bold"))
            last = head
        lines.append(INDENT + _painted(say("scan.line", line=found.line), found))
    if not scan.files:
        lines.append(say("scan.no_history", path=_place(opened)))
    else:
        facts = {"secrets": len(scan.secrets), "files": scan.files}
        lines.append(_summed(say("scan.history_summary", **facts), scan))
    if is_cut:
        lines.append(say("git.cut"))
    return [*lines, say("scan.history_advice")] if scan.secrets else lines


def _is_in_last_commit(log_path: Path) -> bool:
    """Return whether the log of the last commit holds a secret; True where git cannot tell."""
    try:
        repository = Repository(Path(os.path.realpath(log_path)))
        committed = repository.blob_in("HEAD") if repository.has_head else ""
        if not committed:
            return False
        scan = Scan()
        scan.add(repository.path, *repository.contents([committed]), is_log=True)
        return bool(scan.secrets) or scan.has_failed
    except HistoryError as error:
        return error.key != "no_repository"


# The memory: the log, the file beside it, and the other rooms.


def _scan_memory(opened: Opened, *, as_json: bool) -> int:
    scan, has_log = _scan_log(opened)
    lines = [] if has_log else [say("scan.no_log", path=_place(opened))]
    held = _secrets_of_rooms(opened, scan)
    for secrets in held.values():
        lines += _held_lines(secrets, secrets.held)
        lines += [say("scan.aside", path=_shown(path)) for path in secrets.aside]
        lines.append(say("scan.room_summary", place=secrets.place, count=len(secrets.held)))
    with_secrets = [it.place for it in held.values() if it.held]
    if with_secrets:
        lines.append(say("scan.would_redact_rooms", places=", ".join(with_secrets)))
    elif scan.secrets:
        lines.append(say("scan.would_redact"))
    of_rooms = {room.name: _held_json(room, it.held) for room, it in held.items()}
    code = _end(scan, lines, as_json=as_json, **of_rooms)
    return code or (FOUND if with_secrets else 0)


def _secrets_of_rooms(opened: Opened, scan: Scan) -> dict[Room, Secrets]:
    """Return where each room has secrets; the scan gets those that cannot be read.

    One of these hides nothing that was found elsewhere, and keeps nothing from being redacted.
    """
    held = dict[Room, Secrets]()
    with progress():
        for room in rooms_of(opened):
            try:
                if secrets := room.secrets():
                    held[room] = secrets
            except SentinelError as error:
                path = str(error.facts.get("path", "")) or room.name
                reason = error.key if error.key == _DAMAGED else str(error)
                scan.unreadable.append((_short(path), reason))
    return held


def _scan_log(opened: Opened) -> tuple[Scan, bool]:
    """Scan the log as it is, and what is kept beside it; return also whether there is a log."""
    scan, store = Scan(), opened.store
    data = store.read_bytes()
    is_there = bool(data) or os.path.lexists(store.path)
    if is_there:
        scan.add(_short(store.path), data, is_log=True)
    if replaced := store.file.read_side():
        scan.add(_short(store.replaced_path), replaced, is_log=True)
    return scan, is_there


def _redact(opened: Opened, arguments: argparse.Namespace) -> int:
    unread = Scan()
    held = _secrets_of_rooms(opened, unread)
    if not arguments.yes and not _is_wanted(opened, held, arguments):
        return FOUND
    try:
        cleaning = opened.store.clean()
    except ModuleNotFoundError as error:  # only a writer needs it; a scan runs with any Python
        if error.name != "filelock":
            raise
        raise RedactionError("no_filelock") from None
    left, _ = _scan_log(opened)
    left.unreadable += unread.unreadable
    _complain(left)
    with progress():
        done = {room: redacted for room in held if (redacted := room.redact())}
    if arguments.json:
        told: dict[str, object] = {
            "redacted": [_change_json(change) for change in cleaning.changes],
            "left": [suspicion_json(found) for found in left.secrets],
        }
        for room, it in done.items():
            told[room.name] = _held_json(room, it.changed)
            told[f"{room.name}_left"] = _held_json(room, it.left)
        print(plain_json(told))
    else:
        print_lines(_redacted_lines(opened, cleaning, left, [(held[it], done[it]) for it in done]))
    is_left = left.secrets or any(it.left or not it.is_whole for it in done.values())
    return FAILED if left.has_failed else FOUND if is_left else 0


def _is_wanted(opened: Opened, held: Mapping[Room, Secrets], arguments: argparse.Namespace) -> bool:
    """Show what a redaction would change, and ask; True also where there is nothing to ask."""
    planned = opened.store.clean(dry_run=True)
    is_clean = not planned.changes and not _scan_log(opened)[0].secrets
    if is_clean and not any(it.held for it in held.values()):
        return True
    if arguments.json:
        changes = [_change_json(change) for change in planned.changes]
        of_rooms = {
            f"would_redact_{room.name}": _held_json(room, it.held) for room, it in held.items()
        }
        print(plain_json({"would_redact": changes, **of_rooms}))
        return False
    lines = list[str]()
    if not is_clean:
        count = sum(len(change.kinds) for change in planned.changes)
        lines.append(say("scan.to_redact", path=_place(opened), count=count))
        lines += [line for change in planned.changes for line in _change_lines(change)]
    for it in held.values():
        if it.held:
            lines.append(say("scan.to_redact_room", place=it.place, count=len(it.held)))
            lines += [INDENT + line for line in _held_lines(it, it.held)]
    print_lines(lines)
    return is_confirmed(arguments, say("scan.ask_redact"))


def _redacted_lines(
    opened: Opened, cleaning: Cleaning, left: Scan, of_rooms: Sequence[tuple[Secrets, Redacted]]
) -> list[str]:
    is_clean = not (cleaning.changes or any(it.changed for _, it in of_rooms))
    lines = [say("scan.nothing_to_redact")] if is_clean else []
    if cleaning.changes:
        count = sum(len(change.kinds) for change in cleaning.changes)
        lines.append(say("scan.redacted", path=_place(opened), count=count))
        lines += [line for change in cleaning.changes for line in _change_lines(change)]
    if left.secrets:
        places = [say("scan.line", line=it.line) for it in left.secrets]
        lines.append(say("scan.left"))
        lines += [suspicion_line(it, at) for it, at in zip(left.secrets, places, strict=True)]
    for secrets, it in of_rooms:
        if it.changed:
            lines.append(say("scan.redacted_room", place=secrets.place, count=len(it.changed)))
            lines += [INDENT + line for line in _held_lines(secrets, it.changed)]
        if it.left:
            lines += [say("scan.left"), *_held_lines(secrets, it.left)]
        lines += map(plain, it.notes)
    if not is_clean:
        is_kept = bool(cleaning.changes) and _is_in_last_commit(opened.store.path)
        lines.append(say("scan.next_rotate_committed" if is_kept else "scan.next_rotate"))
    if cleaning.changes:
        lines += [say("scan.next_diff"), say("scan.next_clones")]
    return lines


def _change_lines(change: Cleaned) -> list[str]:
    """Say what became of some lines of the log; of records only their version ids."""
    numbers = ", ".join(map(str, change.lines))
    place = say("scan.lines", numbers=numbers)
    if len(change.lines) == 1:
        place = say("scan.line", line=numbers)
    counted = {kind: change.kinds.count(kind) for kind in change.kinds}
    kinds = [kind if count == 1 else f"{kind} {count}" for kind, count in counted.items()]
    facts = {"lines": place, "kinds": ", ".join(kinds)}
    facts["before"] = ", ".join(token_of(it) or say("scan.unnamed") for it in change.before)
    if not change.before:
        return [INDENT + say("scan.no_record", **facts)]
    if not change.after:
        return [INDENT + say("scan.dropped", **facts)]
    after = token_of(change.after) or say("scan.unnamed")
    key = "joined" if len(change.before) > 1 else "changed"
    lines = [INDENT + say(f"scan.{key}", **facts, after=after)]
    for name in change.over:
        used = len(str(getattr(change.after, name)).encode("utf-8", "surrogatepass"))
        over = {"used": used, "limit": LIMITS_BYTES[name]}
        lines.append(INDENT + say("scan.over", field=name, **over))
    return lines


def _change_json(change: Cleaned) -> dict[str, object]:
    unnamed = say("scan.unnamed")
    return {
        "lines": list(change.lines),
        "before": [token_of(record) or unnamed for record in change.before],
        "after": (token_of(change.after) or unnamed) if change.after else None,
        "kinds": list(change.kinds),
        "over": list(change.over),
    }


def _held_lines(secrets: Secrets, held: "Sequence[Held]") -> list[str]:
    """Return a line for each place of a room: where, which item, which rules; no value."""
    lines = []
    for it in held:
        facts = {"where": _shown(it.path), "kinds": ", ".join(it.kinds)}
        if it.name:
            lines.append(say("scan.in_item", item=plain(f"{secrets.item} {it.name}"), **facts))
        else:
            lines.append(say("scan.in_room", **facts))
    return lines


def _held_json(room: Room, held: "Sequence[Held]") -> list[dict[str, object]]:
    key = room.name.removesuffix("s")
    return [{"path": _shown(it.path), key: it.name or None, "kinds": [*it.kinds]} for it in held]


def _place(opened: Opened) -> str:
    return _shown(opened.store.path)


def _shown(path: Path | str) -> str:
    return shown_path(_short(path))


def _short(path: Path | str) -> str:
    """Return a path relative to the current directory when below it."""
    return str(path).removeprefix(os.path.join(os.getcwd(), ""))
