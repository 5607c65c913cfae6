"""Reads options, opens the memory of a command, and asks before a write."""

import argparse
import os
import re
import shlex
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar

from commands.terminal.screen import cells, complain, plain, screen_here, shorten, warn
from core.config import find_project, read_settings
from core.errors import SentinelError
from core.messages import COMMANDS, has_sentence, say
from core.program import CLI, missing_packages, read_cwd
from core.store import open_store
from core.text.plain import moment_of
from rooms.room import LESSONS, Memory, Room

_T = TypeVar("_T")
STDOUT = "-"
SILENCE_S = 1.0  # before anything is said of work under way
_REFRESH_S = 0.5
_HOURS = {"h": 1, "d": 24, "w": 24 * 7, "m": 24 * 30, "y": 24 * 365}
_DETAILS = frozenset(("d", "ㅇ"))  # ㅇ is the key `d` on a Korean keyboard
YES = frozenset(("y", "yes", "예", "네", "ㅛ"))  # ㅛ is the key `y` on a Korean keyboard


def check_output(options: argparse.Namespace, *names: str) -> None:
    """Refuse `--force` and these options without `-o FILE`. Raises SystemExit(2)."""
    for option in ("--force", *names):
        if getattr(options, option[2:]) and options.output in (None, STDOUT):
            options.refuse(say("terminal.needs", one=option, other="-o FILE"))


def check_confirmation(options: argparse.Namespace, option: str) -> None:
    """Refuse `--yes` and `--dry-run` without the option that writes. Raises SystemExit(2).

    With `--json` one of the two is needed: data is no place for a question.
    """
    writes = getattr(options, option[2:])
    for is_given, name in ((options.yes, "--yes"), (options.dry_run, "--dry-run")):
        if is_given and not writes:
            options.refuse(say("terminal.needs", one=name, other=option))
    if writes and options.json and not (options.yes or options.dry_run):
        options.refuse(say("terminal.needs", one=f"{option} --json", other="--yes / --dry-run"))


def _check_text(text: str, key: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError(say(f"terminal.{key}"))
    return text


id_text, file_name = partial(_check_text, key="no_id"), partial(_check_text, key="no_name")


def positive_number(text: str) -> int:
    """Return a number of 1 or more. Raises ArgumentTypeError."""
    if not re.fullmatch("0*[1-9][0-9]{0,8}", text):
        raise argparse.ArgumentTypeError(say("terminal.no_number"))
    return int(text)


def moment_from(text: str) -> str:
    """Return a date, or a time ago (`12h`, `2m` of 30 days), in ISO 8601.

    Raises ArgumentTypeError.
    """
    if ago := re.fullmatch("([0-9]{1,4})([hdwmy])", text):
        moment_s = time.time() - int(ago[1]) * _HOURS[ago[2]] * 3_600
        return datetime.fromtimestamp(max(moment_s, 0), UTC).isoformat(timespec="seconds")
    iso_moment = moment_of(text)
    if not iso_moment:
        raise argparse.ArgumentTypeError(say("terminal.no_moment"))
    return iso_moment


def open_memory(options: argparse.Namespace, *, writes: bool = False) -> Memory:
    """Open the memory of `--project`, the environment or the directory; create nothing.

    Prints warnings. Raises SentinelError for a missing directory, or where nothing can be written.
    """
    settings = read_settings(os.environ)
    project = find_project(options.project, os.environ)
    for warning in (*settings.warnings, *project.warnings):
        warn(warning)
    project.check(os.environ, writes=writes)
    cwd, commands = read_cwd(), dict[str, str]()
    if options.project:
        commands["cli"] = f"{CLI} --project {shlex.quote(plain(options.project))}"
    if not (cwd and os.path.samefile(cwd, project.folder)):
        commands["git"] = f"git -C {shlex.quote(plain(project.folder))}"
    COMMANDS.set(commands)
    if writes:  # a reader needs no lock
        need_packages()
    return Memory(project=project, settings=settings, store=open_store(project, settings))


def need_packages() -> None:
    """Raise SentinelError where packages are missing; its fact `commands` installs them."""
    if facts := missing_packages():
        raise SentinelError("no_packages", **facts)


def title_of(name: str) -> str:
    return say(f"rooms.{name}") if has_sentence(f"rooms.{name}") else plain(name)


def ask_room(room: Room, ask: Callable[[], _T], *, names: Sequence[str] = ()) -> _T | None:
    """Return a room's answer; None with a warning if it cannot be read.

    Raises SentinelError for the log and for a room among `names`, which a user named.
    """
    try:
        return ask()
    except SentinelError as error:
        warn_unreadable(room, error, names=names)
        return None


def warn_unreadable(room: Room, error: SentinelError, *, names: Sequence[str]) -> None:
    """Warn that a room cannot be read; raise for the log or one of `names`."""
    if room.name == LESSONS or room.name in names:
        raise error
    warn(say("rooms.without", room=title_of(room.name), reason=plain(str(error))))


def is_confirmed(
    options: argparse.Namespace,
    question: str,
    *,
    table: str = "terminal",
    is_readable: bool = True,
    details: Callable[[], object] | None = None,
) -> bool:
    """Return whether to carry out a plan that was printed; print why not.

    `--dry-run` means no, `--yes` yes; otherwise a person at the terminal decides. table: of the
    sentences "dry", "not_changed" and "no_terminal". is_readable: standard input is free. details:
    prints more at the answer `d`; the question comes again.
    """
    if options.dry_run or options.yes:
        if options.dry_run:
            print(say(f"{table}.dry"))
        return not options.dry_run
    answer = read_answer(question) if is_readable else None
    while details and answer and answer.strip().casefold() in _DETAILS:
        details()
        answer = read_answer(question)
    if answer is None:
        complain(say(f"{table}.no_terminal"))
        return False
    if answer.strip().casefold() in YES:
        return True
    print(say(f"{table}.not_changed"))
    return False


def can_ask() -> bool:
    return all(stream and stream.isatty() for stream in (sys.stdin, sys.stdout))


def read_answer(question: str) -> str | None:
    """Return the answer at the terminal; None where nobody can see or answer."""
    if not can_ask():
        return None
    print(question, end="", flush=True)  # input() may use standard error
    try:
        return input()
    except EOFError:
        return ""


@contextmanager
def progress() -> Iterator[Callable[[str], object]]:
    """Show on standard error, after a second, that work is under way; leave no trace.

    The block prints nothing, and may call the value with words on its progress. Only a terminal
    gets it.
    """
    steps = [""]
    if not (sys.stderr and sys.stderr.isatty()):
        yield steps.append
        return
    is_done = threading.Event()

    def show_time() -> None:
        started_s, line = time.monotonic(), ""
        while not is_done.wait(_REFRESH_S if line else SILENCE_S):
            seconds, old_cells = round(time.monotonic() - started_s), cells(line)
            key = "working_at" if steps[-1] else "working"
            text = say(f"terminal.{key}", seconds=seconds, far=steps[-1])
            line = shorten(text, screen_here(sys.stderr).width - 1)
            print(f"\r{line}{' ' * (old_cells - cells(line))}", end="", file=sys.stderr, flush=True)
        if line:
            print("\r" + " " * cells(line) + "\r", end="", file=sys.stderr, flush=True)

    thread = threading.Thread(target=copy_context().run, args=(show_time,), daemon=True)
    thread.start()
    try:
        yield steps.append
    finally:
        is_done.set()
        thread.join()
