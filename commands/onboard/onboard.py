"""What a new team member should know from the memory: one page of Markdown to read or to pass on.

It only looks, and what it writes changes only when the memory does.
"""

import argparse
import os
import sys

from commands.documents.outgoing import of_topics, put_text, say_what_is_left, without_secrets
from commands.documents.text_file import ExportError
from commands.exchange.export_words import word as export_word
from commands.onboard.page import LEAST_CHARS, PAGE_CHARS, page
from commands.onboard.words import word
from commands.terminal.console import add_project, open_memory, positive
from commands.terminal.safe_text import plain
from core.lessons.log import MemoryLog
from core.messages import Language
from core.settings import read_settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `cli.py onboard`."""
    add_project(parser)
    parser.add_argument(
        "--topic", action="append", metavar="T", help="only this topic; can be repeated"
    )
    parser.add_argument(
        "--max-chars",
        type=positive,
        default=PAGE_CHARS,
        metavar="N",
        help="characters of the page at most, Hangul counted twice (default %(default)s)",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="a new file for the page")
    parser.add_argument("--force", action="store_true", help="with -o: replace a file")
    parser.set_defaults(refuse=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """Print or write the page; 1 when it could not be written."""
    lang = read_settings(os.environ).lang
    _check(arguments, lang)
    opened = open_memory(arguments)
    log = MemoryLog.parse(opened.store.read_bytes())
    say_what_is_left(log, lang)
    try:
        records = without_secrets(of_topics(log, arguments.topic or ()), lang)
        text = page(
            records,
            opened.project.root.name,
            lang,
            is_part=bool(arguments.topic),
            most_chars=arguments.max_chars,
        )
        if put_text(text, arguments.output, force=arguments.force):
            print(plain(word(lang, "written", path=arguments.output)))
    except ExportError as error:
        print(error.text(lang), file=sys.stderr)
        return 1
    return 0


def _check(arguments: argparse.Namespace, lang: Language) -> None:
    """Leave with a sentence when an option cannot be meant."""
    if arguments.output == "":
        arguments.refuse(export_word(lang, "no_name", option="-o"))
    if arguments.force and not arguments.output:
        arguments.refuse(export_word(lang, "needs", one="--force", other="-o"))
    if arguments.max_chars < LEAST_CHARS:
        arguments.refuse(word(lang, "too_short", least=LEAST_CHARS))
