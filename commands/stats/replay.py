"""Plays the hook of an action over the commits of the project: what would it have shown, and when?

A commit stands for a session and each of its hunks for an edit. No label is needed, so what this
counts is how often a hook speaks, not how often it is right.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from commands.clients.events import MOST_TEXT_CHARS, read_moment
from commands.hook.surroundings import Known, read_project
from commands.stats.intervals import Share
from core.lessons.answers.fitting import is_harmless
from core.lessons.git.project.history import History, Hunk
from core.lessons.lines import split_lines
from core.lessons.log import MemoryLog
from core.lessons.recall.for_action import choose
from core.lessons.recall.reading import MOST_READ, Action, AtHand, log_at_hand
from core.lessons.record import Record

COMMITS, MOST_S = 200, 30
FLOODING = 0.05

Recalled = Callable[[Hunk], Sequence[Record]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What a hook would have shown over some commits.

    lessons: the records that a hook may show. times: for each, the commits at which it would have
    been shown. spoke_at: the hunks. since_s: when the oldest commit was made, None without any.
    is_whole: whether all commits that were asked for were read in time.
    """

    lessons: Sequence[Record]
    times: Sequence[int]
    commits: Share
    hunks: Share
    since_s: int | None
    is_whole: bool

    @property
    def reach(self) -> Share:
        """The lessons that were shown at least once."""
        return Share(sum(map(bool, self.times)), len(self.lessons))

    @property
    def shown(self) -> list[tuple[Record, Share]]:
        """The lessons that were shown and their share of commits, most often first."""
        pairs = zip(self.lessons, self.times, strict=True)
        found = [(record, Share(times, self.commits.of)) for record, times in pairs if times]
        return sorted(found, key=lambda it: it[1].count, reverse=True)

    @property
    def never(self) -> list[Record]:
        """The lessons that no commit would have shown."""
        return [it for it, times in zip(self.lessons, self.times, strict=True) if not times]

    @property
    def flooding(self) -> list[tuple[Record, Share]]:
        """Those that are certainly shown at more than one commit in twenty; of few commits none."""
        return [it for it in self.shown if it[1].is_enough and it[1].interval[0] > FLOODING]


def replay(project: Path, data: bytes, *, commits: int, most_s: float) -> Replay:
    """Play the hook over the last commits, for at most so many seconds. data: the log.

    Raises HistoryError where there is no repository.
    """
    deadline_s = time.monotonic() + most_s
    history = History(project, f"--max-count={commits}", deadline_s=deadline_s)
    log = MemoryLog.parse(data)
    lessons = [record for record in log.records if is_harmless(record)]
    return _counted(history, lessons, _recalling(str(project), log, data), deadline_s)


def _recalling(root: str, log: MemoryLog, data: bytes) -> Recalled:
    """Return what finds the records of a log that a hook would show at a hunk.

    It knows the project as a hook does today, and comes to know the hunks one by one.
    """
    is_short = len(split_lines(data)) <= MOST_READ
    whole = AtHand(log.records, log.count, {}) if is_short else None
    known = read_project(root, log.records, "", Known())

    def recalled(hunk: Hunk) -> Sequence[Record]:
        nonlocal known
        action = _action(hunk)
        at_hand = whole or log_at_hand(action, data)
        choice = choose(action, *at_hand, surroundings=known.around)
        known = known.with_action(choice.words)
        return choice.records

    return recalled


def _action(hunk: Hunk) -> Action:
    """Return what a hook reads when a client makes this change: Claude Code's Edit or Write."""
    given = {"file_path": hunk.path, "old_string": hunk.old, "new_string": hunk.new}
    if hunk.is_file:
        given = {"file_path": hunk.path, "content": hunk.new}
    name = "Write" if hunk.is_file else "Edit"
    payload = {"tool_name": name, "tool_input": given}
    moment = read_moment("claude-code", "before-action", payload)
    return Action(paths=moment.paths, command=moment.command, text=moment.text[:MOST_TEXT_CHARS])


def _counted(
    history: History, lessons: Sequence[Record], recalled: Recalled, deadline_s: float
) -> Replay:
    times = Counter[str]()
    commits = hunks = spoke_commits = spoke_hunks = 0
    since_s, is_late = None, False
    for commit in history:
        found = _session(commit.hunks, recalled, deadline_s)
        if found is None:
            is_late = True
            break
        if not commit.hunks:  # only files that are no text
            continue
        speaking, shown = found
        commits, hunks = commits + 1, hunks + len(commit.hunks)
        spoke_commits, spoke_hunks = spoke_commits + bool(speaking), spoke_hunks + speaking
        times.update(shown)
        since_s = commit.at_s
    return Replay(
        lessons=lessons,
        times=[times[record.id] for record in lessons],
        commits=Share(spoke_commits, commits),
        hunks=Share(spoke_hunks, hunks),
        since_s=since_s,
        is_whole=history.is_whole and not is_late,
    )


def _session(
    hunks: Iterable[Hunk], recalled: Recalled, deadline_s: float
) -> tuple[int, set[str]] | None:
    """Return at how many hunks a hook speaks, and the ids of what it shows; None when too late."""
    speaking, shown = 0, set[str]()
    for hunk in hunks:
        if time.monotonic() > deadline_s:
            return None
        fresh = {record.id for record in recalled(hunk)} - shown
        speaking += bool(fresh)
        shown |= fresh
    return speaking, shown
