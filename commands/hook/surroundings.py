"""Keeps for the hooks how common words of the memory log are in a project.

One small file in the project's state directory, written whole and without a lock: two hooks at once
lose a count, which does no harm. It holds only words, triggers and path anchors of the log.
"""

import contextlib
import json
import os
import re
import threading
import time
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from core.config import CONTEXT_DIRECTORY
from core.errors import SentinelError
from core.lessons.action import Action
from core.lessons.log import MemoryLog, split_lines
from core.lessons.recall import Sample, Surroundings, surroundings_of
from core.lessons.record import cached_parse_line
from core.lessons.record_text import is_usable
from core.text.plain import normal_form

if TYPE_CHECKING:
    from core.git import WorkTree

FILE = "surroundings.json"
MOST_BYTES = 1_000_000
MOST_TERMS = 8_000  # of one sample: the most frequent; those that are left out count as rare
MOST_ACTIONS = 2_000  # then the older half counts for half
# Bounds of reading a project.
MOST_COMMITS, MOST_OF_COMMIT, MOST_FILES, MOST_RECORDS, MOST_S = 60, 8, 1_000, 2_000, 0.5
MOST_LOG_BYTES, MOST_HUNKS, MOST_HUNK_BYTES = 8_000_000, 100, 20_000

_PARTS = ("changes", "actions", "names", "anchors", "touched", "triggers")
_NOTHING = Surroundings()
# Git runs no filter, converter or diff program of the repository, and renames are no changes.
_LOG = (
    *("-c", "core.bigFileThreshold=10m"),  # a larger file is no text
    *("log", "--format=tformat:commit", f"-n{MOST_COMMITS}", "--no-color", "--no-notes"),
    *("--no-show-signature", "--min-parents=1", "--max-parents=1", "--diff-filter=d"),
    *("--patch", "--unified=3", "--inter-hunk-context=0", "--diff-algorithm=myers"),
    *("--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--submodule=short"),
    *("--find-renames", "-l200", "--relative", "--src-prefix=a/", "--dst-prefix=b/"),
    *("HEAD", "--", ".", f":(exclude){CONTEXT_DIRECTORY}"),  # a record is no work on the project
)


class Survey(NamedTuple):
    """The file's content. log: state of the memory log when the project was read."""

    log: str = ""
    counts: Surroundings = _NOTHING

    def with_action(self, words: Collection[str]) -> "Survey":
        """Return the survey with one more action, which has these words of the log."""
        size, counts = self.counts.actions.size, dict(self.counts.actions.counts)
        if size >= MOST_ACTIONS:
            size //= 2
            counts = {word: count // 2 for word, count in counts.items() if count > 1}
        counts.update((word, counts.get(word, 0) + 1) for word in words)
        return self._replace(counts=self.counts._replace(actions=Sample(size + 1, counts)))


def load_survey(directory: str) -> Survey:
    """Return the counts in a state directory, empty ones for a lost or broken file."""
    try:
        with open(os.path.join(directory, FILE), "rb") as file:
            data = json.loads(file.read(MOST_BYTES))
        samples = {part: _unpack(data[part]) for part in _PARTS}
        return Survey(str(data["log"]), Surroundings(**samples))
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return Survey()


def _unpack(data: Any) -> Sample:
    """Return a sample of the file. Raises ValueError, TypeError or KeyError."""
    size, counts = data
    if not isinstance(counts, dict) or not all(type(n) is int for n in (size, *counts.values())):
        raise TypeError
    if size < 0 or not all(0 <= count <= size for count in counts.values()):
        raise ValueError
    return Sample(size, counts)


def save_survey(directory: str, survey: Survey) -> bool:
    """Replace the file; return False where that is impossible."""
    if not directory:
        return False
    data = {"log": survey.log, **{part: _pack(getattr(survey.counts, part)) for part in _PARTS}}
    path = os.path.join(directory, FILE)
    copy = f"{path}.{os.getpid()}.tmp"
    with contextlib.suppress(OSError):
        os.makedirs(directory, mode=0o700, exist_ok=True)
        try:
            with open(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(json.dumps(data, separators=(",", ":")).encode("ascii"))
            os.replace(copy, path)
        except OSError:
            os.unlink(copy)
            raise
        return True
    return False


def _pack(sample: Sample) -> list[int | Mapping[str, int]]:
    counts = {term: count for term, count in sample.counts.items() if count}
    if len(counts) > MOST_TERMS:
        terms = sorted(counts, key=counts.__getitem__, reverse=True)[:MOST_TERMS]
        counts = {term: counts[term] for term in terms}
    return [sample.size, counts]


def refresh_survey(directory: str, root: str, data: bytes, state: str) -> None:
    """Read the project anew if its log has changed. data, state: of the log."""
    survey = load_survey(directory)
    # Noted first: no other hook then reads the project, and none does where it could not be kept.
    if survey.log == state or not save_survey(directory, survey._replace(log=state)):
        return
    log = MemoryLog.from_lines(split_lines(data)[-MOST_RECORDS:], cached_parse_line)
    records = [record for record in log.records[-MOST_RECORDS:] if is_usable(record)]
    counts = surroundings_of(records, changes_in(root), _tracked_names(root), survey.counts.actions)
    save_survey(directory, Survey(state, counts))


# Git. Without a repository, or in a slow one, the counts are smaller.


def _work_tree(root: str) -> "WorkTree":
    from pathlib import Path

    from core.git import WorkTree

    return WorkTree(Path(root), deadline_s=time.monotonic() + MOST_S)


def _tracked_names(root: str) -> list[str]:
    """Return at most MOST_FILES names of tracked files, evenly chosen."""
    try:
        listing = _work_tree(root).ask("ls-files", "-z").decode("utf-8", "replace")
    except (SentinelError, OSError):
        return []
    names = normal_form("NFC", listing).split("\0")[:-1]
    return names[:: len(names) // MOST_FILES + 1]


def changes_in(root: str) -> list[Action]:
    """Return hunks of the last commits, few of each, within bounds of bytes and time."""
    try:
        process = _work_tree(root).start(*_LOG)
    except (SentinelError, OSError):
        return []
    assert process.stdin and process.stdout
    timer = threading.Timer(MOST_S, process.kill)
    timer.start()
    try:
        process.stdin.close()
        data = process.stdout.read(MOST_LOG_BYTES)
    finally:
        timer.cancel()
        process.kill()
        process.wait()
        process.stdout.close()
    commits = [list(islice(_hunks(part), MOST_HUNKS)) for part in re.split(rb"(?m)^commit$", data)]
    return [hunk for hunks in commits for hunk in hunks[:: len(hunks) // MOST_OF_COMMIT + 1]]


def _hunks(commit: bytes) -> Iterator[Action]:
    for file in re.split(rb"(?m)^diff --git ", commit)[1:]:
        head, *hunks = re.split(rb"(?m)^@@ .*$", file)
        heading = re.search(rb"(?m)^\+\+\+ b/(.+?)\t?$", head)  # not a name that git had to quote
        if not heading:
            continue
        path = unicodedata.normalize("NFC", os.fsdecode(heading[1]))
        for hunk in hunks:
            yield Action(paths=(path,), text=_lines_of(hunk, b"+"), removed=_lines_of(hunk, b"-"))


def _lines_of(hunk: bytes, sign: bytes) -> str:
    lines = hunk[:MOST_HUNK_BYTES].split(b"\n")
    return b"\n".join(line[1:] for line in lines if line[:1] == sign).decode("utf-8", "replace")
