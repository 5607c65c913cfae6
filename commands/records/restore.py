"""Brings back a record that left the log, an older version of one, or a principle's originals."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from commands.records.lines import redacted_lines
from commands.terminal.ask import (
    add_confirmation,
    add_examples,
    add_id,
    explain,
    is_confirmed,
    open_memory,
    progress,
)
from commands.terminal.records import block, joined, readable, replacing
from commands.terminal.safe_text import plain, plain_json
from commands.terminal.screen import print_lines
from core.git import HistoryError
from core.lessons.changes import Outcome
from core.lessons.history import History, Named, named, originals_of, principles_over
from core.lessons.log import MemoryLog
from core.lessons.record import Record, id_in, ids_in
from core.messages import say
from core.parser import add_project
from rooms.room import Opened

Act = Callable[..., list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Originals:
    """The records that a principle replaced, one generation back.

    found: their versions, in the order in which they were replaced. missing: ids of versions that
    neither the file nor git has. left_alone: records that are in the log again.
    """

    found: tuple[Record, ...]
    missing: tuple[str, ...]
    left_alone: tuple[Record, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py restore`."""
    add_id(parser)
    add_project(parser)
    parser.add_argument("--originals", action="store_true", help=explain("originals"))
    add_confirmation(parser)
    add_examples(parser, "restore 3f2a --dry-run", "restore --originals 91bc")


def run(arguments: argparse.Namespace) -> int:
    """Write a former version, or the originals of a principle, into the log.

    Raises HistoryError.
    """
    opened = open_memory(arguments, writes=not arguments.dry_run)
    history = History(opened.store.path, opened.store.read(), opened.store.read_replaced())
    if arguments.originals:
        return _restore_originals(arguments, opened, history)
    return _restore_version(arguments, opened, history)


def _restore_version(arguments: argparse.Namespace, opened: Opened, history: History) -> int:
    wanted = named(arguments.id, history)
    there = next(iter(history.log.with_id(wanted.id).values()), None)
    if there and not wanted.token:
        raise HistoryError("already_there", id=wanted.id, token=there.token)
    if there and wanted.token == there.token:
        print(say("records.nothing_to_do", token=plain(wanted.token)))
        return 0
    with progress():
        version = _version(history, wanted, there)

    def act(*, dry_run: bool) -> list[str]:
        outcome = opened.store.bring_back([version], since=history.log, dry_run=dry_run)
        lines = _lines(history.log, wanted, there, version, outcome, dry_run=dry_run)
        return lines + _closing_lines(outcome, history.log, dry_run=dry_run)

    return _carried_out(arguments, act)


def _restore_originals(arguments: argparse.Namespace, opened: Opened, history: History) -> int:
    """Bring the originals of a principle back, and take it out, in one write."""
    with progress():
        principle = _principle(history, arguments.id)
        originals = _originals(history, principle)
    if originals.missing:
        raise _missing(originals, history)

    def act(*, dry_run: bool) -> list[str]:
        outcome = opened.store.bring_back(
            originals.found, since=history.log, instead_of=principle.token, dry_run=dry_run
        )
        lines = _original_lines(principle, originals, outcome, dry_run=dry_run)
        return lines + _closing_lines(outcome, history.log, dry_run=dry_run)

    return _carried_out(arguments, act)


def _carried_out(arguments: argparse.Namespace, act: Act) -> int:
    """Show what would be brought back, ask, and do it; 1 when nobody confirms.

    act: does it, or only says what it would do; what to print.
    """
    if not arguments.yes:
        print_lines([*act(dry_run=True), ""])
    if not is_confirmed(arguments, say("records.ask_restore")):
        return int(not arguments.dry_run)
    print_lines(act(dry_run=False))
    return 0


def _lines(
    log: MemoryLog,
    wanted: Named,
    there: Record | None,
    version: Record,
    outcome: Outcome,
    *,
    dry_run: bool,
) -> list[str]:
    """Say what is brought back, and what it takes the place of."""
    record = outcome.records[0]
    lines = [
        say("records.would_restore" if dry_run else "records.restored", token=plain(version.token))
    ]
    lines += block(record, token=not dry_run)
    if there:
        lines += [say("records.put_away"), *block(there)]
    principles = principles_over(wanted.id, log)
    was_replaced = principles and not there and not wanted.token
    if was_replaced and version.token not in (token for _, token in principles):
        lines.append(say("records.not_the_replaced", token=plain(principles[-1][1])))
    for principle, _ in principles:
        lines.append(say("records.replacing_stays", by=replacing(principle)))
    return lines


