"""Keeps for the hooks what is common in a project: counts of words that its memory log has, too.

One small file in the state directory of the project, written whole, without a lock: when two hooks
write at once, a count is lost, which does no harm. It holds no text but single words, triggers and
path anchors of the log itself. One that is lost or broken is only an empty one.
"""

import contextlib
import json
import os
import re
import threading
import time
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
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
# What is read of a project, and for how long.
MOST_COMMITS, MOST_OF_COMMIT, MOST_FILES, MOST_RECORDS, MOST_S = 60, 8, 1_000, 2_000, 0.5
MOST_LOG_BYTES, MOST_HUNKS, MOST_LINE_BYTES, MOST_HUNK_LINES = 8_000_000, 100, 4_000, 400

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
# Compiled where they are used: most hooks read no commits.
_FILE, _HUNK = b"+++ ", rb"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@"
_ESCAPE = rb'\\([0-7]{3}|[abtnvfr"\\])'
_ESCAPED = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))


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


def _sample(held: Any) -> Sample:
    """Return a sample of the file. Raises ValueError, TypeError or KeyError for anything else."""
    size, counts = held
    if not isinstance(counts, dict) or not all(type(it) is int for it in (size, *counts.values())):
        raise TypeError
    if size < 0 or not all(0 <= count <= size for count in counts.values()):
        raise ValueError
    return Sample(size, counts)


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


def _listed(sample: Sample) -> list[int | Mapping[str, int]]:
    counts = {term: count for term, count in sample.counts.items() if count}
    if len(counts) > MOST_TERMS:
        kept = sorted(counts, key=counts.__getitem__, reverse=True)[:MOST_TERMS]
        counts = {term: counts[term] for term in kept}
    return [sample.size, counts]


def look_around(directory: str, root: str, data: bytes, state: str) -> None:
    """Read the project anew when its memory log has changed. data, state: of that log."""
    known = load(directory)
    # Noted first: no other hook then reads the project, and none does where it could not be kept.
    if known.log == state or not save(directory, known._replace(log=state)):
        return
    log = MemoryLog.of_lines(split_lines(data)[-MOST_RECORDS:], cached_parse_line)
    usable = [record for record in log.records[-MOST_RECORDS:] if is_usable(record)]
    around = surroundings_of(usable, changes_in(root), _tracked(root), known.around.actions)
    save(directory, Known(state, around))


# What git tells of a project: without a repository, and in one that takes too long, less.


def _tree(root: str) -> "WorkTree":
    from pathlib import Path

    from core.git import WorkTree

    return WorkTree(Path(root), deadline_s=time.monotonic() + MOST_S)


def _tracked(root: str) -> list[str]:
    """Return the names of files that git knows, at most MOST_FILES of them, evenly chosen."""
    try:
        listed = _tree(root).ask("ls-files", "-z").decode("utf-8", "replace")
    except (SentinelError, OSError):
        return []
    names = normal_form("NFC", listed).split("\0")[:-1]
    return names[:: len(names) // MOST_FILES + 1]


def changes_in(root: str) -> list[Action]:
    """Return changes of the last commits, of each not many, within bounds of bytes and time."""
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
    return [hunk for hunks in _commits(data) for hunk in hunks[:: len(hunks) // MOST_OF_COMMIT + 1]]


def _commits(data: bytes) -> Iterator[list[Action]]:
    """Yield the hunks of each commit of a log, the last one too, where git was ended amid it."""
    hunks, path, lines = list[Action](), "", list[bytes]()
    before = after = 0

    def close() -> None:
        if path and lines and len(hunks) < MOST_HUNKS:
            hunks.append(Action(paths=(path,), text=_side(lines, b"+"), removed=_side(lines, b"-")))
        lines.clear()

    for line in data.split(b"\n"):
        sign = line[:1]
        if before > 0 or after > 0:
            before -= sign not in (b"+", b"\\")  # that one says: no newline at the end
            after -= sign not in (b"-", b"\\")
            if len(lines) < MOST_HUNK_LINES:
                lines.append(line[:MOST_LINE_BYTES])
            continue
        close()
        if line == b"commit":
            yield hunks
            hunks, path = [], ""
        elif line.startswith(_FILE):
            path = _path(line)
        elif found := re.match(_HUNK, line):
            before, after = (1 if it is None else int(it) for it in found.groups())
    close()
    yield hunks


def _side(lines: Sequence[bytes], sign: bytes) -> str:
    side = [line[1:] for line in lines if line[:1] == sign]
    return b"\n".join(side).decode("utf-8", "replace")


def _path(line: bytes) -> str:
    r"""Return the path of `+++ b/path`; git ends one with a blank in it with a tab, and quotes."""
    name = line[len(_FILE) :].removesuffix(b"\t")
    if name.startswith(b'"'):
        name = re.sub(_ESCAPE, _unescaped, name[1:-1])
    if not name.startswith(b"b/"):
        return ""
    return unicodedata.normalize("NFC", os.fsdecode(name[2:]))


def _unescaped(found: re.Match[bytes]) -> bytes:
    code = found[1]
    return bytes([int(code, 8) & 255]) if len(code) == 3 else bytes([_ESCAPED[code[0]]])
