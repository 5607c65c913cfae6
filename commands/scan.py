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
from commands.revisions import read_versions
from commands.suspicions import Scan, Suspicion, printable_path
from commands.terminal.ask import check_confirmation, is_confirmed, open_memory, progress
from commands.terminal.screen import complain, plain, plain_json, print_lines, screen_here, warn
from core.config import read_settings
from core.errors import SentinelError
from core.git import HistoryError, Repository
from core.lessons.file import real_log_path
from core.lessons.history import EVERYWHERE, own_commits
from core.lessons.record import LIMITS_BYTES, Record
from core.lessons.upkeep import RedactedLines
from core.messages import say
from core.program import read_cwd
from core.sanitizer import safe_name
from core.text.plain import minute_of
from rooms.room import Memory, RedactOutcome, Room, Secrets, rooms_of

if TYPE_CHECKING:
    from core.room.redaction import SecretPlace

FOUND, FAILED = 1, 2
INDENT = "  "

_DAMAGED = "damaged"  # the key of DatabaseDamagedError, whose module loads SQLite


def scan(options: argparse.Namespace) -> int:
    """Look, redact if asked, print; 1 for secrets, 2 if a place could not be looked at."""
    if options.paths and options.project:
        options.refuse(say("terminal.together", one="--project", other="PATH"))
    if options.redact and options.json:
        options.refuse(say("terminal.together", one="--redact", other="--json"))
    check_confirmation(options, "--redact")
    if options.paths:
        for warning in read_settings(os.environ).warnings:
            warn(warning)
        return _print_scan(options, suspicions.scan_paths(options.paths))
    memory = open_memory(options, writes=options.redact and not options.dry_run)
    if options.redact:
        return _redact(memory, options)
    if options.history:
        return _scan_history(memory, options)
    if options.staged:
        return _print_scan(options, suspicions.scan_staged(memory.project.root))
    log_scan, has_log = _scan_log(memory)
    lines = [] if has_log else [say("scan.no_log", path=_path_text(memory.store.path))]
    by_room = _secrets_of_rooms(memory, log_scan)
    data = dict[str, object]()
    for room, secrets in by_room.items():
        key = room.name.removesuffix("s")
        data[room.name] = [
            {"path": _path_text(holder.path), key: holder.name or None, "kinds": holder.kinds}
            for holder in secrets.holders
        ]
        lines += _holder_lines(secrets, secrets.holders)
        lines += [say("scan.aside", path=_path_text(path)) for path in secrets.aside_paths]
        lines.append(say("scan.room_summary", place=secrets.place_name, count=len(secrets.holders)))
    places = [secrets.place_name for secrets in by_room.values() if secrets.holders]
    if places:
        lines.append(say("scan.would_redact_rooms", places=", ".join(places)))
    elif log_scan.secrets:
        lines.append(say("scan.would_redact"))
    return _print_scan(options, log_scan, lines, data=data) or (FOUND if places else 0)


# Output.


def _print_scan(
    options: argparse.Namespace,
    scan: Scan,
    notes: Sequence[str] = (),
    *,
    summary: str = "",
    data: Mapping[str, object] | None = None,
) -> int:
    """Print a scan; return the exit code. notes: further lines. data: further keys."""
    _complain(scan)
    secrets = len(scan.secrets)
    counts = {"secrets": secrets, "marks": len(scan.suspicions) - secrets, "files": scan.files}
    if options.json:
        unread_files = {
            name: [{"path": printable_path(path), "reason": reason} for path, reason in paths]
            for name, paths in (("skipped", scan.skipped), ("unreadable", scan.unreadable))
        }
        findings = list(map(Suspicion.as_json, scan.suspicions))
        values = {"findings": findings, **unread_files, **counts, "untracked": scan.untracked}
        print(plain_json({**values, **(data or {})}))
    else:
        lines = list(map(_line_of, scan.suspicions))
        for path, key in scan.skipped:
            lines.append(say(f"scan.{key}", path=printable_path(path), most=suspicions.MOST_BYTES))
        lines.append(summary or say("scan.summary", **counts))
        if scan.untracked:
            lines.append(say("scan.untracked", count=scan.untracked))
        print_lines([*lines, *notes])
    return FAILED if scan.has_failed else FOUND if secrets else 0


