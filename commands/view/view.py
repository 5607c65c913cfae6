"""Shows the memory as one page in a browser, or writes it to a file; serves and sends nothing."""

import argparse
import os
import sys
import time
import webbrowser
from pathlib import Path

from commands.clients.text_file import ExportError, write_new
from commands.hook.journal import sessions_in, times_at_work
from commands.terminal.ask import (
    STDOUT,
    add_examples,
    add_output,
    check_output,
    explain,
    open_memory,
)
from commands.terminal.records import counted_kinds
from commands.terminal.rooms_here import has_fragments
from commands.terminal.safe_text import plain, warn
from commands.view.beside import SCOPES, beside
from commands.view.html import page_html
from commands.view.page import page_of
from core.config import state_directory
from core.disk import reason_of
from core.errors import DiskError
from core.lessons.answers import Frame
from core.lessons.record import utc_now
from core.messages import say
from core.parser import add_project
from core.program import CLI, version
from rooms.room import Opened

NAME = "view.html"


class NoPlaceError(DiskError):
    """The user has no directory for the page."""

    table, key = "view", "no_place"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py view`."""
    add_project(parser)
    add_output(parser, explain("view_output"))
    parser.add_argument("--open", action="store_true", help=explain("view_open"))
    parser.add_argument("--fragments", choices=SCOPES, help=explain("view_fragments"))
    add_examples(parser, "view", "view -o memory.html")


def run(arguments: argparse.Namespace) -> int:
    """Write the page and open it; return 1 when no browser opens. Raises ExportError."""
    check_output(arguments, "--open")
    opened = open_memory(arguments)
    text, count = _page(opened, arguments)
    if arguments.output == STDOUT:
        print(text, end="")
        return 0
    path = _written(opened, text, arguments)
    if arguments.output:
        print(say("terminal.written_records", path=plain(arguments.output), count=count))
        if not arguments.fragments and has_fragments(os.environ):
            print(say("view.no_fragments"))
        if not arguments.open:
            return 0
    is_open = webbrowser.open(path.as_uri())
    key = "opened" if is_open else "no_browser"
    print(say(f"view.{key}", path=plain(str(path))), file=None if is_open else sys.stderr)
    return 0 if is_open else 1


def _page(opened: Opened, arguments: argparse.Namespace) -> tuple[str, int]:
    """Return the page and the number of its records; print how many secrets it leaves out."""
    log = opened.store.read()
    root = str(opened.project.root)
    page = page_of(
        log,
        Frame(project=root, settings=opened.settings),
        project=opened.project.root.name or root,
        now=utc_now(),
        times=times_at_work(sessions_in(state_directory(root, os.environ)), time.time()),
    )
    found = beside(opened, scope=_scope(arguments), is_own=not arguments.output)
    if kinds := (*page.redacted, *found.redacted):
        warn(say("view.redacted", cli=CLI, **counted_kinds(kinds)))
    return page_html(page, version(), found.parts), log.count


def _scope(arguments: argparse.Namespace) -> str:
    """Return which fragments the page shows: unasked, only where nobody else may read it."""
    return str(arguments.fragments or ("none" if arguments.output else "all"))


def _written(opened: Opened, text: str, arguments: argparse.Namespace) -> Path:
    """Write the page to the file that the user named, or beside the notes of hooks.

    Returns its path. Raises ExportError and NoPlaceError.
    """
    root = opened.project.root
    if arguments.output:
        path = Path(arguments.output)
        write_new(path, text, force=arguments.force, project=root)
        return path.resolve()
    directory = state_directory(str(root), os.environ)
    if not directory:
        raise NoPlaceError
    try:
        os.makedirs(directory, mode=0o700, exist_ok=True)  # only the user may read it
    except OSError as error:
        raise ExportError("file_write", path=directory, reason=reason_of(error)) from error
    path = Path(directory, NAME)
    write_new(path, text, force=True, project=root)
    return path
