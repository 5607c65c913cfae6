"""Keeps for the hooks what is common in a project: counts of words that its memory log has, too.

One small file in the state directory of the project, written whole, without a lock: when two hooks
write at once, a count is lost, which does no harm. It holds no text but single words, triggers and
path anchors of the log itself. One that is lost or broken is only an empty one.
"""

import contextlib
import json
import os
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from core.errors import SentinelError
from core.lessons.action import Action
from core.lessons.log import MemoryLog, split_lines
from core.lessons.recall import Sample, Surroundings, surroundings_of
from core.lessons.record import Record, cached_parse_line
from core.lessons.record_text import is_usable
from core.text.plain import normal_form

FILE = "surroundings.json"
MOST_BYTES = 1_000_000
MOST_TERMS = 8_000  # of one sample: the most frequent; those that are left out count as rare
MOST_ACTIONS = 2_000  # then the older half counts for half
# What is read of a project, and for how long.
MOST_COMMITS, MOST_OF_COMMIT, MOST_FILES, MOST_RECORDS, MOST_S = 60, 8, 1_000, 2_000, 0.5

_PARTS = ("changes", "actions", "names", "anchors", "touched", "triggers")
_NOTHING = Surroundings()


class Known(NamedTuple):
    """What the file holds. log: the state of the memory log for which the project was read."""

    log: str = ""
    around: Surroundings = _NOTHING

    def with_action(self, words: Collection[str]) -> "Known":
        """Return this with one more action, which has these words of the log."""
        size, counts = self.around.actions.size, dict(self.around.actions.counts)
        if size >= MOST_ACTIONS:
            size, counts = size // 2, {it: count // 2 for it, count in counts.items() if count > 1}
        counts.update((word, counts.get(word, 0) + 1) for word in words)
        return self._replace(around=self.around._replace(actions=Sample(size + 1, counts)))


def load(directory: str) -> Known:
    """Return what is known of the project with this state directory."""
    try:
        with open(os.path.join(directory, FILE), "rb") as file:
            held = json.loads(file.read(MOST_BYTES))
        return Known(str(held["log"]), Surroundings(**{it: _sample(held[it]) for it in _PARTS}))
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return Known()


def save(directory: str, known: Known) -> bool:
    """Replace the file; False where that is impossible: the next hook then knows less."""
    if not directory:
        return False
    held = {"log": known.log, **{it: _listed(getattr(known.around, it)) for it in _PARTS}}
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


def look_around(directory: str, root: str, data: bytes, state: str) -> None:
    """Read the project anew when its memory log has changed. data, state: of that log."""
    known = load(directory)
    if known.log == state:
        return
    # Noted first: no other hook then reads the project, and none does where it could not be kept.
    if save(directory, known._replace(log=state)):
        log = MemoryLog.of_lines(split_lines(data)[-MOST_RECORDS:], cached_parse_line)
        save(directory, read_project(root, log.records, state, known))


def read_project(root: str, records: Sequence[Record], state: str, known: Known) -> Known:
    """Return what is known once the history and the files of the project have been read anew.

    records, state: of the memory log whose words count. Without a repository, and in one that takes
    too long, less is known.
    """
    usable = [record for record in records[-MOST_RECORDS:] if is_usable(record)]
    around = surroundings_of(usable, list(_changes(root)), _tracked(root), known.around.actions)
    return Known(state, around)


def _changes(root: str) -> Iterator[Action]:
    """Yield changes of the last commits, of each not many."""
    from pathlib import Path

    from commands.hook.commits import commits_of

    with contextlib.suppress(SentinelError, OSError):
        until_s = time.monotonic() + MOST_S
        for commit in commits_of(Path(root), f"-n{MOST_COMMITS}", deadline_s=until_s):
            for hunk in commit.hunks[:: len(commit.hunks) // MOST_OF_COMMIT + 1]:
                yield Action(paths=(hunk.path,), text=hunk.added, removed=hunk.removed)


def _tracked(root: str) -> list[str]:
    """Return the names of files that git knows, at most MOST_FILES of them, evenly chosen."""
    from pathlib import Path

    from core.git import WorkTree

    try:
        tree = WorkTree(Path(root), deadline_s=time.monotonic() + MOST_S)
        listed = tree.ask("ls-files", "-z").decode("utf-8", "replace")
    except (SentinelError, OSError):
        return []
    names = normal_form("NFC", listed).split("\0")[:-1]
    return names[:: len(names) // MOST_FILES + 1]


def _sample(held: Any) -> Sample:
    """Return a sample of the file. Raises ValueError, TypeError or KeyError for anything else."""
    size, counts = held
    if not isinstance(counts, dict) or not all(type(it) is int for it in (size, *counts.values())):
        raise TypeError
    if size < 0 or not all(0 <= count <= size for count in counts.values()):
        raise ValueError
    return Sample(size, counts)


def _listed(sample: Sample) -> list[int | Mapping[str, int]]:
    counts = {term: count for term, count in sample.counts.items() if count}
    if len(counts) > MOST_TERMS:
        kept = sorted(counts, key=counts.__getitem__, reverse=True)[:MOST_TERMS]
        counts = {term: counts[term] for term in kept}
    return [sample.size, counts]
