"""What the commands of `cli.py` share: which project they speak of, and in which language."""

import argparse
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from core.messages import Language
from core.project import Project, find_project
from core.settings import DEFAULT_THRESHOLD, Settings, read_settings
from core.store import MemoryStore

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
