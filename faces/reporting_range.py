"""The two versions of a memory log that a report compares, and what came and went between them.

Nothing is written.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from core.health import UTF_16_MARKS, is_utf_16
from core.lines import BOM
from core.memory_log import MemoryLog
from core.record import Record, parse_line
from core.store import MemoryStore
from faces.git_reading import Commit, Repository
from faces.old_logs import OldLogs
from faces.scanning import Found, fresh_lines, in_lines

INDEX, WORK_TREE = "index", "work tree"

_HEAD = "HEAD"


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One version of the log.

    name: the id of the commit, INDEX or WORK_TREE, "" before the first commit. is_wide: the file
    is UTF-16, which no reader takes; the log is what it would be as UTF-8.
    """

    name: str
    data: bytes
    is_there: bool
    is_wide: bool
    log: MemoryLog

    @classmethod
    def of(cls, name: str, data: bytes | None) -> "Side":
        """The side with these bytes; None for a log that is not there."""
        held = data or b""
        is_wide = held.startswith(UTF_16_MARKS) and is_utf_16(held)
        read = held.decode("utf-16").encode("utf-8") if is_wide else held
        return cls(
            name=name,
            data=held,
            is_there=data is not None,
            is_wide=is_wide,
            log=MemoryLog.parse(read.removeprefix(BOM)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """What a report compares.

    path: the log from the top of the work tree. fresh, kept: the numbered lines of `after` that
    `before` does not have, and those that it has. passing: secrets in lines that neither has, each
    with the commit that brought it. passed: by token, the records of such lines. is_cut: whether
    older commits are missing here.
    """

    path: str
    before: Side
    after: Side
    fresh: list[tuple[int, bytes]]
    kept: list[tuple[int, bytes]]
    passing: list[Found] = field(default_factory=list)
    passed: dict[str, Record] = field(default_factory=dict)
    is_cut: bool = False


def read_range(store: MemoryStore, wanted: str | None, *, staged: bool) -> Range:
    """The range that `wanted` names (None: from HEAD), to the index if `staged`.

    Raises HistoryError, and LogReadError for a log that cannot be read.
    """
    repository = Repository(Path(os.path.realpath(store.path)), may_be_empty=True)
    base, head = (_HEAD, "") if wanted is None else _ends(wanted)
    with OldLogs(repository) as logs:
        if head:
            return _between(
                repository, logs, repository.commit_of(base), repository.commit_of(head)
            )
        if wanted is None and not repository.has_head:
            before = Side.of("", None)
        else:
            before = _at(repository.commit_of(base), repository, logs)
        after = _staged(repository, logs) if staged else _as_it_stands(store)
    fresh, kept = _parted(after, _lines_of(before.data))
    return Range(
        path=repository.path,
        before=before,
        after=after,
        fresh=fresh,
        kept=kept,
        is_cut=repository.is_cut,
    )


def _ends(wanted: str) -> tuple[str, str]:
    """The revisions of a range; the second is "" where only one is named."""
    for dots in ("...", ".."):
        base, found, head = wanted.partition(dots)
        if found:
            return base or _HEAD, head or _HEAD
    return wanted, ""


def _between(repository: Repository, logs: OldLogs, first: str, last: str) -> Range:
    """What one commit brings since it parted from another, and what it took back on the way."""
    parted = repository.merge_base(first, last)
    before, after = _at(parted, repository, logs), _at(last, repository, logs)
    known = _lines_of(before.data)
    fresh, kept = _parted(after, known)
    passing: list[Found] = []
    passed: dict[str, Record] = {}
    commits = repository.commits_between(first, last)
    paths = {change.path for commit in commits for change in commit.changes} - {repository.path}
    for path in sorted(paths):  # the log was moved on the way
        known |= _lines_of(_content(repository.blob_in(parted, path), logs) or b"")
    for commit in reversed(commits):
        for path, data in _contents(commit, logs):
            lines = fresh_lines(data, known)
            passing += in_lines(path, lines, commit)
            records = (parse_line(content) for _, content in lines)
            passed.update((record.token, record) for record in records if record)
    return Range(
        path=repository.path,
        before=before,
        after=after,
        fresh=fresh,
        kept=kept,
        passing=passing,
        passed=passed,
        is_cut=repository.is_cut,
    )


def _contents(commit: Commit, logs: OldLogs) -> Iterator[tuple[str, bytes]]:
    for change in commit.changes:
        data = _content(change.after, logs)
        if data is not None:
            yield change.path, data


def _at(commit: str, repository: Repository, logs: OldLogs) -> Side:
    return Side.of(commit, _content(repository.blob_in(commit), logs))


def _staged(repository: Repository, logs: OldLogs) -> Side:
    return Side.of(INDEX, _content(repository.blob_in_index(), logs))


def _as_it_stands(store: MemoryStore) -> Side:
    data = store.read_bytes()
    return Side.of(WORK_TREE, data if data or os.path.lexists(store.path) else None)


def _content(blob: str, logs: OldLogs) -> bytes | None:
    return logs.content(blob) if blob else None


def _lines_of(data: bytes) -> set[bytes]:
    known: set[bytes] = set()
    fresh_lines(data, known)
    return known


def _parted(
    after: Side, known: set[bytes]
) -> tuple[list[tuple[int, bytes]], list[tuple[int, bytes]]]:
    """The lines of `after` that are not known, and those that are; all are known then."""
    everything = fresh_lines(after.data, set())
    fresh = fresh_lines(after.data, known)
    new = {number for number, _ in fresh}
    return fresh, [line for line in everything if line[0] not in new]
