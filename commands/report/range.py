"""The two versions of a memory log that a report compares, and what came and went between them.

Nothing is written.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from commands.scan.findings import Found, fresh_lines, in_lines
from core.lessons.git.commits import Commit, Commits
from core.lessons.git.old_logs import OldLogs
from core.lessons.git.repository import Repository
from core.lessons.lines import BOM, is_utf_16
from core.lessons.log import MemoryLog
from core.lessons.record import Record, parse_line
from core.store import MemoryStore

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
        wide = is_utf_16(held)
        read = held.decode("utf-16").encode("utf-8") if wide else held
        return cls(
            name=name,
            data=held,
            is_there=data is not None,
            is_wide=wide,
            log=MemoryLog.parse(read.removeprefix(BOM)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """What a report compares.

    path: the log from the top of the work tree. fresh, kept: the numbered lines of `after` that
    `before` does not have, and those that it has. passing: secrets in lines that neither has, each
    with the commit that brought it. passed: by token, the records of such lines. is_cut: whether
    older commits are missing here. link: the path of the log, where it is a symbolic link since the
    range that it was not before, or names another file: whoever can have any file in the repository
    would have it read as the memory.
    """

    path: str
    before: Side
    after: Side
    fresh: list[tuple[int, bytes]]
    kept: list[tuple[int, bytes]]
    passing: list[Found] = field(default_factory=list)
    passed: dict[str, Record] = field(default_factory=dict)
    link: str = ""
    is_cut: bool = False


def read_range(store: MemoryStore, wanted: str | None, *, staged: bool) -> Range:
    """The range that `wanted` names (None: from HEAD), to the index if `staged`.

    Raises HistoryError, and LogReadError for a log that cannot be read.
    """
    repository = Repository(Path(os.path.realpath(store.path)), may_be_empty=True)
    base, head = (_HEAD, "") if wanted is None else _ends(wanted)
    with OldLogs(repository) as logs:
        reading = _Reading(store, repository, logs)
        if head:
            return reading.between(repository.commit_of(base), repository.commit_of(head))
        is_first = wanted is None and not repository.has_head
        return reading.since("" if is_first else repository.commit_of(base), staged=staged)


def _ends(wanted: str) -> tuple[str, str]:
    """The revisions of a range; the second is "" where only one is named.

    Dots alone are no range: two variables that nobody has set would make one without any change.
    """
    for dots in ("...", ".."):
        base, found, head = wanted.partition(dots)
        if found:
            return (base or _HEAD, head or _HEAD) if base or head else (wanted, "")
    return wanted, ""


class _Reading:
    """What is read of one repository for one range."""

    def __init__(self, store: MemoryStore, repository: Repository, logs: OldLogs) -> None:
        self._store, self._repository, self._logs = store, repository, logs
        self._own = repository.own_path(store.path)

    def between(self, first: str, last: str) -> Range:
        """What one commit brings since it parted from another, and what it took back on the way."""
        repository = self._repository
        parted = repository.merge_base(first, last)
        link = self._new_link(parted, self._links_in(last))
        before, after = self._before(parted, link), self._at(last)
        known = _lines_of(before.data)
        fresh, kept = _parted(after, known)
        passing: list[Found] = []
        passed: dict[str, Record] = {}
        commits = Commits(repository).between(first, last)
        paths = {change.path for commit in commits for change in commit.changes}
        for path in sorted(paths - {repository.path}):  # the log was moved on the way
            known |= _lines_of(self._content(repository.blob_in(parted, path)) or b"")
        for commit in reversed(commits):
            for path, data in self._contents(commit):
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
            link=link,
            is_cut=repository.is_cut,
        )

    def since(self, commit: str, *, staged: bool) -> Range:
        """What stands there or is staged, and a commit did not have; "" for nothing before."""
        after = self._staged() if staged else self._as_it_stands()
        links = self._links_in("") if staged else self._links_here()
        link = self._new_link(commit, links)
        before = self._before(commit, link)
        fresh, kept = _parted(after, _lines_of(before.data))
        return Range(
            path=self._repository.path,
            before=before,
            after=after,
            fresh=fresh,
            kept=kept,
            link=link,
            is_cut=self._repository.is_cut,
        )

    def _before(self, commit: str, link: str) -> Side:
        """The older version; where a link is new, what stood in its place is what readers had."""
        if not commit:
            return Side.of("", None)
        return Side.of(commit, self._content(self._repository.blob_in(commit, link)))

    def _at(self, commit: str) -> Side:
        return Side.of(commit, self._content(self._repository.blob_in(commit)))

    def _staged(self) -> Side:
        return Side.of(INDEX, self._content(self._repository.blob_in("")))

    def _as_it_stands(self) -> Side:
        data = self._store.read_bytes()
        there = data or os.path.lexists(self._store.path)
        return Side.of(WORK_TREE, data if there else None)

    def _new_link(self, before: str, links: list[bytes]) -> str:
        """The path of the log where it became a link or names another file since a commit."""
        return self._own if links and not (before and links == self._links_in(before)) else ""

    def _links_in(self, commit: str) -> list[bytes]:
        """What the log and its folder are links to in a commit, "" for the index."""
        paths = (self._own.rpartition("/")[0], self._own)
        return [self._logs.content(blob) for blob in self._repository.links_in(commit, paths)]

    def _links_here(self) -> list[bytes]:
        """The same of the work tree; nothing for a link that git is not to keep."""
        if not (self._links_in("") or self._repository.blob_in("", self._own)):
            return []
        paths = (self._store.path.parent, self._store.path)
        links = [os.readlink(path) for path in paths if os.path.islink(path)]
        return [os.fsencode(link.replace(os.sep, "/")) for link in links]

    def _contents(self, commit: Commit) -> Iterator[tuple[str, bytes]]:
        for change in commit.changes:
            data = self._content(change.after)
            if data is not None:
                yield change.path, data

    def _content(self, blob: str) -> bytes | None:
        return self._logs.content(blob) if blob else None


def _lines_of(data: bytes) -> set[bytes]:
    known: set[bytes] = set()
    fresh_lines(data, known)
    return known


def _parted(
    after: Side, known: set[bytes]
) -> tuple[list[tuple[int, bytes]], list[tuple[int, bytes]]]:
    """The lines of `after` that are not known, and those that are; all are known then."""
    fresh: list[tuple[int, bytes]] = []
    kept: list[tuple[int, bytes]] = []
    for number, content in fresh_lines(after.data, set()):
        (kept if content in known else fresh).append((number, content))
    known.update(content for _, content in fresh)
    return fresh, kept
