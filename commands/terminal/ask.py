"""Reads what a person typed, opens the memory of a command, and asks before it writes."""

import argparse
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from commands.terminal.safe_text import complain, plain, warn
from commands.terminal.screen import cells, fitted, screen_here
from core.config import find_project, read_settings
from core.errors import DiskError, SentinelError
from core.messages import has_sentence, say
from core.store import open_store
from core.text.plain import moment_of
from rooms.room import LESSONS, Opened, Room

_T = TypeVar("_T")
STDOUT = "-"
SILENCE_S = 1.0  # before anything is said of work under way
_EACH_S = 0.5
_HOURS = {"h": 1, "d": 24, "w": 24 * 7, "m": 24 * 30, "y": 24 * 365}
_DETAILS = frozenset(("d", "ㅇ"))  # ㅇ is the key `d` on a Korean keyboard
YES = frozenset(("y", "yes", "예", "네", "ㅛ"))  # ㅛ is the key `y` on a Korean keyboard


def check_output(arguments: argparse.Namespace, *options: str) -> None:
    """Refuse `--force`, and these options, unless `-o` names a file. Raises SystemExit(2)."""
    for option in ("--force", *options):
        if getattr(arguments, option[2:]) and arguments.output in (None, STDOUT):
            arguments.refuse(say("terminal.needs", one=option, other="-o FILE"))


def check_confirmation(arguments: argparse.Namespace, option: str) -> None:
    """Refuse `--yes` and `--dry-run` without the option that writes. Raises SystemExit(2).

    Data is no place for a question, so that one of the two has to come with `--json`.
    """
    writes = getattr(arguments, option[2:])
    for given, name in ((arguments.yes, "--yes"), (arguments.dry_run, "--dry-run")):
        if given and not writes:
            arguments.refuse(say("terminal.needs", one=name, other=option))
    if writes and arguments.json and not (arguments.yes or arguments.dry_run):
        other = "--yes / --dry-run"
        arguments.refuse(say("terminal.needs", one=f"{option} --json", other=other))


def file_name(text: str) -> str:
    """Return the file name of an option. Raises ArgumentTypeError for an empty one."""
    if not text:
        raise argparse.ArgumentTypeError(say("terminal.no_name"))
    return text


def positive(text: str) -> int:
    """Return the number of an option. Raises ArgumentTypeError unless it is 1 or more."""
    if not re.fullmatch("0*[1-9][0-9]{0,8}", text):
        raise argparse.ArgumentTypeError(say("terminal.no_number"))
    return int(text)


def moment(text: str) -> str:
    """Return the moment of an option in ISO 8601: of a date, or so long ago. A month has 30 days.

    Raises ArgumentTypeError for anything else.
    """
    if back := re.fullmatch("([0-9]{1,4})([hdwmy])", text):
        moment_s = time.time() - int(back[1]) * _HOURS[back[2]] * 3_600
        return datetime.fromtimestamp(max(moment_s, 0), UTC).isoformat(timespec="seconds")
    given = moment_of(text)
    if not given:
        raise argparse.ArgumentTypeError(say("terminal.no_moment"))
    return given


def open_memory(arguments: argparse.Namespace, *, writes: bool = False) -> Opened:
    """Open the memory that `--project`, the environment or the directory names; create nothing.

    Prints what it ignored on the way. Raises DiskError where there is no such
    directory, or where no project can be and the command writes.
    """
    settings = read_settings(os.environ)
    project = find_project(arguments.project, os.environ, here(arguments.project))
    for warning in (*settings.warnings, *project.warnings):
        warn(warning)
    project.check(os.environ, writes=writes)
    store = open_store(project, settings)
    return Opened(project=project, settings=settings, store=store)


def here(project: str | None) -> Path:
    """Return the working directory; raises DiskError where it is gone and `project` needs it."""
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        if project and os.path.isabs(project):
            return Path(project)
        raise DiskError("project_missing", path=os.curdir, source="cwd") from error


def title(name: str) -> str:
    """Return what a reader calls a room."""
    return say(f"rooms.{name}") if has_sentence(f"rooms.{name}") else plain(name)


def unless_unread(room: Room, ask: Callable[[], _T], *, named: Sequence[str] = ()) -> _T | None:
    """Return what a room answers, None where it cannot be read, which is said.

    Raises SentinelError for the log, and for a room that was named.
    """
    try:
        return ask()
    except SentinelError as error:
        leave_out(room, error, named=named)
        return None


def leave_out(room: Room, error: SentinelError, *, named: Sequence[str]) -> None:
    """Say that a room is left out, since it cannot be read; raise it for one that was named."""
    if room.name == LESSONS or room.name in named:
        raise error
    warn(say("rooms.without", room=title(room.name), reason=plain(str(error))))


def is_confirmed(
    arguments: argparse.Namespace,
    question: str,
    *,
    table: str = "terminal",
    is_readable: bool = True,
    details: Callable[[], object] | None = None,
) -> bool:
    """Return whether a command that has printed its plan carries it out; print why not.

    `--dry-run` means no, `--yes` means yes, otherwise a person at the terminal decides.
    table: the one with the sentences "dry", "not_changed" and "no_terminal" of this command.
    is_readable: whether standard input is free for the answer. details: prints more of the plan
    where the answer is `d`, before the question comes again.
    """
    if arguments.dry_run or arguments.yes:
        if arguments.dry_run:
            print(say(f"{table}.dry"))
        return not arguments.dry_run
    answer = typed(question) if is_readable else None
    while details and answer and answer.strip().casefold() in _DETAILS:
        details()
        answer = typed(question)
    if answer is None:
        complain(say(f"{table}.no_terminal"))
        return False
    if answer.strip().casefold() in YES:
        return True
    print(say(f"{table}.not_changed"))
    return False


def typed(question: str) -> str | None:
    """Ask at the terminal; None where nobody can see the question or answer it."""
    if not all(stream and stream.isatty() for stream in (sys.stdin, sys.stdout)):
        return None
    print(question, end="", flush=True)  # input() may use standard error
    try:
        return input()
    except EOFError:
        return ""


@contextmanager
def progress() -> Iterator[Callable[[str], object]]:
    """Say after a second that work is under way, and how long it has taken; leave no trace.

    The block prints nothing; it may say how far it is by calling what it gets with a few words.
    Where standard error is no terminal nothing is said.
    """
    far = [""]
    if not (sys.stderr and sys.stderr.isatty()):
        yield far.append
        return
    done = threading.Event()
    teller = threading.Thread(target=copy_context().run, args=(_tell, done, far), daemon=True)
    teller.start()
    try:
        yield far.append
    finally:
        done.set()
        teller.join()


def _tell(done: threading.Event, far: list[str]) -> None:
    started_s, line = time.monotonic(), ""
    while not done.wait(_EACH_S if line else SILENCE_S):
        seconds, before = round(time.monotonic() - started_s), cells(line)
        key = "working_at" if far[-1] else "working"
        said = say(f"terminal.{key}", seconds=seconds, far=far[-1])
        line = fitted(said, screen_here(sys.stderr).width - 1)
        print(f"\r{line}{' ' * (before - cells(line))}", end="", file=sys.stderr, flush=True)
    if line:
        print("\r" + " " * cells(line) + "\r", end="", file=sys.stderr, flush=True)
