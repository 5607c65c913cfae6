"""Writes sessions as one document to the terminal, or to a file in the project."""

import argparse
import os
import sys
from typing import TYPE_CHECKING

from commands.sessions.room import empty_lines, open_room
from commands.terminal.ask import STDOUT, add_examples, explain, file_name, progress, when
from commands.terminal.safe_text import plain, warn
from core.messages import say

if TYPE_CHECKING:
    from rooms.sessions.exchange.exporting import FormName

FORMATS: "tuple[FormName, ...]" = ("markdown", "json", "html")
SUFFIXES: "dict[str, FormName]" = {".json": "json", ".html": "html", ".htm": "html"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py sessions export`."""
    about = explain("sessions_export_which")
    parser.add_argument("names", metavar="SESSION", nargs="*", help=about)
    form = explain("sessions_format")
    parser.add_argument("--format", choices=FORMATS, help=form)
    since, until = explain("sessions_since"), explain("sessions_until")
    parser.add_argument("--since", type=when, metavar="WHEN", help=since)
    parser.add_argument("--until", type=when, metavar="WHEN", help=until)
    output = explain("sessions_output")
    parser.add_argument("-o", "--output", type=file_name, metavar="FILE", help=output)
    add_examples(parser, "sessions export --since 30d -o sessions.html", "sessions export 12 14")


def run(arguments: argparse.Namespace) -> int:
    """Write the document; 1 when there is nothing to write. Raises SentinelError."""
    from rooms.sessions.exchange.exporting import export, pieces

    room = open_room(arguments)
    if not room.is_there:
        for line in empty_lines():
            warn(line)
        return 1
    output = "" if arguments.output in (None, STDOUT) else os.path.abspath(arguments.output)
    suffix = output[output.rfind(".") :].lower() if "." in output else ""
    form = arguments.format or SUFFIXES.get(suffix, "markdown")
    names = [room.named(name).id for name in arguments.names]
    since, until = arguments.since or "", arguments.until or ""
    if not output:
        for piece in pieces(room.store, form, since=since, until=until, names=names):
            sys.stdout.write(piece)
        return 0
    with progress():
        done = export(room.store, form, since=since, until=until, names=names, output=output)
    print(plain(say("session_commands.written", path=done.path, count=done.count)))
    return 0
