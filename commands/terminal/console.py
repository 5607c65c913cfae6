"""What the commands of `cli.py` share: which project they speak of, and in which language."""

import argparse
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from commands.terminal.words import word
from core.messages import Language
from core.project import Project, find_project
from core.settings import DEFAULT_THRESHOLD, Settings, read_settings
from core.store import MemoryStore

STDOUT = "-"
YES = frozenset(("y", "yes", "예", "네", "ㅛ"))  # the last is `y` on a keyboard set to Korean


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """The project, the settings and the store of one command."""

    project: Project
    settings: Settings
    store: MemoryStore

    @property
    def lang(self) -> Language:
        """The language of what is printed."""
        return self.settings.lang


def add_project(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    """The option `--project`, as `server.py` has it."""
    parser.add_argument(
        "--project", metavar="DIR", default=default, help="the project whose memory is meant"
    )


def add_threshold(parser: argparse.ArgumentParser) -> None:
    """The option `--threshold`, as the tools have it."""
    parser.add_argument(
        "--threshold",
        type=positive,
        default=DEFAULT_THRESHOLD,
        metavar="N",
        help="records above which to compact (default %(default)s)",
    )


def add_output(parser: argparse.ArgumentParser, purpose: str, *, force: bool = True) -> None:
    """The options `-o` and `--force`; `check_output` refuses the second without the first."""
    parser.add_argument("-o", "--output", type=file_name, metavar="FILE", help=purpose)
    if force:
        parser.add_argument("--force", action="store_true", help="with -o: replace a file")
    parser.set_defaults(refuse=parser.error)


def check_output(arguments: argparse.Namespace, *options: str) -> None:
    """Refuse `--force`, and these other options, where no file is written: SystemExit(2)."""
    lang = read_settings(os.environ).lang
    for option in ("--force", *options):
        if getattr(arguments, option[2:]) and arguments.output in (None, STDOUT):
            arguments.refuse(word(lang, "needs", one=option, other="-o FILE"))


def add_confirmation(parser: argparse.ArgumentParser, verb: str, done: str) -> None:
    """The options `--yes` and `--dry-run` of a command that asks; only one of them is taken."""
    options = parser.add_mutually_exclusive_group()
    options.add_argument("--yes", action="store_true", help=f"{verb} without asking")
    options.add_argument("--dry-run", action="store_true", help=f"only print what would be {done}")


def file_name(text: str) -> str:
    """The file name of an option. Raises ArgumentTypeError for an empty one."""
    if not text:
        raise argparse.ArgumentTypeError(word(read_settings(os.environ).lang, "no_name"))
    return text


def positive(text: str) -> int:
    """The number of an option. Raises ArgumentTypeError unless it is 1 or more."""
    if not re.fullmatch("0*[1-9][0-9]{0,8}", text):
        raise argparse.ArgumentTypeError("it must be a whole number of 1 or more")
    return int(text)


def open_memory(arguments: argparse.Namespace, *, writes: bool = False) -> Opened:
    """The memory that `--project`, the environment and the directory name; nothing is created.

    What was passed over on the way is said on standard error. Raises ProjectMissingError, and
    ProjectRefusedError for a command that writes where no project can be.
    """
    settings = read_settings(os.environ)
    project = find_project(arguments.project, os.environ, Path.cwd())
    for warning in (*settings.warnings, *project.warnings):
        print(warning, file=sys.stderr)
    if writes:
        project.check_writable(os.environ)
    else:
        project.check_readable()
    store = MemoryStore(
        project.log_path, lock_timeout_s=settings.lock_timeout_s, strict=settings.strict
    )
    return Opened(project=project, settings=settings, store=store)


def is_confirmed(
    arguments: argparse.Namespace,
    say: Callable[..., str],
    lang: Language,
    question: str = "ask",
    *,
    is_readable: bool = True,
) -> bool:
    """Whether a command that has shown its plan carries it out; says why not when it does not.

    `--dry-run` means no, `--yes` means yes, else a person at the terminal decides.
    say: the command's own sentences, by the keys `question`, "dry", "not_changed", "no_terminal".
    is_readable: whether standard input is free for the answer.
    """
    if arguments.dry_run or arguments.yes:
        if arguments.dry_run:
            print(say(lang, "dry"))
        return not arguments.dry_run
    answer = confirmed(say(lang, question)) if is_readable else None
    if answer is None:
        print(say(lang, "no_terminal"), file=sys.stderr)
    elif not answer:
        print(say(lang, "not_changed"))
    return bool(answer)


def confirmed(question: str) -> bool | None:
    """Whether somebody at the terminal says yes; None where nobody can see what it is about."""
    if not all(stream and stream.isatty() for stream in (sys.stdin, sys.stdout)):
        return None
    print(question, end="", flush=True)  # input() itself may put it on standard error
    try:
        answer = input()
    except EOFError:
        answer = ""
    return answer.strip().casefold() in YES
