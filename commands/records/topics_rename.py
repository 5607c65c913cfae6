"""A topic gets another name, or goes into one that exists: shown first, confirmed, one write."""

import argparse
from collections.abc import Sequence
from dataclasses import replace

from commands.records.filters import (
    add_consent,
    check_consent,
    is_confirmed,
    screen_here,
    unknown_topic,
)
from commands.records.lines import print_within, record_table, whole
from commands.records.words import word
from commands.terminal.columns import INDENT
from commands.terminal.console import Opened, add_project, open_memory
from commands.terminal.records import redacted_lines
from commands.terminal.safe_text import plain
from core.lessons.answers.rendering import topic_text
from core.lessons.log import MemoryLog
from core.lessons.outcomes import Renewal, Renewed
from core.lessons.record import Record, normalise_topic


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `cli.py topics rename`."""
    parser.add_argument("old", metavar="OLD", help="the topic that is renamed")
    parser.add_argument("new", metavar="NEW", help="its new name, or the topic that it goes into")
    add_project(parser, argparse.SUPPRESS)  # `topics --project DIR rename` means the same
    add_consent(parser, "rename", "renamed")


def run(arguments: argparse.Namespace) -> int:
    """Show, ask, rename; 1 when there is no such topic, or when it was not confirmed."""
    check_consent(arguments)
    opened = open_memory(arguments, writes=not arguments.dry_run)
    lang, log = opened.lang, opened.store.read()
    old, new = normalise_topic(arguments.old), normalise_topic(arguments.new)
    if old not in log.topics:
        print_within([unknown_topic(old, log, opened)], error=True)
        return 1
    if old == new:
        print_within([word(lang, "same_topic")])
        return 0
    changed = {it.token: replace(it, topic=new) for it in log.records if it.topic == old}
    trial = opened.store.renew(changed, join=True, dry_run=True)
    print_within(_preview(opened, log, trial, changed))
    if arguments.dry_run:
        print_within([word(lang, "dry")])
        return 0
    if not (arguments.yes or is_confirmed(word(lang, "ask_rename"), lang)):
        return 1
    print_within(_told(opened, opened.store.renew(changed, join=True), old))
    return 0


def _preview(
    opened: Opened, log: MemoryLog, trial: Renewed, changed: dict[str, Record]
) -> list[str]:
    """The records, whether the topic is there already, and what becomes one record."""
    lang, screen = opened.lang, screen_here()
    before = [record for record in log.records if record.token in changed]
    topic = trial.renewals[0].after.topic
    facts = {"old": topic_text(before[0].topic), "new": topic_text(topic)}
    key = "would_merge" if topic in log.topics else "would_rename"
    lines = [plain(word(lang, key, **facts, count=len(before), there=log.topics[topic])), ""]
    lines += record_table(before, log.records, screen, lang)
    for renewal in _joined(trial.renewals):
        lines += ["", word(lang, "would_join", count=len(renewal.before))]
        for record in renewal.before:
            lines += [INDENT + line for line in whole(record, screen, lang)]
    lines += ["", *redacted_lines(trial.redacted, lang)]
    if trial.suspicious:
        lines.append(word(lang, "suspicious", fields=", ".join(trial.suspicious)))
    return lines


def _told(opened: Opened, done: Renewed, old: str) -> list[str]:
    lang = opened.lang
    moved = [
        f"{INDENT}{plain(before.id)} → {plain(renewal.after.id)}"
        for renewal in done.renewals
        for before in renewal.before
        if before.id != renewal.after.id
    ]
    lines = [word(lang, "renamed", count=len(moved)), *moved, word(lang, "commit_soon")]
    if left := done.log.topics[old]:
        lines.append(word(lang, "left_behind", count=left))
    return lines


def _joined(renewals: Sequence[Renewal]) -> list[Renewal]:
    return [renewal for renewal in renewals if len(renewal.before) > 1]
