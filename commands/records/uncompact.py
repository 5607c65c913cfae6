"""Undoes a compaction: brings the originals of a principle back and takes the principle out."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from commands.records.restore import carried_out, closing_lines
from commands.records.words import word
from commands.terminal.console import (
    Opened,
    add_confirmation,
    add_examples,
    add_id,
    explain,
    open_memory,
)
from commands.terminal.progress import progress
from commands.terminal.records import block, joined, readable
from commands.terminal.safe_text import plain_json
from core.lessons.git.errors import HistoryError
from core.lessons.git.naming import named
from core.lessons.git.versions import History, originals_of, present
from core.lessons.outcomes import BroughtBack
from core.lessons.record import Record, id_in, ids_in
from core.parser import add_project


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
    """Add the options of `cli.py uncompact`."""
    add_id(parser, "uncompact_id")
    add_project(parser)
    parser.add_argument("--keep-principle", action="store_true", help=explain("uncompact_keep"))
    add_confirmation(parser)
    add_examples(parser, "uncompact 3f2a --dry-run", "uncompact 3f2a")


def run(arguments: argparse.Namespace) -> int:
    """Bring the originals back in one write. Raises HistoryError where some are missing."""
    opened = open_memory(arguments, writes=not arguments.dry_run)
    keep = arguments.keep_principle
    history = History(opened.store.path, opened.store.read(), opened.store.read_replaced())
    with progress(opened.lang):
        principle = _principle(history, arguments.id)
        originals = _originals(history, principle)
    if originals.missing and not (keep and originals.found):
        raise _missing(originals, history)

    def act(*, dry_run: bool) -> list[str]:
        instead_of = "" if keep else principle.token
        outcome = opened.store.bring_back(
            originals.found, since=history.log, instead_of=instead_of, dry_run=dry_run
        )
        lines = _lines(opened, principle, originals, outcome, dry_run=dry_run)
        return lines + closing_lines(outcome, history.log, opened.lang, dry_run=dry_run)

    return carried_out(arguments, opened.lang, act)


def _principle(history: History, name: str) -> Record:
    """Return the principle meant, in the log and in the version named. Raises HistoryError."""
    wanted = named(name, history)
    now = present(wanted.id, history.log)
    record = now.record
    if not record or now.state != "present":
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
    facts |= {"missing": len(originals.missing), "found": len(originals.found)}
    key = "some_missing" if originals.found else "all_missing"
    return HistoryError(key, *history.notes(), **facts)


def _lines(
    opened: Opened, principle: Record, originals: Originals, outcome: BroughtBack, *, dry_run: bool
) -> list[str]:
    lang = opened.lang
    lines = [word(lang, "would_bring" if dry_run else "brought", count=len(outcome.records))]
    for record in outcome.records:
        lines += block(record, lang, token=not dry_run)
    if originals.left_alone:
        lines.append(word(lang, "left_alone", tokens=_tokens(originals.left_alone)))
    if originals.missing:
        lines.append(word(lang, "still_missing", tokens=joined(originals.missing)))
    if not outcome.removal.removed:
        return [*lines, word(lang, "principle_kept"), *block(principle, lang)]
    key = "principle_would_go" if dry_run else "principle_went"
    line = plain_json(readable(principle).as_json(), indent=None)
    return [*lines, word(lang, key), *block(principle, lang), line]


def _tokens(records: Sequence[Record]) -> str:
    return joined(record.token for record in records)
