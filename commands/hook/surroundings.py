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


class Known(NamedTuple):
    """The file's content. log: state of the memory log when the project was read."""

    log: str = ""
    counts: Surroundings = _NOTHING

    def with_action(self, words: Collection[str]) -> "Known":
        """Return this with one more action, which has these words of the log."""
        size, counts = self.counts.actions.size, dict(self.counts.actions.counts)
        if size >= MOST_ACTIONS:
            size, counts = size // 2, {it: count // 2 for it, count in counts.items() if count > 1}
        counts.update((word, counts.get(word, 0) + 1) for word in words)
        return self._replace(counts=self.counts._replace(actions=Sample(size + 1, counts)))


def load_survey(directory: str) -> Known:
    """Return the counts in a state directory, empty ones for a lost or broken file."""
    try:
        with open(os.path.join(directory, FILE), "rb") as file:
            held = json.loads(file.read(MOST_BYTES))
        return Known(str(held["log"]), Surroundings(**{it: _sample(held[it]) for it in _PARTS}))
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return Known()


def _sample(held: Any) -> Sample:
    """Return a sample of the file. Raises ValueError, TypeError or KeyError."""
    size, counts = held
    if not isinstance(counts, dict) or not all(type(it) is int for it in (size, *counts.values())):
        raise TypeError
    if size < 0 or not all(0 <= count <= size for count in counts.values()):
        raise ValueError
    return Sample(size, counts)


def save_survey(directory: str, known: Known) -> bool:
    """Replace the file; return False where that is impossible."""
    if not directory:
        return False
    held = {"log": known.log, **{it: _listed(getattr(known.counts, it)) for it in _PARTS}}
    path = os.path.join(directory, FILE)
    beside = f"{path}.{os.getpid()}"
    with contextlib.suppress(OSError):
        os.makedirs(directory, mode=0o700, exist_ok=True)
        try:
            with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(json.dumps(held, separators=(",", ":")).encode("ascii"))
            os.replace(beside, path)
        except OSError:
            os.unlink(beside)
            raise
        return True
    return False


def _listed(sample: Sample) -> list[int | Mapping[str, int]]:
    counts = {term: count for term, count in sample.counts.items() if count}
    if len(counts) > MOST_TERMS:
        kept = sorted(counts, key=counts.__getitem__, reverse=True)[:MOST_TERMS]
        counts = {term: counts[term] for term in kept}
    return [sample.size, counts]


def look_around(directory: str, root: str, data: bytes, state: str) -> None:
    """Read the project anew if its log has changed. data, state: of the log."""
    known = load_survey(directory)
    # Noted first: no other hook then reads the project, and none does where it could not be kept.
    if known.log == state or not save_survey(directory, known._replace(log=state)):
        return
    log = MemoryLog.from_lines(split_lines(data)[-MOST_RECORDS:], cached_parse_line)
    usable = [record for record in log.records[-MOST_RECORDS:] if is_usable(record)]
    around = surroundings_of(usable, changes_in(root), _tracked(root), known.counts.actions)
    save_survey(directory, Known(state, around))


# Git. Without a repository, or in a slow one, the counts are smaller.


def _tree(root: str) -> "WorkTree":
    from pathlib import Path

    from core.git import WorkTree

    return WorkTree(Path(root), deadline_s=time.monotonic() + MOST_S)


def _tracked(root: str) -> list[str]:
    """Return at most MOST_FILES names of tracked files, evenly chosen."""
    try:
        listed = _tree(root).ask("ls-files", "-z").decode("utf-8", "replace")
    except (SentinelError, OSError):
        return []
    names = normal_form("NFC", listed).split("\0")[:-1]
    return names[:: len(names) // MOST_FILES + 1]


def changes_in(root: str) -> list[Action]:
    """Return hunks of the last commits, few of each, within bounds of bytes and time."""
    try:
        process = _tree(root).start(*_LOG)
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
    commits = [list(islice(_hunks(it), MOST_HUNKS)) for it in re.split(rb"(?m)^commit$", data)]
    return [hunk for hunks in commits for hunk in hunks[:: len(hunks) // MOST_OF_COMMIT + 1]]


def _hunks(commit: bytes) -> Iterator[Action]:
    for file in re.split(rb"(?m)^diff --git ", commit)[1:]:
        head, *hunks = re.split(rb"(?m)^@@ .*$", file)
        named = re.search(rb"(?m)^\+\+\+ b/(.+?)\t?$", head)  # not a name that git had to quote
        if not named:
            continue
        path = unicodedata.normalize("NFC", os.fsdecode(named[1]))
        for hunk in hunks:
            yield Action(paths=(path,), text=_side(hunk, b"+"), removed=_side(hunk, b"-"))


def _side(hunk: bytes, sign: bytes) -> str:
    lines = hunk[:MOST_HUNK_BYTES].split(b"\n")
    return b"\n".join(it[1:] for it in lines if it[:1] == sign).decode("utf-8", "replace")
