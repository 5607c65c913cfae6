"""Gives every command its shared options, opens its memory, and asks before it writes."""

import argparse
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from commands.terminal.safe_text import complain
from commands.terminal.words import word
from core.messages import Language
from core.project import Project, find_project
from core.settings import Settings, read_settings
from core.store import MemoryStore, open_store

STDOUT = "-"
YES = frozenset(("y", "yes", "예", "네", "ㅛ"))  # ㅛ is the key `y` on a Korean keyboard


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """The project, the settings and the store that one command works with."""

    project: Project
    settings: Settings
    store: MemoryStore

    @property
    def lang(self) -> Language:
        """The language to print in."""
        return self.settings.lang


def add_project(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    """Add `--project`, as `server.py` has it."""
    parser.add_argument(
        "--project", metavar="DIR", default=default, help="the project whose memory is meant"
    )


def add_threshold(parser: argparse.ArgumentParser) -> None:
    """Add `--threshold`, as the tools have it."""
    parser.add_argument(
        "--threshold",
        type=positive,
        default=read_settings(os.environ).threshold,
        metavar="N",
        help="records above which to compact (default %(default)s, from SENTINEL_MEMORY_THRESHOLD)",
    )


def add_output(parser: argparse.ArgumentParser, purpose: str, *, force: bool = True) -> None:
    """Add `-o` and `--force`; the command calls `check_output`."""
    parser.add_argument("-o", "--output", type=file_name, metavar="FILE", help=purpose)
    if force:
        parser.add_argument("--force", action="store_true", help="with -o: replace a file")
    parser.set_defaults(refuse=parser.error)


def check_output(arguments: argparse.Namespace, *options: str) -> None:
    """Refuse `--force`, and these options, unless `-o` names a file. Raises SystemExit(2)."""
    lang = read_settings(os.environ).lang
    for option in ("--force", *options):
        if getattr(arguments, option[2:]) and arguments.output in (None, STDOUT):
            arguments.refuse(word(lang, "needs", one=option, other="-o FILE"))


def add_confirmation(parser: argparse.ArgumentParser, verb: str, done: str) -> None:
    """Add `--yes` and `--dry-run`, of which a user gives one at most; see `is_confirmed`."""
    options = parser.add_mutually_exclusive_group()
    options.add_argument("--yes", action="store_true", help=f"{verb} without asking")
    options.add_argument("--dry-run", action="store_true", help=f"only print what would be {done}")


def file_name(text: str) -> str:
    """Return the file name of an option. Raises ArgumentTypeError for an empty one."""
    if not text:
        raise argparse.ArgumentTypeError(word(read_settings(os.environ).lang, "no_name"))
    return text


def positive(text: str) -> int:
    """Return the number of an option. Raises ArgumentTypeError unless it is 1 or more."""
    if not re.fullmatch("0*[1-9][0-9]{0,8}", text):
        raise argparse.ArgumentTypeError("it must be a whole number of 1 or more")
    return int(text)


def open_memory(arguments: argparse.Namespace, *, writes: bool = False) -> Opened:
    """Open the memory that `--project`, the environment or the directory names; create nothing.

    Prints what it ignored on the way. Raises ProjectMissingError, and ProjectRefusedError for a
    command that writes where no project can be.
    """
    settings = read_settings(os.environ)
    project = find_project(arguments.project, os.environ, Path.cwd())
    for warning in (*settings.warnings, *project.warnings):
        complain(warning)
    if writes:
        project.check_writable(os.environ)
    else:
        project.check_readable()
    return Opened(project=project, settings=settings, store=open_store(project, settings))


def is_confirmed(
    arguments: argparse.Namespace,
    say: Callable[..., str],
    lang: Language,
    question: str,
    *,
    is_readable: bool = True,
) -> bool:
    """Return whether a command that has printed its plan carries it out; print why not.

    `--dry-run` means no, `--yes` means yes, otherwise a person at the terminal decides.
    say: the command's own sentences, by the keys "dry", "not_changed" and "no_terminal".
    is_readable: whether standard input is free for the answer.
    """
    if arguments.dry_run or arguments.yes:
        if arguments.dry_run:
            print(say(lang, "dry"))
        return not arguments.dry_run
    answer = _answer(question) if is_readable else None
    if answer is None:
        complain(say(lang, "no_terminal"))
    elif not answer:
        print(say(lang, "not_changed"))
    return bool(answer)


def _answer(question: str) -> bool | None:
    """Ask at the terminal; return None where nobody can see the question or answer it."""
    if not all(stream and stream.isatty() for stream in (sys.stdin, sys.stdout)):
        return None
    print(question, end="", flush=True)  # input() may use standard error
    try:
        answer = input()
    except EOFError:
        answer = ""
    return answer.strip().casefold() in YES
