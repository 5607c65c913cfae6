"""Writes the memory as a document, as JSON, or into a file that a client reads.

It writes what the log holds and nothing else, without secrets.
"""

import argparse
from pathlib import Path

from commands.documents.outgoing import of_topics, put_text, read_log, without_secrets
from commands.exchange.client_files import Choice, put_block
from commands.exchange.formats import as_json, markdown
from commands.rooms.choice import FRAGMENTS, SESSIONS, add_room, hand_over, other_room
from commands.terminal.ask import (
    add_examples,
    add_output,
    add_topics,
    check_output,
    explain,
    file_name,
    open_memory,
)
from commands.terminal.safe_text import plain, warn
from core.lessons.log import MemoryLog
from core.lessons.record import Record, utc_now
from core.messages import say
from core.parser import add_project
from rooms.room import Opened

FORMATS = ("markdown", "json")
OTHER_FORMATS = ("html",)  # of the sessions
_TAKEN = {SESSIONS: ("format", "output"), FRAGMENTS: ("output", "public")}
TYPES = ("log", "principle")
APART = (
    *(("--block", other) for other in ("--format", "-o", "--type")),
    *(("--remove", other) for other in ("--topic", "--type")),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py export`."""
    add_project(parser)
    form = explain("export_format")
    parser.add_argument("--format", choices=(*FORMATS, *OTHER_FORMATS), help=form)
    add_room(parser)
    add_output(parser, explain("export_output"))
    add_topics(parser)
    types = explain("export_type")
    parser.add_argument("--type", action="append", choices=TYPES, help=types)
    parser.add_argument("--public", action="store_true", help=explain("export_public"))
    block = explain("export_block")
    parser.add_argument("--block", type=file_name, metavar="FILE", help=block)
    parser.add_argument("--remove", action="store_true", help=explain("export_remove"))
    parser.add_argument("-n", "--dry-run", action="store_true", help=explain("dry_run"))
    add_examples(
        parser, "export --format json -o lessons.json", "export --block AGENTS.md --dry-run"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write what the user asked for; return 1 when a file is in the way, or nothing to write."""
    if room := other_room(arguments):
        return hand_over(arguments, room, "export", takes=_TAKEN[room])
    _check(arguments)
    opened = open_memory(arguments)
    log = read_log(opened.store)
    records = without_secrets(_chosen(log, arguments))
    if arguments.block:
        choice = Choice(records, remove=arguments.remove, dry_run=arguments.dry_run)
        return put_block(Path(arguments.block), opened.project.root, choice)
    if log.count and not records:
        warn(say("export.none_chosen"))
    _put_document(opened, records, arguments)
    return 0


def _check(arguments: argparse.Namespace) -> None:
    """Refuse options that contradict each other. Raises SystemExit(2)."""
    if arguments.format == "html":
        arguments.refuse(f"argument --format: {say('export.no_html')}")
    if arguments.public:
        facts = {"one": "--public", "other": f"--room {FRAGMENTS}"}
        arguments.refuse(say("terminal.needs", **facts))
    given = {f"--{name.replace('_', '-')}" for name, value in vars(arguments).items() if value}
    given |= {"-o"} if arguments.output else set()
    for one, other in APART:
        if {one, other} <= given:
            arguments.refuse(say("terminal.together", one=one, other=other))
    for option in ("--remove", "--dry-run"):
        if option in given and "--block" not in given:
            arguments.refuse(say("terminal.needs", one=option, other="--block"))
    check_output(arguments)


def _chosen(log: MemoryLog, arguments: argparse.Namespace) -> list[Record]:
    """Return the records to export. Raises ExportError for an unknown topic."""
    if arguments.remove:
        return []
    types = arguments.type or (["principle"] if arguments.block else TYPES)
    found = of_topics(log, arguments.topic or ())
    return [record for record in found if record.type in types]


def _put_document(opened: Opened, records: list[Record], arguments: argparse.Namespace) -> None:
    root, project = opened.project.root, opened.project.root.name
    if arguments.format == "json":
        text = as_json(records, project, now=utc_now())
    else:
        text = markdown(records, project, now=utc_now())
    if put_text(text, arguments.output, force=arguments.force, project=root):
        facts = {"path": arguments.output, "count": len(records)}
        print(plain(say("terminal.written_records", **facts)))
