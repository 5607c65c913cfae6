"""Tells a reviewer or a committer what a change does to the memory."""

import argparse
from pathlib import Path

from commands.clients.text_file import write_new
from commands.report.data import as_json
from commands.report.findings import Report, report_on
from commands.report.github import add_to_summary, annotations, room_in_summary, stopped
from commands.report.markdown import markdown, summary
from commands.report.revisions import read_revisions
from commands.terminal.ask import (
    STDOUT,
    add_examples,
    add_json,
    add_output,
    check_output,
    explain,
    open_memory,
    progress,
)
from commands.terminal.markdown_lines import markdown_lines
from commands.terminal.safe_text import plain, plain_json
from commands.terminal.screen import screen_here
from core.messages import say
from core.parser import add_project
from rooms.room import Opened

FOUND, FAILED = 1, 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py report`."""
    versions = parser.add_mutually_exclusive_group()
    versions.add_argument("range", nargs="?", metavar="RANGE", help=explain("report_range"))
    add_project(parser)
    versions.add_argument("--staged", action="store_true", help=explain("report_staged"))
    parser.add_argument("--strict", action="store_true", help=explain("report_strict"))
    add_output(parser, explain("report_output"))
    forms = parser.add_mutually_exclusive_group()
    add_json(forms)
    forms.add_argument("--github", action="store_true", help=explain("report_github"))
    add_examples(parser, "report", "report origin/main..HEAD")


def run(arguments: argparse.Namespace) -> int:
    """Look and report; 1 for what must not be merged, 2 when that could not be done."""
    check_output(arguments)
    opened = open_memory(arguments)
    with progress():
        revisions = read_revisions(opened.store, arguments.range, staged=arguments.staged)
        report = report_on(revisions, threshold=opened.settings.threshold)
    _hand_out(report, opened, arguments)
    is_wrong = report.is_refused or (arguments.strict and report.marked)
    return FOUND if is_wrong else 0


def _hand_out(report: Report, opened: Opened, arguments: argparse.Namespace) -> None:
    """Print or write the report in every way that was asked for. Raises ExportError."""
    into_file, screen = arguments.output not in (None, STDOUT), screen_here()
    text = plain_json(as_json(report)) + "\n" if arguments.json else markdown(report)
    if into_file:
        root = opened.project.root
        write_new(Path(arguments.output), text, force=arguments.force, project=root)
    if arguments.github:
        _print_for_github(report, text, arguments)
    elif into_file:
        print(plain(say("terminal.written", path=arguments.output)))
    elif not arguments.json and arguments.output is None and screen.is_terminal:
        print("\n".join(markdown_lines(text, screen)))
    else:
        print(text, end="")


def _print_for_github(report: Report, text: str, arguments: argparse.Namespace) -> None:
    for line in annotations(report):
        print(line)
    room = room_in_summary()
    if room is None:
        if arguments.output is None or arguments.output == STDOUT:
            print(stopped(text), end="")
    elif len(text.encode("utf-8")) <= room:
        add_to_summary(text)
        print(stopped(summary(report)), end="")
    else:
        print(stopped(f"{say('report.no_summary')}\n\n{text}"), end="")
