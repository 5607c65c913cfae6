"""Reads what a person typed, opens the memory of a command, and asks before it writes."""

import argparse
import difflib
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

from commands.terminal.safe_text import complain, plain, warn
from commands.terminal.screen import cells, fitted, screen_here
from core.config import Settings, find_project, read_settings
from core.messages import language, say
from core.program import CLI
from core.store import open_store
from core.text.plain import moment_of
from rooms.room import Opened

STDOUT = "-"
_HOURS = {"h": 1, "d": 24, "w": 24 * 7, "m": 24 * 30, "y": 24 * 365}
_DETAILS = frozenset(("d", "ㅇ"))  # ㅇ is the key `d` on a Korean keyboard
YES = frozenset(("y", "yes", "예", "네", "ㅛ"))  # ㅛ is the key `y` on a Korean keyboard


def explain(key: str, **facts: str | int) -> str:
    """Return what `--help` says of a command or an option, in the reader's language."""
    return say(f"help.{key}", **facts)


def summary_of(key: str) -> str:
    """Return what `--help` says of a command, as a sentence."""
    text = explain(key)
    return f"{text if language() == 'ko' else text[:1].upper() + text[1:]}."


def add_examples(parser: argparse.ArgumentParser, *examples: str) -> None:
    """End the help of a command with these ways to call it, which run as they are typed."""
    lines = [f"{explain('examples')}:", *(f"  {CLI} {example}" for example in examples)]
    parser.epilog = "\n".join(lines)


def add_topics(parser: argparse.ArgumentParser) -> None:
    """Add `--topic`, which a user may repeat."""
    parser.add_argument("--topic", action="append", metavar="TOPIC", help=explain("topic"))


def add_id(parser: argparse.ArgumentParser) -> None:
    """Add the one record that a command is about."""
    parser.add_argument("id", metavar="ID", help=explain("id"))


def add_ids(parser: argparse.ArgumentParser) -> None:
    """Add the records, sessions and fragments that a command is about."""
    parser.add_argument("ids", metavar="ID", nargs="+", help=explain("any_id"))


def add_json(parser: argparse._ActionsContainer) -> None:
    """Add `--json`."""
    parser.add_argument("--json", action="store_true", help=explain("json"))


def add_output(parser: argparse.ArgumentParser, purpose: str) -> None:
    """Add `-o` and `--force`; the command calls `check_output`."""
    parser.add_argument("-o", "--output", type=file_name, metavar="FILE", help=purpose)
    parser.add_argument("--force", action="store_true", help=explain("force"))
    parser.set_defaults(refuse=parser.error)


def check_output(arguments: argparse.Namespace, *options: str) -> None:
    """Refuse `--force`, and these options, unless `-o` names a file. Raises SystemExit(2)."""
    for option in ("--force", *options):
        if getattr(arguments, option[2:]) and arguments.output in (None, STDOUT):
            arguments.refuse(say("terminal.needs", one=option, other="-o FILE"))


def add_confirmation(parser: argparse.ArgumentParser) -> None:
    """Add `--yes` and `--dry-run`, of which a user gives one at most; see `is_confirmed`."""
    options = parser.add_mutually_exclusive_group()
    options.add_argument("-y", "--yes", action="store_true", help=explain("yes"))
    options.add_argument("-n", "--dry-run", action="store_true", help=explain("dry_run"))


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


def moment(text: str) -> float:
    """Return the seconds of an option: of a date, or of a time back from now. A month has 30 days.

    Raises ArgumentTypeError for anything else.
    """
    back = re.fullmatch("([0-9]{1,4})([hdwmy])", text)
    if back:
        return time.time() - int(back[1]) * _HOURS[back[2]] * 3_600
    try:
        if re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
            return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
    except ValueError:  # such as the 30th of February
        pass
    raise argparse.ArgumentTypeError(say("terminal.no_moment"))


def settings_here() -> Settings:
    """Return the settings of this process, in the language of the person who reads."""
    return read_settings(os.environ)


def open_memory(arguments: argparse.Namespace, *, writes: bool = False) -> Opened:
    """Open the memory that `--project`, the environment or the directory names; create nothing.

    Prints what it ignored on the way. Raises DiskError where there is no such
    directory, or where no project can be and the command writes.
    """
    settings = settings_here()
    project = find_project(arguments.project, os.environ, Path.cwd())
    for warning in (*settings.warnings, *project.warnings):
        warn(warning)
    project.check(os.environ, writes=writes)
    store = open_store(project, settings)
    return Opened(project=project, settings=settings, store=store)


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


def when(text: str) -> str:
    """Return the day or moment of an option in ISO 8601. Raises ArgumentTypeError."""
    try:
        back = moment(text)
    except argparse.ArgumentTypeError:
        if given := moment_of(text):
            return given
        raise argparse.ArgumentTypeError(say("terminal.no_when")) from None
    if text[:4].isdigit() and "-" in text:  # a day stays one: its end is meant, too
        return text
    return datetime.fromtimestamp(min(back, time.time()), UTC).isoformat(timespec="seconds")


def near_to(name: str, known: Sequence[str]) -> str:
    """Return which of the known names somebody may have meant, "" for none."""
    folded = {it.casefold(): it for it in known}
    near = difflib.get_close_matches(name.casefold(), folded, n=3, cutoff=0.5)
    begun = [it for it in folded if it.startswith(name.casefold())]
    return plain(", ".join(folded[it] for it in dict.fromkeys((*begun, *near))))


SILENCE_S = 1.0
_EACH_S = 0.5


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
