"""Answers whether the memory helps: what it holds and costs, what came back, what hooks showed.

It only reads: the log, the notes that hooks of this machine keep outside the project, and git.
"""

import argparse
import os
import time
from collections.abc import Sequence
from pathlib import Path

from commands.hook.journal import Session, sessions_in
from commands.stats.data import as_json
from commands.stats.effect import (
    MOST_GIT_S,
    Effect,
    asking,
    changes_of,
    count_effect,
    units_of,
)
from commands.stats.figures import count
from commands.stats.fragments.figures import FragmentStats, count_fragments, fragments_data
from commands.stats.fragments.lines import fragment_lines
from commands.stats.fragments.words import word as fragment_word
from commands.stats.lines import lines_of
from commands.stats.parts import Page
from commands.stats.replay import COMMITS, MOST_S, replay
from commands.stats.replay_lines import replay_data, replay_lines
from commands.terminal.console import (
    Opened,
    add_examples,
    add_json,
    add_threshold,
    explain,
    open_memory,
    positive,
)
from commands.terminal.progress import progress
from commands.terminal.safe_text import plain, plain_json, warn
from commands.terminal.screen import screen_here
from commands.terminal.words import word as common_word
from core.errors import SentinelError
from core.lessons.answers.frame import Frame
from core.lessons.git.errors import HistoryError
from core.lessons.git.project.history import History
from core.lessons.log import MemoryLog
from core.lessons.record import Record
from core.parser import add_project, language_here
from core.project import state_directory

FLOODS = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py stats`."""
    add_project(parser)
    add_json(parser)
    add_threshold(parser)
    parser.add_argument(
        "--replay",
        nargs="?",
        type=positive,
        const=COMMITS,
        metavar="N",
        help=explain("stats_replay", commits=COMMITS),
    )
    seconds = explain("stats_seconds", seconds=MOST_S)
    parser.add_argument("--seconds", type=positive, metavar="S", help=seconds)
    parser.add_argument("--strict", action="store_true", help=explain("stats_strict"))
    parser.set_defaults(refuse=parser.error)
    add_examples(parser, "stats", "stats --replay 100")


def run(arguments: argparse.Namespace) -> int:
    """Count and print; return 0. Raises SentinelError when the log cannot be read."""
    for option in ("seconds", "strict"):
        if getattr(arguments, option) and not arguments.replay:
            lang = language_here()
            arguments.refuse(common_word(lang, "needs", one=f"--{option}", other="--replay"))
    opened = open_memory(arguments)
    if arguments.replay:
        return _replayed(opened, arguments)
    root = str(opened.project.root)
    frame = Frame(project=root, settings=opened.settings, own_threshold=arguments.threshold)
    sessions = list(sessions_in(state_directory(root, os.environ)))
    data, now_s = opened.store.read_bytes(), time.time()
    log = MemoryLog.parse(data)
    with progress(opened.lang):
        effect = _effect(opened.project.root, log.records, sessions, now_s)
    stats = count(log, len(data), sessions, effect, frame, now_s=now_s)
    fragments = _fragments(opened)
    if arguments.json:
        more = {"fragments": fragments_data(fragments)} if fragments else {}
        print(plain_json(as_json(stats) | more))
        return 0
    lines, page = lines_of(stats, screen_here()), Page(opened.lang, screen_here())
    if fragments:
        lines += ["", *page.titled(fragment_lines(fragments, page))]
    print("\n".join(lines))
    return 0


def _fragments(opened: Opened) -> FragmentStats | None:
    """Count the user's fragments; what keeps them from being read is said."""
    try:
        return count_fragments(opened.settings)
    except SentinelError as error:
        reason = plain(error.text(opened.lang))
        warn(fragment_word(opened.lang, "unread", reason=reason))
        return None


def _effect(
    root: Path, records: Sequence[Record], sessions: Sequence[Session], now_s: float
) -> Effect:
    """Count what became of showings; git is only asked when it may tell something."""
    units = units_of(records, sessions, now_s=now_s)
    told = asking(units)
    if not told:
        return count_effect(units, [], now_s=now_s, is_whole=True)
    since = f"--max-age={min(unit.at_s for unit in told)}"
    try:
        deadline_s = time.monotonic() + MOST_GIT_S
        history = History(root, since, "--reverse", deadline_s=deadline_s)
        changes = changes_of(history, told)
    except HistoryError:  # without a repository no commit tells anything
        return count_effect(units, [], now_s=now_s, is_whole=True)
    return count_effect(units, changes, now_s=now_s, is_whole=history.is_whole)


def _replayed(opened: Opened, arguments: argparse.Namespace) -> int:
    """Replay and print; with `--strict` return 1 if a lesson is shown too often."""
    root, seconds = opened.project.root, arguments.seconds or MOST_S
    data = opened.store.read_bytes()
    with progress(opened.lang):
        found = replay(root, data, commits=arguments.replay, most_s=seconds)
    if arguments.json:
        print(plain_json(replay_data(found, str(root))))
    else:
        page = Page(opened.lang, screen_here())
        print("\n".join(replay_lines(found, str(root), page, seconds=seconds)))
    return FLOODS if arguments.strict and found.flooding else 0
