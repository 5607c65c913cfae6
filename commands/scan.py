"""Looks for secrets in a memory, in files or in git, and redacts them in the memory.

It prints place and kind of a secret, never the secret. A file that it could not look at never
passes for clean: it is named, and the command ends with 2.
"""

import argparse
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from commands import suspicions
from commands.revisions import lines_brought
from commands.suspicions import Scan, Suspicion, shown_path
from commands.terminal.ask import check_confirmation, is_confirmed, open_memory, progress
from commands.terminal.screen import complain, plain, plain_json, print_lines, screen_here, warn
from core.config import read_settings
from core.errors import SentinelError
from core.git import HistoryError, Repository
from core.lessons.file import real_log_path
from core.lessons.history import EVERYWHERE, own_commits
from core.lessons.record import LIMITS_BYTES, Record
from core.lessons.record_text import minute_of
from core.lessons.upkeep import CleanedLines
from core.messages import say
from core.sanitizer import safe_name
from rooms.room import Memory, Room, Secrets, rooms_of

if TYPE_CHECKING:
    from core.room.redaction import SecretPlace

FOUND, FAILED = 1, 2
INDENT = "  "

_DAMAGED = "damaged"  # the key of DatabaseDamagedError, whose module loads SQLite


def scan(arguments: argparse.Namespace) -> int:
    """Look, redact if asked, print; 1 for secrets, 2 if a place could not be looked at."""
    if arguments.paths and arguments.project:
        arguments.refuse(say("terminal.together", one="--project", other="PATH"))
    if arguments.redact and arguments.json:
        arguments.refuse(say("terminal.together", one="--redact", other="--json"))
    check_confirmation(arguments, "--redact")
    if arguments.paths:
        for warning in read_settings(os.environ).warnings:
            warn(warning)
        return _told(arguments, suspicions.scan_paths(arguments.paths))
    opened = open_memory(arguments, writes=arguments.redact and not arguments.dry_run)
    if arguments.redact:
        return _redact(opened, arguments)
    if arguments.history:
        return _scan_history(opened, arguments)
    if arguments.staged:
        return _told(arguments, suspicions.scan_staged(opened.project.root))
    found, has_log = _scan_log(opened)
    lines = [] if has_log else [say("scan.no_log", path=_shown(opened.store.path))]
    held = _secrets_of_rooms(opened, found)
    for secrets in held.values():
        lines += _held_lines(secrets, secrets.holders)
        lines += [say("scan.aside", path=_shown(path)) for path in secrets.aside]
        lines.append(say("scan.room_summary", place=secrets.place, count=len(secrets.holders)))
    with_secrets = [it.place for it in held.values() if it.holders]
    if with_secrets:
        lines.append(say("scan.would_redact_rooms", places=", ".join(with_secrets)))
    elif found.secrets:
        lines.append(say("scan.would_redact"))
    of_rooms = {room.name: _held_json(room, it.holders) for room, it in held.items()}
    code = _told(arguments, found, lines, data=of_rooms)
    return code or (FOUND if with_secrets else 0)


# Output.


def _told(
    arguments: argparse.Namespace,
    scan: Scan,
    more: Sequence[str] = (),
    *,
    summary: str = "",
    data: Mapping[str, object] | None = None,
) -> int:
    """Print a scan; return the exit code. more: further lines. data: further keys."""
    _complain(scan)
    secrets = len(scan.secrets)
    counts = {"secrets": secrets, "marks": len(scan.found) - secrets, "files": scan.files}
    if arguments.json:
        unseen = {
            name: [{"path": shown_path(path), "reason": reason} for path, reason in paths]
            for name, paths in (("skipped", scan.skipped), ("unreadable", scan.unreadable))
        }
        found = list(map(Suspicion.as_json, scan.found))
        told = {"findings": found, **unseen, **counts, "untracked": scan.untracked}
        print(plain_json({**told, **(data or {})}))
    else:
        lines = list(map(_line, scan.found))
        for path, why in scan.skipped:
            lines.append(say(f"scan.{why}", path=shown_path(path), most=suspicions.MOST_BYTES))
        lines.append(summary or say("scan.summary", **counts))
        if scan.untracked:
            lines.append(say("scan.untracked", count=scan.untracked))
        print_lines([*lines, *more])
    return FAILED if scan.has_failed else FOUND if secrets else 0


def _complain(scan: Scan) -> None:
    for path, reason in scan.unreadable:
        key = "unreadable_damaged" if reason == _DAMAGED else "unreadable"
        complain(say(f"scan.{key}", path=shown_path(path), reason=plain(reason)))


def _line(found: Suspicion) -> str:
    where = found.where
    if commit := found.commit:
        who = (commit.short, minute_of(commit.date), safe_name(commit.author), where)
        where = " ".join(plain(fact) for fact in who if fact)
    line = found.sentence(where)
    return screen_here().paint(line, "yellow" if found.is_order else "red")


# The memory: the log in git, the log as it is, the file beside it, and the other rooms.


def _scan_history(opened: Memory, arguments: argparse.Namespace) -> int:
    repository, scan = Repository(real_log_path(opened.store.path)), Scan()
    with progress():
        head = "HEAD" if repository.has_head else ""
        commits = own_commits(repository, *EVERYWHERE, last=head)
        for commit, path, data, lines in lines_brought(repository, commits, set()):
            scan.files += 1
            scan.found += suspicions.in_lines(path, lines, commit)
            scan.add_unread(f"{path} {commit.short}", data, is_log=True)
    summary = say("scan.no_history", path=_shown(opened.store.path))
    if scan.files:
        summary = say("scan.history_summary", secrets=len(scan.secrets), files=scan.files)
    more = [say("git.cut")] if repository.is_cut else []
    more += [say("scan.history_advice")] if scan.secrets else []
    return _told(arguments, scan, more, summary=summary, data={"shallow": repository.is_cut})


