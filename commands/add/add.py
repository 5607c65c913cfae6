"""Saves a person's own lesson, through the same door as the lessons of agents."""

import argparse
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from commands.records.edit import in_editor, limits, text_for_editor
from commands.records.lines import redacted_lines, whole
from commands.records.words import word
from commands.terminal.console import (
    Opened,
    add_confirmation,
    add_examples,
    check_log_is_there,
    explain,
    is_confirmed,
    open_memory,
)
from commands.terminal.printing import print_within
from commands.terminal.records import named_record
from commands.terminal.screen import screen_here
from commands.terminal.words import word as common_word
from core.lessons.answers.frame import Frame
from core.lessons.answers.saving_answer import saved_answer
from core.lessons.git.project.common import checked_triggers
from core.lessons.outcomes import Saved
from core.lessons.record import Draft
from core.parser import add_project

TEXTS = {"topic": "topic", "missing": "missing_context", "lesson": "lesson"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py add`."""
    parser.add_argument("--topic", metavar="TOPIC", default="", help=explain("add_topic"))
    for option in ("missing", "lesson", "ask"):
        help_text = explain(f"add_{option}")
        parser.add_argument(f"--{option}", metavar="TEXT", default="", help=help_text)
    path, when = explain("add_path"), explain("add_when")
    parser.add_argument("--path", metavar="PATH", action="append", default=[], help=path)
    parser.add_argument("--when", metavar="TEXT", action="append", default=[], help=when)
    add_project(parser)
    add_confirmation(parser)
    parser.description = explain("add_about")
    add_examples(
        parser,
        "add",
        'add --topic ci --missing "Node version" --lesson "Use Node 22"',
    )


def run(arguments: argparse.Namespace) -> int:
    """Take the texts, from an editor where one is missing; show, ask, save; 1 when not saved."""
    opened = open_memory(arguments, writes=not arguments.dry_run)
    check_log_is_there(opened.project)
    given = {name: getattr(arguments, option) for option, name in TEXTS.items()}
    given |= {"ask_next_time": arguments.ask}
    given |= {"paths": "\n".join(arguments.path), "when": "\n".join(arguments.when)}
    if all(given[name].strip() for name in TEXTS.values()):
        lines = _added(arguments, opened, {}, given)
        print_within(lines)
        return int(not lines and not arguments.dry_run)
    head = word(opened.lang, "add_head", limits=limits())
    text = text_for_editor(head, list(given.values()))
    return in_editor(opened.lang, text, partial(_added, arguments, opened))


def _added(
    arguments: argparse.Namespace,
    opened: Opened,
    _: Mapping[str, str],
    texts: Mapping[str, str],
) -> list[str]:
    """Show what would be saved, ask and save it; what to print, nothing when it was not saved."""
    draft, lang = _draft(texts, opened.project.root), opened.lang
    print_within([*_preview(opened, opened.store.upsert_log(draft, dry_run=True)), ""])
    if not is_confirmed(arguments, common_word, lang, word(lang, "ask_add")):
        return []
    saved = opened.store.upsert_log(draft)
    frame = Frame(project=str(opened.project.root), settings=opened.settings)
    return [named_record(saved.record, lang), *saved_answer(saved, frame).splitlines()]


def _draft(texts: Mapping[str, str], root: Path) -> Draft:
    """Return what is saved; what is left out keeps what a record of the same gap has."""
    when = [line for line in texts["when"].split("\n") if line.strip()]
    return Draft(
        topic=texts["topic"],
        missing_context=texts["missing_context"],
        lesson=texts["lesson"],
        ask_next_time=texts["ask_next_time"] or None,
        paths=[line for line in texts["paths"].split("\n") if line.strip()] or None,
        when=checked_triggers(when, root) or None,
    )


def _preview(opened: Opened, trial: Saved) -> list[str]:
    lang = opened.lang
    is_known = any(it.gap == trial.record.gap for it in trial.before.records)
    lines = [word(lang, "would_update" if is_known else "would_add")]
    lines += ["", *whole(trial.record, screen_here(), lang)]
    return lines + redacted_lines(trial.redacted, lang, "would_redact")
