"""Writes one page for a new team member: what to know before the first task.

It is Markdown in a file or a pipe, and laid out for reading on a terminal. It only reads the
memory. The same memory gives the same page.
"""

import argparse

from commands.documents.outgoing import of_topics, put_text, read_log, without_secrets
from commands.onboard.page import LEAST_CHARS, PAGE_CHARS, page
from commands.onboard.words import word
from commands.terminal.console import (
    add_examples,
    add_output,
    add_topics,
    check_output,
    explain,
    open_memory,
    positive,
)
from commands.terminal.markdown_lines import markdown_lines
from commands.terminal.safe_text import plain
from commands.terminal.screen import screen_here
from commands.terminal.words import word as common_word
from core.parser import add_project, language_here


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py onboard`."""
    add_project(parser)
    add_topics(parser)
    parser.add_argument(
        "--max-chars",
        type=_page_chars,
        default=PAGE_CHARS,
        metavar="N",
        help=explain("onboard_chars"),
    )
    add_output(parser, explain("onboard_output"))
    add_examples(parser, "onboard", "onboard --topic auth -o ONBOARDING.md")


def run(arguments: argparse.Namespace) -> int:
    """Print or write the page. Raises ExportError when it cannot be written."""
    check_output(arguments)
    opened = open_memory(arguments)
    lang = opened.lang
    log = read_log(opened.store, lang)
    records = without_secrets(of_topics(log, arguments.topic or ()), lang)
    text = page(
        records,
        opened.project.root.name,
        lang,
        is_part=bool(arguments.topic),
        most_chars=arguments.max_chars,
    )
    screen = screen_here()
    if arguments.output is None and screen.is_terminal:
        print("\n".join(markdown_lines(text, screen)))
    elif put_text(text, arguments.output, force=arguments.force, project=opened.project.root):
        print(plain(common_word(lang, "written", path=arguments.output)))
    return 0


def _page_chars(text: str) -> int:
    """Return the number of the option. Raises ArgumentTypeError below LEAST_CHARS."""
    if (most_chars := positive(text)) < LEAST_CHARS:
        raise argparse.ArgumentTypeError(word(language_here(), "too_short", least=LEAST_CHARS))
    return most_chars
