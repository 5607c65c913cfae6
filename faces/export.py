"""Take the memory elsewhere: as a document, as data, or into the files that a client reads.

What leaves is what the log holds and nothing else, redacted once more: a topic and a question are
saved as they came, and a line may have been written by hand.
"""

import argparse
import os
import sys
from collections import Counter
from pathlib import Path

from core.compaction import closest_first
from core.log_secrets import clean_record, redacted
from core.memory_log import MemoryLog
from core.messages import Language
from core.record import Record, normalise_topic, utc_now
from core.rendering import topic_text
from core.settings import read_settings
from faces.console import Opened, add_project, open_memory
from faces.export_files import Choice, put_block, put_rules
from faces.export_words import word
from faces.exporting_html import html
from faces.exporting_json import as_json
from faces.exporting_markdown import markdown
from faces.exporting_rules import CLIENTS
from faces.plain import plain
from faces.user_files import ExportError, write_new

FORMATS = {"markdown": markdown, "json": as_json, "html": html}
TYPES = ("log", "principle")
STDOUT = "-"
MOST_TOPICS = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `cli.py export`."""
    add_project(parser)
    parser.add_argument("--format", choices=FORMATS, help="of the document; default: markdown")
    parser.add_argument("-o", "--output", metavar="FILE", help="a new file for the document")
    parser.add_argument("--force", action="store_true", help="with -o: replace a file")
    parser.add_argument(
        "--topic", action="append", metavar="T", help="only this topic; can be repeated"
    )
    parser.add_argument(
        "--type", action="append", choices=TYPES, help="only this type; can be repeated"
    )
    parser.add_argument(
        "--block", metavar="FILE", help="put the principles into AGENTS.md or a file like it"
    )
    parser.add_argument(
        "--rules",
        choices=CLIENTS,
        help="write the principles that name files as rules for these files",
    )
    parser.add_argument("--remove", action="store_true", help="take the block or the rules out")
    parser.add_argument(
        "--dry-run", action="store_true", help="only print what the block or the rules would be"
    )
    parser.set_defaults(refuse=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """Write what was asked for; 1 when it could not be written."""
    lang = read_settings(os.environ).lang
    _check(arguments, lang)
    opened = open_memory(arguments, writes=bool(arguments.rules and not arguments.dry_run))
    log = MemoryLog.parse(opened.store.read_bytes())
    _say_what_is_left(log, lang)
    try:
        records = _without_secrets(_chosen(log, arguments), lang)
        if arguments.block or arguments.rules:
            choice = Choice(records, remove=arguments.remove, dry_run=arguments.dry_run)
            if arguments.block:
                return put_block(Path(arguments.block), choice, lang)
            return put_rules(opened.project.root, arguments.rules, choice, lang)
        if log.count and not records:
            print(word(lang, "none_chosen"), file=sys.stderr)
        _put_document(opened, records, arguments)
    except ExportError as error:
        print(error.text(lang), file=sys.stderr)
        return 1
    return 0


def _check(arguments: argparse.Namespace, lang: Language) -> None:
    """Leave with a sentence when options contradict each other."""
    document = {
        "--format": arguments.format,
        "-o": arguments.output,
        "--force": arguments.force,
    }
    into_files = {"--block": arguments.block, "--rules": arguments.rules}
    ways = [way for way, given in into_files.items() if given]
    for option, name in {"--block": arguments.block, "-o": arguments.output}.items():
        if name == "":
            arguments.refuse(word(lang, "no_name", option=option))
    if ways:
        other = [way for way, given in {**into_files, **document}.items() if given]
        if len(other) > 1:
            arguments.refuse(word(lang, "together", one=other[0], other=other[1]))
    elif arguments.remove or arguments.dry_run:
        one = "--remove" if arguments.remove else "--dry-run"
        arguments.refuse(word(lang, "needs", one=one, other="--block / --rules"))
    if arguments.force and not arguments.output:
        arguments.refuse(word(lang, "needs", one="--force", other="-o"))
    if arguments.block and arguments.type:
        arguments.refuse(word(lang, "together", one="--block", other="--type"))
    for option, given in {"--topic": arguments.topic, "--type": arguments.type}.items():
        if arguments.remove and given:
            arguments.refuse(word(lang, "together", one="--remove", other=option))


def _say_what_is_left(log: MemoryLog, lang: Language) -> None:
    """Lines that are no records are not exported, and nobody should believe they were."""
    if log.conflicts:
        print(word(lang, "conflicts", conflicts=log.conflicts), file=sys.stderr)
    if log.skipped:
        print(word(lang, "skipped", skipped=log.skipped), file=sys.stderr)


def _chosen(log: MemoryLog, arguments: argparse.Namespace) -> list[Record]:
    """The records of the topics and types asked for. Raises ExportError for an unknown topic."""
    if arguments.remove:
        return []
    topics = [normalise_topic(topic) for topic in arguments.topic or ()]
    for topic in topics:
        if topic not in log.topics:
            near = closest_first(topic, log.topics)[:MOST_TOPICS]
            listed = ", ".join(topic_text(redacted(it)[0]) for it in near) or "—"
            raise ExportError("no_topic", topic=topic_text(topic), topics=listed)
    into_files = arguments.block or arguments.rules
    types = arguments.type or (["principle"] if into_files else TYPES)
    return [
        record
        for record in log.records
        if record.type in types and (not topics or record.topic in topics)
    ]


def _without_secrets(records: list[Record], lang: Language) -> list[Record]:
    """The records as they may leave; the kinds of secrets that were replaced in them are told."""
    cleaned = [clean_record(record) for record in records]
    kinds = Counter(kind for _, found in cleaned for _, kind in found)
    if kinds:
        told = ", ".join(f"{kind} {count:,}" for kind, count in kinds.items())
        print(word(lang, "redacted", count=kinds.total(), kinds=told), file=sys.stderr)
    return [record for record, _ in cleaned]


def _put_document(opened: Opened, records: list[Record], arguments: argparse.Namespace) -> None:
    write = FORMATS[arguments.format or "markdown"]
    text = write(records, opened.project.root.name, opened.lang, now=utc_now())
    if arguments.output in (None, STDOUT):
        print(text, end="")
        return
    write_new(Path(arguments.output), text, force=arguments.force)
    told = word(opened.lang, "written", path=arguments.output, count=len(records))
    print(plain(told))
