"""Deletes records, sessions and fragments, after it shows them whole and a person says yes."""

import argparse

from commands.records.lines import commit_lines, whole
from commands.rooms.beside import forget_beside
from commands.rooms.choice import LESSONS, add_room, hand_over, other_room
from commands.rooms.naming import by_room
from commands.terminal.ask import (
    add_confirmation,
    add_examples,
    add_ids,
    is_confirmed,
    open_memory,
)
from commands.terminal.records import joined, readable
from commands.terminal.safe_text import complain, plain_json
from commands.terminal.screen import hung, print_lines, screen_here
from core.lessons.changes import Outcome
from core.lessons.history import one_named
from core.lessons.record import Record
from core.messages import say
from core.parser import add_project
from rooms.room import Opened


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py forget`."""
    add_ids(parser)
    add_project(parser)
    add_room(parser)
    add_confirmation(parser)
    add_examples(parser, "forget 3f2a --dry-run", "forget 3f2a 91bc")


def run(arguments: argparse.Namespace) -> int:
    """Show, ask, delete, room by room; 1 when one was not confirmed, or something stayed."""
    if room := other_room(arguments):
        takes = ("yes", "dry_run")
        return hand_over(arguments, room, "forget", *arguments.ids, takes=takes)
    opened = open_memory(arguments, writes=not arguments.dry_run)
    log = opened.store.read()
    ids = {LESSONS: arguments.ids}
    if not arguments.room:
        ids = by_room(opened, log, arguments.ids, "forget")
    records = [one_named(name, log) for name in ids.pop(LESSONS, ())]
    code = _forget_records(opened, arguments, records) if records else 0
    return max(code, forget_beside(opened, arguments, ids))


def _forget_records(opened: Opened, arguments: argparse.Namespace, records: list[Record]) -> int:
    named = {record.token: record for record in records}
    print("\n".join(_preview(list(named.values()))))
    if not is_confirmed(arguments, say("records.ask_forget")):
        return int(not arguments.dry_run)
    outcome = opened.store.delete_by_ids(list(named))
    _print_deleted(outcome)
    print_lines(commit_lines(opened))
    stayed = (*outcome.changed, *outcome.absent, *outcome.gone)
    if stayed:
        complain(say("records.stayed", tokens=joined(stayed)))
    return 1 if stayed else 0


def _preview(records: list[Record]) -> list[str]:
    screen = screen_here()
    lines = hung(say("records.would_forget", count=len(records)), screen.text_width)
    for record in records:
        lines += ["", *whole(record, screen)]
    return [*lines, ""]


def _print_deleted(outcome: Outcome) -> None:
    """Print the deleted records as they stood in the file, and where they are kept."""
    print(say("records.forgotten", count=len(outcome.removed)))
    if not screen_here().is_terminal:  # where somebody has just read them
        for record in outcome.removed:
            print(plain_json(readable(record).as_json(), indent=None))
    if outcome.removed:
        print_lines([say("records.kept", id=joined([outcome.removed[0].id]))])
