"""Saves a person's own lesson, through the same door as the lessons of agents."""

import argparse
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from commands.add.saved_lines import replaced_by, saved_lines
from commands.records.edit import add_from, from_file, in_editor, limits, text_for_editor
from commands.records.lines import redacted_lines, whole
from commands.terminal.ask import (
    add_confirmation,
    add_examples,
    explain,
    is_confirmed,
    open_memory,
)
from commands.terminal.safe_text import plain
from commands.terminal.screen import print_within, screen_here
from core.lessons.changes import Outcome
from core.lessons.reach import reach_of
from core.lessons.record import Draft, utc_now
from core.messages import say
from core.parser import add_project
from rooms.room import Opened

TEXTS = {"topic": "topic", "missing": "missing_context", "lesson": "lesson"}
GIVEN = (*TEXTS, "ask", "path", "when", "source")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py add`."""
    parser.add_argument("--topic", metavar="TOPIC", help=explain("add_topic"))
    for option in ("missing", "lesson", "ask"):
        help_text = explain(f"add_{option}")
        parser.add_argument(f"--{option}", metavar="TEXT", help=help_text)
    path, when = explain("add_path"), explain("add_when")
    parser.add_argument("--path", metavar="PATH", action="append", default=[], help=path)
    parser.add_argument("--when", metavar="TEXT", action="append", default=[], help=when)
    add_from(parser)
    parser.add_argument("--fragment", metavar="FRAGMENT", help=explain("add_fragment"))
    parser.set_defaults(refuse=parser.error)
    add_project(parser)
    add_confirmation(parser)
    parser.description = explain("add_about")
    add_examples(
        parser,
        'add --topic ci --missing "Node version" --lesson "Use Node 22"',
        "add --fragment k3fa9x2m",
    )


def run(arguments: argparse.Namespace) -> int:
    """Take the texts, from an editor where one is missing; show, ask, save; 1 when not saved."""
    opened = open_memory(arguments, writes=not arguments.dry_run)
    if arguments.fragment is None:
        return _add(arguments, opened, again="add")
    from commands.add.fragment import FragmentLesson  # a log alone loads nothing of fragments

    lesson = FragmentLesson(opened, arguments.fragment)
    if lesson.fragment.promoted:
        lesson.print_as_known()
        return 0
    is_plain = not any(getattr(arguments, name) for name in GIVEN)
    if is_plain and (known := lesson.known_record()):
        return lesson.join(arguments, known)
    lesson.fill(arguments)
    again = f"add --fragment {plain(lesson.fragment.id)}"
    return _add(arguments, opened, again=again, then=lesson.hand_over)


def _add(
    arguments: argparse.Namespace,
    opened: Opened,
    *,
    again: str,
    then: Callable[[Outcome], list[str]] = lambda _saved: [],
) -> int:
    """Save what the arguments say, from an editor where a text is missing; 1 when not saved.

    again: the command that takes a kept text up. then: what else is to be done with a saved record;
    returns what to print.
    """
    opened.store.read_bytes()  # one that cannot be read is said before anybody writes a text
    given = {name: getattr(arguments, option) or "" for option, name in TEXTS.items()}
    given |= {"ask_next_time": arguments.ask or ""}
    given |= {"paths": "\n".join(arguments.path), "when": "\n".join(arguments.when)}
    head = say("records.add_head", limits=limits())
    text = text_for_editor(head, list(given.values()))
    save = partial(_added, arguments, opened, then)
    if arguments.source:
        return from_file(text, arguments.source, save)
    missing = [option for option, name in TEXTS.items() if not given[name].strip()]
    if not missing:
        lines = save({}, given)
        print_within(lines)
        return int(not lines and not arguments.dry_run)
    if not sys.stdin.isatty() or any(getattr(arguments, it) is not None for it in missing):
        options = ", ".join(f"--{it}" for it in missing)
        arguments.refuse(say("records.text_missing", options=options))
    return in_editor(text, save, again)


def _added(
    arguments: argparse.Namespace,
    opened: Opened,
    then: Callable[[Outcome], list[str]],
    _: Mapping[str, str],
    texts: Mapping[str, str],
) -> list[str]:
    """Show what would be saved, ask and save it; what to print, nothing when it was not saved."""
    (draft, notes), now = _draft(texts, opened.project.root), utc_now()
    trial = opened.store.upsert_log(draft, dry_run=True, now=now)
    if not trial.is_written:
        return [*saved_lines(opened, trial), *(() if arguments.dry_run else then(trial))]
    print_within([*_preview(opened, trial), "", *notes])
    if not arguments.yes:
        print_within(redacted_lines(trial.redacted, "would_redact"))
    if not is_confirmed(arguments, say("records.ask_add")):
        return []
    saved = opened.store.upsert_log(draft, now=now)  # under the token that was shown
    return [*saved_lines(opened, saved), *then(saved)]


def _draft(texts: Mapping[str, str], root: Path) -> tuple[Draft, list[str]]:
    """Return what is saved, and what to say of its paths and triggers.

    What is left out keeps what a record of the same gap has.
    """
    when = [line for line in texts["when"].split("\n") if line.strip()]
    paths = [line for line in texts["paths"].split("\n") if line.strip()]
    reach = reach_of(paths, when, root)
    draft = Draft(
        topic=texts["topic"],
        missing_context=texts["missing_context"],
        lesson=texts["lesson"],
        ask_next_time=texts["ask_next_time"] or None,
        paths=paths or None,
        when=reach.triggers or None,
    )
    return draft, reach.notes


def _preview(opened: Opened, trial: Outcome) -> list[str]:
    before, screen = replaced_by(trial), screen_here()
    lines = [say("records.would_update" if before else "records.would_add")]
    lines += ["", *whole(trial.record, screen)]
    if before:
        lines += ["", say("records.put_away")]
    for record in before:
        lines += ["", *whole(record, screen)]
    return lines
