"""Take the memory elsewhere: as a document, as data, or into the files that a client reads.

What leaves is what the log holds and nothing else, without its secrets.
"""

import argparse
import os
import sys
from pathlib import Path

from commands.documents.outgoing import of_topics, put_text, say_what_is_left, without_secrets
from commands.documents.text_file import ExportError
from commands.exchange.client_files import Choice, put_block, put_rules
from commands.exchange.data import as_json
from commands.exchange.export_words import word
from commands.exchange.formats import markdown
from commands.exchange.html import html
from commands.exchange.rule_files import CLIENTS
from commands.terminal.console import Opened, add_project, open_memory
from commands.terminal.safe_text import plain
from core.lessons.log import MemoryLog
from core.lessons.record import Record, utc_now
from core.messages import Language
from core.settings import read_settings

FORMATS = {"markdown": markdown, "json": as_json, "html": html}
TYPES = ("log", "principle")


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
    say_what_is_left(log, lang)
    try:
        records = without_secrets(_chosen(log, arguments), lang)
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


def _chosen(log: MemoryLog, arguments: argparse.Namespace) -> list[Record]:
    """The records of the topics and types asked for. Raises ExportError for an unknown topic."""
    if arguments.remove:
        return []
    into_files = arguments.block or arguments.rules
    types = arguments.type or (["principle"] if into_files else TYPES)
    found = of_topics(log, arguments.topic or ())
    return [record for record in found if record.type in types]


def _put_document(opened: Opened, records: list[Record], arguments: argparse.Namespace) -> None:
    write = FORMATS[arguments.format or "markdown"]
    text = write(records, opened.project.root.name, opened.lang, now=utc_now())
    if put_text(text, arguments.output, force=arguments.force):
        told = word(opened.lang, "written", path=arguments.output, count=len(records))
        print(plain(told))