def _complain(scan: Scan) -> None:
    for path, reason in scan.unreadable:
        key = "unreadable_damaged" if reason == _DAMAGED else "unreadable"
        complain(say(f"scan.{key}", path=printable_path(path), reason=plain(reason)))


def _line_of(suspicion: Suspicion) -> str:
    place = suspicion.where
    if commit := suspicion.commit:
        parts = (commit.short_id, minute_of(commit.date), safe_name(commit.author), place)
        place = " ".join(plain(fact) for fact in parts if fact)
    line = suspicion.sentence(place)
    return screen_here().paint(line, "yellow" if suspicion.is_order else "red")


# The memory: the log in git, the log as it is, the file beside it, and the other rooms.


def _scan_history(memory: Memory, options: argparse.Namespace) -> int:
    repository, scan = Repository(real_log_path(memory.store.path)), Scan()
    with progress():
        head = "HEAD" if repository.has_head else ""
        commits = own_commits(repository, *EVERYWHERE, last=head)
        for commit, path, data, lines in read_versions(repository, commits, set()):
            scan.files += 1
            scan.suspicions += suspicions.find_in_lines(path, lines, commit)
            scan.note_unread(f"{path} {commit.short_id}", data, is_log=True)
    summary = say("scan.no_history", path=_path_text(memory.store.path))
    if scan.files:
        summary = say("scan.history_summary", secrets=len(scan.secrets), files=scan.files)
    notes = [say(f"git.{note}") for note in repository.notes]
    notes += [say("scan.history_advice")] if scan.secrets else []
    return _print_scan(options, scan, notes, summary=summary, data={"shallow": repository.is_cut})


def _scan_log(memory: Memory) -> tuple[Scan, bool]:
    """Scan the log and the file beside it; return also whether there is a log."""
    scan, store = Scan(), memory.store
    data = store.read_bytes()
    is_there = bool(data) or os.path.lexists(store.path)
    if is_there:
        scan.add(_relative_path(store.path), data, is_log=True)
    if side_data := store.file.read_side():
        scan.add(_relative_path(store.file.side_path), side_data, is_log=True)
    return scan, is_there


def _secrets_of_rooms(memory: Memory, scan: Scan) -> dict[Room, Secrets]:
    """Return the secrets of each room; an unreadable room goes into `scan` and stops no other."""
    by_room = dict[Room, Secrets]()
    with progress():
        for room in rooms_of(memory):
            try:
                if secrets := room.secrets():
                    by_room[room] = secrets
            except SentinelError as error:
                path = str(error.facts.get("path", "")) or room.name
                reason = error.key if error.key == _DAMAGED else str(error)
                scan.unreadable.append((_relative_path(path), reason))
    return by_room


# Its redaction.


def _redact(memory: Memory, options: argparse.Namespace) -> int:
    unread = Scan()
    by_room = _secrets_of_rooms(memory, unread)
    if not options.yes:
        planned_changes = memory.store.redact(dry_run=True).changes
        is_log_clean = not planned_changes and not _scan_log(memory)[0].secrets
        lines = [] if is_log_clean else _changes_lines("to_redact", memory, planned_changes)
        for secrets in by_room.values():
            lines += _room_lines("to_redact_room", secrets, secrets.holders)
        print_lines(lines)
        if lines and not is_confirmed(options, say("scan.ask_redact")):
            return FOUND
    changes = memory.store.redact().changes
    log_scan, _ = _scan_log(memory)
    log_scan.unreadable += unread.unreadable
    _complain(log_scan)
    outcomes, errors = dict[Room, RedactOutcome](), list[str]()
    with progress():
        for room in by_room:
            try:
                if outcome := room.redact():
                    outcomes[room] = outcome
            except SentinelError as error:  # the others are redacted and told all the same
                errors.append(str(error))
    for sentence in errors:
        complain(sentence)
    is_clean = not (changes or errors or any(room.redacted_places for room in outcomes.values()))
    lines = [say("scan.nothing_to_redact")] if is_clean else []
    lines += _changes_lines("redacted", memory, changes) if changes else []
    lines += [say("scan.left"), *map(_line_of, log_scan.secrets)] if log_scan.secrets else []
    for room, outcome in outcomes.items():
        secrets = by_room[room]
        lines += _room_lines("redacted_room", secrets, outcome.redacted_places)
        left_lines = [*_holder_lines(secrets, outcome.left_places)]
        lines += [say("scan.left"), *left_lines] if left_lines else []
        lines += map(plain, outcome.notes)
    if not is_clean:
        is_kept = bool(changes) and _is_in_last_commit(memory.store.path)
        lines.append(say("scan.next_rotate_committed" if is_kept else "scan.next_rotate"))
    lines += [say("scan.next_diff"), say("scan.next_clones")] if changes else []
    print_lines(lines)
    is_partial = any(outcome.left_places or not outcome.is_whole for outcome in outcomes.values())
    if log_scan.has_failed or errors:
        return FAILED
    return FOUND if log_scan.secrets or is_partial else 0


