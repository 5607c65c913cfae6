"""Answers whether the memory helps: what it holds and costs, what came back, what hooks showed.

It only reads: the log, the notes that hooks of this machine keep outside the project, and git.
"""

import argparse
import os
import time
from collections.abc import Sequence
from pathlib import Path

from commands.hook.journal import Session, sessions_in
from commands.rooms.choice import FRAGMENTS, LESSONS, SESSIONS, add_room
from commands.stats.data import as_json
from commands.stats.effect import (
    MOST_GIT_S,
    Effect,
    asking,
    changes_of,
    count_effect,
    units_of,
)
from commands.stats.figures import Stats, count
from commands.stats.fragments.figures import FragmentStats, count_fragments, fragments_data
from commands.stats.fragments.lines import fragment_lines
from commands.stats.fragments.words import word as fragment_word
from commands.stats.lines import lines_of
from commands.stats.parts import Page
from commands.stats.replay import COMMITS, MOST_S, replay
from commands.stats.replay_lines import replay_data, replay_lines
from commands.stats.sessions.figures import SessionStats, count_sessions, sessions_data
from commands.stats.sessions.lines import room_lines, session_lines
from commands.stats.sessions.words import word as session_word
from commands.terminal.console import (
    Opened,
    add_examples,
    add_json,
    add_threshold,
    explain,
    open_memory,
    positive,
)
from commands.terminal.printing import print_lines
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
    add_room(parser)
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
    add_examples(parser, "stats --replay 100", "stats --room sessions")


def run(arguments: argparse.Namespace) -> int:
    """Count and print; return 0. Raises SentinelError when the log cannot be read."""
    for option in ("seconds", "strict"):
        if getattr(arguments, option) and not arguments.replay:
            lang = language_here()
            arguments.refuse(common_word(lang, "needs", one=f"--{option}", other="--replay"))
    if arguments.replay and arguments.room not in (None, LESSONS):
        facts = {"one": "--replay", "other": f"--room {LESSONS}"}
        arguments.refuse(common_word(language_here(), "needs", **facts))
    opened = open_memory(arguments)
    if arguments.replay:
        return _replayed(opened, arguments)
    sessions, fragments = _beside(opened, arguments.room)
    data: dict[str, object] = {
        **({SESSIONS: sessions_data(sessions)} if sessions else {}),
        **({FRAGMENTS: fragments_data(fragments)} if fragments else {}),
    }
    screen, page = screen_here(), Page(opened.lang, screen_here())
    lines = list[str]()
    if arguments.room in (None, LESSONS):
        stats = _of_log(opened, arguments)
        data = as_json(stats) | data
        lines = lines_of(stats, screen, room_lines(stats, sessions, fragments, page))
    sections = [session_lines(sessions, page)] if sessions else []
    sections += [fragment_lines(fragments, page)] if fragments else []
    lines += [line for section in sections for line in ("", *page.titled(section))]
    if arguments.json:
        print(plain_json(data))
    elif lines:
        print("\n".join(lines if lines[0] else lines[1:]))
    else:
        print_lines(_empty_lines(opened, arguments.room))
    return 0


def _of_log(opened: Opened, arguments: argparse.Namespace) -> Stats:
    """Count what the log holds, and what hooks showed of it."""
    root = str(opened.project.root)
    frame = Frame(project=root, settings=opened.settings, own_threshold=arguments.threshold)
    sessions = list(sessions_in(state_directory(root, os.environ)))
    data, now_s = opened.store.read_bytes(), time.time()
    log = MemoryLog.parse(data)
    with progress(opened.lang):
        effect = _effect(opened.project.root, log.records, sessions, now_s)
    return count(log, len(data), sessions, effect, frame, now_s=now_s)


def _beside(opened: Opened, room: str | None) -> tuple[SessionStats | None, FragmentStats | None]:
    """Count the other rooms that are meant; what keeps one from being read is said."""
    sessions = fragments = None
    if room in (None, SESSIONS):
        try:
            sessions = count_sessions(opened.project.root, opened.settings)
        except SentinelError as error:
            warn(session_word(opened.lang, "unread", reason=plain(error.text(opened.lang))))
    if room in (None, FRAGMENTS):
        try:
            fragments = count_fragments(opened.settings)
        except SentinelError as error:
            warn(fragment_word(opened.lang, "unread", reason=plain(error.text(opened.lang))))
    return sessions, fragments


def _empty_lines(opened: Opened, room: str) -> list[str]:
    """Say what a room is that holds nothing."""
    if room == SESSIONS:
        from commands.sessions.room import empty_lines
    else:
        from commands.fragments.room import empty_lines
    return empty_lines(opened.lang)


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