def _scan_log(opened: Memory) -> tuple[Scan, bool]:
    """Scan the log and the file beside it; return also whether there is a log."""
    scan, store = Scan(), opened.store
    data = store.read_bytes()
    is_there = bool(data) or os.path.lexists(store.path)
    if is_there:
        scan.add(_short(store.path), data, is_log=True)
    if replaced := store.file.read_side():
        scan.add(_short(store.file.side_path), replaced, is_log=True)
    return scan, is_there


def _secrets_of_rooms(opened: Memory, scan: Scan) -> dict[Room, Secrets]:
    """Return the secrets of each room; an unreadable room goes into `scan` and stops no other."""
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


# Its redaction.


def _redact(opened: Memory, arguments: argparse.Namespace) -> int:
    unread = Scan()
    held = _secrets_of_rooms(opened, unread)
    if not arguments.yes:
        would = opened.store.clean(dry_run=True).changes
        is_log_clean = not would and not _scan_log(opened)[0].secrets
        lines = [] if is_log_clean else _changes_lines("to_redact", opened, would)
        for secrets in held.values():
            lines += _room_lines("to_redact_room", secrets, secrets.holders)
        print_lines(lines)
        if lines and not is_confirmed(arguments, say("scan.ask_redact")):
            return FOUND
    changes = opened.store.clean().changes
    left, _ = _scan_log(opened)
    left.unreadable += unread.unreadable
    _complain(left)
    with progress():
        done = {room: redacted for room in held if (redacted := room.redact())}
    is_clean = not changes and not any(it.changed for it in done.values())
    lines = [say("scan.nothing_to_redact")] if is_clean else []
    lines += _changes_lines("redacted", opened, changes) if changes else []
    lines += [say("scan.left"), *map(_line, left.secrets)] if left.secrets else []
    for room, it in done.items():
        lines += _room_lines("redacted_room", held[room], it.changed)
        lines += [say("scan.left"), *_held_lines(held[room], it.left)] if it.left else []
        lines += map(plain, it.notes)
    if not is_clean:
        is_kept = bool(changes) and _is_in_last_commit(opened.store.path)
        lines.append(say("scan.next_rotate_committed" if is_kept else "scan.next_rotate"))
    lines += [say("scan.next_diff"), say("scan.next_clones")] if changes else []
    print_lines(lines)
    is_left = left.secrets or any(it.left or not it.is_whole for it in done.values())
    return FAILED if left.has_failed else FOUND if is_left else 0


def _is_in_last_commit(log_path: Path) -> bool:
    """Return whether the committed log holds a secret; True where git cannot tell."""
    try:
        repository = Repository(Path(os.path.realpath(log_path)))
        committed = repository.blob_in("HEAD") if repository.has_head else ""
        if not committed:
            return False
        scan = Scan()
        scan.add(repository.path, *repository.read_contents([committed]), is_log=True)
        return bool(scan.secrets) or scan.has_failed
    except HistoryError as error:
        return error.key != "no_repository"


def _changes_lines(key: str, opened: Memory, changes: Sequence[CleanedLines]) -> list[str]:
    """Return the lines on the log's redaction: version ids, no texts."""
    count = sum(len(change.kinds) for change in changes)
    lines = [say(f"scan.{key}", path=_shown(opened.store.path), count=count)]
    for change in changes:
        numbers = ", ".join(map(str, change.lines))
        is_one = len(change.lines) == 1
        place = say("scan.line", line=numbers) if is_one else say("scan.lines", numbers=numbers)
        counted = {kind: change.kinds.count(kind) for kind in change.kinds}
        kinds = [kind if count == 1 else f"{kind} {count}" for kind, count in counted.items()]
        facts = {"lines": place, "kinds": ", ".join(kinds)}
        facts["before"] = ", ".join(map(_name, change.before))
        if not change.before:
            lines.append(INDENT + say("scan.no_record", **facts))
        elif not change.after:
            lines.append(INDENT + say("scan.dropped", **facts))
        else:
            key = "joined" if len(change.before) > 1 else "changed"
            lines.append(INDENT + say(f"scan.{key}", **facts, after=_name(change.after)))
            for name in change.too_long_fields:
                used = len(str(getattr(change.after, name)).encode("utf-8", "surrogatepass"))
                limits = {"used": used, "limit": LIMITS_BYTES[name]}
                lines.append(INDENT + say("scan.over", field=name, **limits))
    return lines


def _name(record: Record) -> str:
    return suspicions.token_of(record) or say("scan.unnamed")


def _room_lines(key: str, secrets: Secrets, held: "Sequence[SecretPlace]") -> list[str]:
    head = say(f"scan.{key}", place=secrets.place, count=len(held))
    return [head, *(INDENT + line for line in _held_lines(secrets, held))] if held else []


def _held_lines(secrets: Secrets, held: "Sequence[SecretPlace]") -> Iterable[str]:
    """Yield file, item and rules of each place, never its text."""
    for it in held:
        facts = {"where": _shown(it.path), "kinds": ", ".join(it.kinds)}
        if it.name:
            yield say("scan.in_item", item=plain(f"{secrets.item} {it.name}"), **facts)
        else:
            yield say("scan.in_room", **facts)


def _held_json(room: Room, held: "Sequence[SecretPlace]") -> list[dict[str, object]]:
    key = room.name.removesuffix("s")
    return [{"path": _shown(it.path), key: it.name or None, "kinds": it.kinds} for it in held]


def _shown(path: Path | str) -> str:
    return shown_path(_short(path))


def _short(path: Path | str) -> str:
    return str(path).removeprefix(os.path.join(os.getcwd(), ""))