def _is_in_last_commit(log_path: Path) -> bool:
    """Return whether the committed log holds a secret; True where git cannot tell."""
    try:
        repository = Repository(Path(os.path.realpath(log_path)))
        blob = repository.blob_in("HEAD") if repository.has_head else ""
        if not blob:
            return False
        scan = Scan()
        scan.add(repository.path, *repository.read_contents([blob]), is_log=True)
        return bool(scan.secrets) or scan.has_failed
    except HistoryError as error:
        return error.key != "no_repository"


def _changes_lines(key: str, memory: Memory, changes: Sequence[RedactedLines]) -> list[str]:
    """Return the lines on the log's redaction: version ids, no texts."""
    count = sum(len(change.kinds) for change in changes)
    lines = [say(f"scan.{key}", path=_path_text(memory.store.path), count=count)]
    for change in changes:
        numbers = ", ".join(map(str, change.lines))
        is_one = len(change.lines) == 1
        place = say("scan.line", line=numbers) if is_one else say("scan.lines", numbers=numbers)
        count_of_kind = {kind: change.kinds.count(kind) for kind in change.kinds}
        kinds = [kind if count == 1 else f"{kind} {count}" for kind, count in count_of_kind.items()]
        facts = {"lines": place, "kinds": ", ".join(kinds)}
        facts["before"] = ", ".join(map(_record_name, change.before))
        if not change.before:
            lines.append(INDENT + say("scan.no_record", **facts))
        elif not change.after:
            lines.append(INDENT + say("scan.dropped", **facts))
        else:
            key = "joined" if len(change.before) > 1 else "changed"
            lines.append(INDENT + say(f"scan.{key}", **facts, after=_record_name(change.after)))
            for name in change.too_long_fields:
                used_bytes = len(str(getattr(change.after, name)).encode("utf-8", "surrogatepass"))
                limits = {"used": used_bytes, "limit": LIMITS_BYTES[name]}
                lines.append(INDENT + say("scan.over", field=name, **limits))
    return lines


def _record_name(record: Record) -> str:
    return suspicions.version_id_of(record) or say("scan.unnamed")


def _room_lines(key: str, secrets: Secrets, holders: "Sequence[SecretPlace]") -> list[str]:
    head = say(f"scan.{key}", place=secrets.place_name, count=len(holders))
    return [head, *(INDENT + line for line in _holder_lines(secrets, holders))] if holders else []


def _holder_lines(secrets: Secrets, holders: "Sequence[SecretPlace]") -> Iterable[str]:
    """Yield file, item and rules of each place, never its text."""
    for holder in holders:
        facts = {"where": _path_text(holder.path), "kinds": ", ".join(holder.kinds)}
        if holder.name:
            yield say("scan.in_item", item=plain(f"{secrets.item_name} {holder.name}"), **facts)
        else:
            yield say("scan.in_room", **facts)


def _path_text(path: Path | str) -> str:
    return printable_path(_relative_path(path))


def _relative_path(path: Path | str) -> str:
    return str(path).removeprefix(os.path.join(read_cwd(), ""))
