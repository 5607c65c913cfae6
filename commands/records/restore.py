"""Brings back a record that left the log, or an older version of one that is in it."""

import argparse

from commands.records.lines import redacted_lines
from commands.records.words import word
from commands.terminal.console import Opened, add_project, open_memory
from commands.terminal.records import block, joined, replacing
from commands.terminal.safe_text import plain
from core.lessons.git.errors import HistoryError
from core.lessons.git.naming import Named, named
from core.lessons.git.versions import History, Present, present
from core.lessons.log import MemoryLog
from core.lessons.outcomes import BroughtBack
from core.lessons.record import Record
from core.messages import Language


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py restore`."""
    parser.add_argument("id", metavar="ID", help="an id, its first 4 or more characters, or id@fp")
    add_project(parser)
    parser.add_argument("--dry-run", action="store_true", help="only print what would be written")


def run(arguments: argparse.Namespace) -> int:
    """Write one former version into the log. Raises HistoryError."""
    opened = open_memory(arguments, writes=not arguments.dry_run)
    print("\n".join(restore(opened, arguments.id, dry_run=arguments.dry_run)))
    return 0


def restore(opened: Opened, name: str, *, dry_run: bool) -> list[str]:
    """Bring the version back that `name` means; what to print. Raises HistoryError."""
    history = History(opened.store.path, opened.store.read(), opened.store.read_replaced())
    wanted = named(name, history)
    now = present(wanted.id, history.log)
    there = now.record if now.state == "present" else None
    if there and not wanted.token:
        raise HistoryError("already_there", id=wanted.id, token=there.token)
    if there and wanted.token == there.token:
        return [word(opened.lang, "nothing_to_do", token=plain(wanted.token))]
    version = _version(history, wanted, now)
    outcome = opened.store.bring_back([version], since=history.log, dry_run=dry_run)
    lang, record = opened.lang, outcome.records[0]
    lines = [word(lang, "would_restore" if dry_run else "restored", token=plain(version.token))]
    lines += block(record, lang, token=not dry_run)
    if there:
        lines += [word(lang, "put_away"), *block(there, lang)]
    lines += _about_principles(opened, wanted, now, version)
    return lines + closing_lines(outcome, history.log, lang, dry_run=dry_run)


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
    lines = redacted_lines(outcome.redacted, lang)
    shown = {record.id for record in (*outcome.log.records, *outcome.removal.removed)}
    hidden = [record.token for record in before.records if record.id not in shown]
    if hidden:
        lines.append(word(lang, "hides", tokens=joined(hidden)))
    return [*lines, word(lang, "not_written" if dry_run else "look_and_commit")]
