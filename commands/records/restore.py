"""Brings back a record that left the log, or an older version of one that is in it."""

import argparse
from collections.abc import Callable

from commands.records.lines import redacted_lines
from commands.records.words import word
from commands.terminal.console import (
    Opened,
    add_confirmation,
    add_examples,
    add_id,
    is_confirmed,
    open_memory,
)
from commands.terminal.printing import print_lines
from commands.terminal.progress import progress
from commands.terminal.records import block, joined, replacing
from commands.terminal.safe_text import plain
from commands.terminal.words import word as common_word
from core.lessons.git.errors import HistoryError
from core.lessons.git.naming import Named, named
from core.lessons.git.versions import History, Present, present
from core.lessons.log import MemoryLog
from core.lessons.outcomes import BroughtBack
from core.lessons.record import Record
from core.messages import Language
from core.parser import add_project

Act = Callable[..., list[str]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py restore`."""
    add_id(parser)
    add_project(parser)
    add_confirmation(parser)
    add_examples(parser, "restore 3f2a --dry-run", "restore 3f2a")


def run(arguments: argparse.Namespace) -> int:
    """Write one former version into the log. Raises HistoryError."""
    opened = open_memory(arguments, writes=not arguments.dry_run)
    history = History(opened.store.path, opened.store.read(), opened.store.read_replaced())
    wanted = named(arguments.id, history)
    now = present(wanted.id, history.log)
    there = now.record if now.state == "present" else None
    if there and not wanted.token:
        raise HistoryError("already_there", id=wanted.id, token=there.token)
    if there and wanted.token == there.token:
        print(word(opened.lang, "nothing_to_do", token=plain(wanted.token)))
        return 0
    with progress(opened.lang):
        version = _version(history, wanted, now)

    def act(*, dry_run: bool) -> list[str]:
        outcome = opened.store.bring_back([version], since=history.log, dry_run=dry_run)
        lines = _lines(opened, wanted, now, version, outcome, dry_run=dry_run)
        return lines + closing_lines(outcome, history.log, opened.lang, dry_run=dry_run)

    return carried_out(arguments, opened.lang, act)


def carried_out(arguments: argparse.Namespace, lang: Language, act: Act) -> int:
    """Show what would be brought back, ask, and do it; 1 when nobody confirms.

    act: does it, or only says what it would do; what to print.
    """
    if not arguments.yes:
        print_lines([*act(dry_run=True), ""])
    if not is_confirmed(arguments, common_word, lang, word(lang, "ask_restore")):
        return int(not arguments.dry_run)
    print_lines(act(dry_run=False))
    return 0


def _lines(
    opened: Opened,
    wanted: Named,
    now: Present,
    version: Record,
    outcome: BroughtBack,
    *,
    dry_run: bool,
) -> list[str]:
    """Say what is brought back, and what it takes the place of."""
    lang, record = opened.lang, outcome.records[0]
    lines = [word(lang, "would_restore" if dry_run else "restored", token=plain(version.token))]
    lines += block(record, lang, token=not dry_run)
    if now.record and now.state == "present":
        lines += [word(lang, "put_away"), *block(now.record, lang)]
    return lines + _about_principles(opened, wanted, now, version)


def _version(history: History, wanted: Named, now: Present) -> Record:
    """Return the version that was named, else the last one. Raises HistoryError."""
    if wanted.token:
        version = history.find_versions([wanted.token]).get(wanted.token)
        if not version:
            raise HistoryError("no_version", *history.notes(), token=wanted.token, id=wanted.id)
        return version
    version = now.record or history.last(wanted.id)
    if version:
        return version
    if now.replaced:
        by = replacing(now.principles[-1][0])
        raise HistoryError("never_committed", *history.notes(), id=wanted.id, by=by)
    raise HistoryError("unknown", *history.notes(), name=wanted.id)


def _about_principles(opened: Opened, wanted: Named, now: Present, version: Record) -> list[str]:
    """Say what a person must know where a principle had replaced the record."""
    lines = []
    was_replaced = now.replaced and now.state != "present" and not wanted.token
    if was_replaced and version.token not in (token for _, token in now.principles):
        token = plain(now.principles[-1][1])
        lines.append(word(opened.lang, "not_the_replaced", token=token))
    for principle, _ in now.principles:
        lines.append(word(opened.lang, "replacing_stays", by=replacing(principle)))
    return lines


def closing_lines(
    outcome: BroughtBack, before: MemoryLog, lang: Language, *, dry_run: bool
) -> list[str]:
    """Say what else bringing records back has done, and what to do next."""
    lines = redacted_lines(outcome.redacted, lang, "redacted_back")
    shown = {record.id for record in (*outcome.log.records, *outcome.removal.removed)}
    hidden = [record.token for record in before.records if record.id not in shown]
    if hidden:
        lines.append(word(lang, "hides", tokens=joined(hidden)))
    return lines if dry_run else [*lines, word(lang, "look_and_commit")]