def _version(history: History, wanted: Named, there: Record | None) -> Record:
    """Return the version that was named, else the last one. Raises HistoryError."""
    if wanted.token:
        version = history.find_versions([wanted.token]).get(wanted.token)
        if not version:
            raise HistoryError("no_version", *history.notes(), token=wanted.token, id=wanted.id)
        return version
    version = there or history.last(wanted.id)
    if version:
        return version
    if principles := principles_over(wanted.id, history.log):
        by = replacing(principles[-1][0])
        raise HistoryError("never_committed", *history.notes(), id=wanted.id, by=by)
    raise HistoryError("unknown", *history.notes(), name=wanted.id)


def _closing_lines(outcome: Outcome, before: MemoryLog, *, dry_run: bool) -> list[str]:
    """Say what else bringing records back has done, and what to do next."""
    lines = redacted_lines(outcome.redacted, "redacted_back")
    shown = {record.id for record in (*outcome.log.records, *outcome.removed)}
    hidden = [record.token for record in before.records if record.id not in shown]
    if hidden:
        lines.append(say("records.hides", tokens=joined(hidden)))
    return lines if dry_run else [*lines, say("records.look_and_commit")]


def _principle(history: History, name: str) -> Record:
    """Return the principle meant, in the log and in the version named. Raises HistoryError."""
    wanted = named(name, history)
    record = next(iter(history.log.with_id(wanted.id).values()), None)
    if not record:
        raise HistoryError("not_in_log", id=wanted.id)
    if wanted.token and wanted.token != record.token:
        raise HistoryError("other_version", id=wanted.id, token=record.token, named=wanted.token)
    if record.type != "principle":
        raise HistoryError("is_log", id=wanted.id)
    if not originals_of(record):
        raise HistoryError("no_originals", id=wanted.id)
    return record


def _originals(history: History, principle: Record) -> Originals:
    """Return the originals that no other original had replaced, each in its newest version."""
    tokens = originals_of(principle)
    versions = history.find_versions(tokens)
    older = {
        token
        for version in versions.values()
        for token in (*version.source_ids, *version.tokens())
        if token != version.token
    }
    there = {record.id: record for record in history.log.records if record.id != principle.id}
    newest: dict[str, Record] = {}
    missing: dict[str, str] = {}
    left_alone: dict[str, Record] = {}
    for token in dict.fromkeys(tokens):
        name = id_in(token)
        version = versions.get(token)
        if token in older:
            continue
        if name in there:
            left_alone[name] = there[name]
        elif version is None:
            missing.setdefault(name, token)
        elif name not in newest or version.version() > newest[name].version():
            newest[name] = version
    return Originals(
        found=tuple(newest.values()),
        missing=tuple(missing.values()),
        left_alone=tuple(left_alone.values()),
    )


def _missing(originals: Originals, history: History) -> HistoryError:
    facts: dict[str, str | int] = {"tokens": ", ".join(originals.missing)}
    had = {record.id for record in originals.found}
    facts["count"] = len(had | ids_in(originals.missing))
    facts["missing"] = len(originals.missing)
    if originals.found:
        facts["found"] = ", ".join(record.token for record in originals.found)
        facts["first"] = originals.found[0].token
    key = "some_missing" if originals.found else "all_missing"
    return HistoryError(key, *history.notes(), **facts)


def _original_lines(
    principle: Record,
    originals: Originals,
    outcome: Outcome,
    *,
    dry_run: bool,
) -> list[str]:
    lines = [
        say("records.would_bring" if dry_run else "records.brought", count=len(outcome.records))
    ]
    for record in outcome.records:
        lines += block(record, token=not dry_run)
    if originals.left_alone:
        tokens = joined(record.token for record in originals.left_alone)
        lines.append(say("records.left_alone", tokens=tokens))
    key = "principle_would_go" if dry_run else "principle_went"
    line = plain_json(readable(principle).as_json(), indent=None)
    return [*lines, say(f"records.{key}"), *block(principle), line]
