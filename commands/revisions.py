"""Reads versions of a memory log from git; writes nothing."""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from commands.suspicions import Lines, Suspicion, fresh_lines, in_lines
from core.config import CONTEXT_DIRECTORY, LOG_NAME
from core.git import SHORT_DIGITS, HistoryError, Repository, failed
from core.lessons.file import place_of
from core.lessons.history import Commit, own_commits
from core.lessons.log import FILTERED, MemoryLog, begins_like_utf_16
from core.lessons.record import Record, parse_line
from core.store import MemoryStore

INDEX, WORK_TREE = "index", "work tree"

_HEAD = "HEAD"
_WHOLE_ID = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
# Dots alone are no range: two variables that nobody has set would make one without any change.
_RANGE = re.compile(r"(?!\.+\Z)(.*?)\.\.\.?(.*)", re.S)


class Side:
    """One version of the log. name: a commit's id, INDEX, WORK_TREE, or "" for nothing."""

    def __init__(self, name: str, data: bytes | None) -> None:
        self.name, self.data, self.is_there = name, data or b"", data is not None
        self.is_wide = begins_like_utf_16(self.data)  # no reader takes it
        self.log = MemoryLog.parse(self.data)


class Revisions:
    """The two versions that a report compares.

    path: of the log, from the top. fresh, kept: lines of `after` that `before` lacks and has.
    passing: secrets in lines that neither has. passed: records of such lines by version id. is_cut:
    older commits are missing here. link: the log's path if it is a new or changed symbolic link, by
    which a writer could have any file read as the memory.
    """

    def __init__(
        self, path: str, before: Side, after: Side, *, link: str = "", is_cut: bool = False
    ) -> None:
        self.path, self.before, self.after = path, before, after
        self.link, self.is_cut = link, is_cut
        known = {content for _, content in fresh_lines(before.data, set())}
        lines = fresh_lines(after.data, set())
        self.fresh = [line for line in lines if line[1] not in known]
        self.kept = [line for line in lines if line[1] in known]
        self.passing: list[Suspicion] = []
        self.passed: dict[str, Record] = {}

    @property
    def has_log(self) -> bool:
        return self.before.is_there or self.after.is_there


def read_revisions(store: MemoryStore, wanted: str | None, *, staged: bool) -> Revisions:
    """Return the two ends of a range, or a commit (None: HEAD) and the work tree or the index.

    Raises HistoryError, and LogReadError for a log that cannot be read.
    """
    repository = Repository(place_of(store.path))
    reader = _Reader(store, repository)
    if ends := _RANGE.fullmatch(wanted or ""):
        first, last = (commit_of(repository, end or _HEAD) for end in ends.groups())
        return reader.between(first, last)
    is_first = wanted is None and not repository.has_head
    first = "" if is_first else commit_of(repository, _HEAD if wanted is None else wanted)
    return reader.compared(first, INDEX if staged else WORK_TREE)


def commit_of(repository: Repository, name: str) -> str:
    """Return the id of the commit that a revision means. Raises HistoryError.

    The name of both a branch and a tag is refused: git would take the tag, so whoever may push tags
    would choose the commit.
    """
    if name and not name.startswith(("-", "^")) and "\0" not in name:
        done = repository.run("rev-parse", "--verify", f"{name}^{{commit}}")
        is_whole = _WHOLE_ID.fullmatch(name)
        is_certain = is_whole or name == _HEAD
        if not done.returncode and b"is ambiguous" in done.stderr and not is_certain:
            raise HistoryError("ambiguous_revision", name=name)
        if not done.returncode:
            return done.stdout.decode("ascii").strip()
        # A name may also mean an object that git does not have, or begin at one.
        is_lost = b"Could not read" in done.stderr or any(
            not repository.run("rev-parse", "--verify", "--quiet", part).returncode
            and repository.run("cat-file", "-e", part).returncode
            for part in (() if is_whole else (name, re.split("[~^:]", name)[0]))
        )
        if is_lost:
            raise failed(done.stderr, is_lacking=True)
    raise HistoryError("bad_revision", *_cut(repository), name=name)


def _cut(repository: Repository) -> tuple[str, ...]:
    return ("cut",) if repository.is_cut else ()


def lines_brought(
    repository: Repository, commits: Sequence[Commit], known: set[bytes]
) -> Iterator[tuple[Commit, str, bytes, Lines]]:
    """Yield first commit, path, bytes and unknown lines of each version, oldest first.

    commits: the newest first. known: gets the lines.
    """
    versions: dict[str, tuple[Commit, str]] = {}  # by object
    for commit in reversed(commits):
        for path, blob in commit.files.items():
            if blob:
                versions.setdefault(blob, (commit, path))
    contents = repository.contents(versions)
    for (commit, path), data in zip(versions.values(), contents, strict=True):
        yield commit, path, data, fresh_lines(data, known)


class _Reader:
    def __init__(self, store: MemoryStore, repository: Repository) -> None:
        self._store, self._repository = store, repository
        # The log's path in its project, unresolved; the path of the file itself where the project
        # is no part of this work tree.
        self._own = repository.path
        project = Path(os.path.realpath(store.path.parent.parent))
        top = os.path.realpath(repository.top)
        if project.is_relative_to(top):
            self._own = (project.relative_to(top) / CONTEXT_DIRECTORY / LOG_NAME).as_posix()

    def compared(self, first: str, last: str) -> Revisions:
        """Compare two versions. Before a new link, the file in its place counts.

        A link in the work tree counts only if the index has the log or a link there.
        """
        repository, links = self._repository, self._links(last)
        if last == WORK_TREE and not (self._links(INDEX) or repository.blob_in("", self._own)):
            links = []
        link = self._own if links and links != self._links(first) else ""
        before = Side(first, self._content(first, link))
        after = Side(last, self._content(last))
        return Revisions(repository.path, before, after, link=link, is_cut=repository.is_cut)

    def between(self, first: str, last: str) -> Revisions:
        """Return the changes of `last` since it left `first`, also those taken back."""
        repository = self._repository
        done = repository.run("merge-base", first, last)
        if done.returncode > 1:
            raise failed(done.stderr)
        if done.returncode:
            short = {"one": first[:SHORT_DIGITS], "other": last[:SHORT_DIGITS]}
            raise HistoryError("no_merge_base", *_cut(repository), **short)
        parted = done.stdout.decode("ascii").split()[0]
        found = self.compared(parted, last)
        known = {content for _, content in (*fresh_lines(found.before.data, set()), *found.fresh)}
        commits = own_commits(repository, f"{first}..{last}", last=last)
        for path in {path for commit in commits for path in commit.files} - {repository.path}:
            fresh_lines(self._content(parted, path) or b"", known)  # the log was moved on the way
        for commit, path, _, lines in lines_brought(repository, commits, known):
            found.passing.extend(in_lines(path, lines, commit))
            records = (parse_line(content) for _, content in lines)
            found.passed.update((record.token, record) for record in records if record)
        return found

    def _content(self, version: str, path: str = "") -> bytes | None:
        if version == WORK_TREE:
            data = self._store.read_bytes()
            return data if data or os.path.lexists(self._store.path) else None
        commit = "" if version == INDEX else version
        blob = self._repository.blob_in(commit, path) if version else ""
        content = next(self._repository.contents([blob])) if blob else None
        if content and content.startswith(FILTERED):
            raise HistoryError("filtered", path=path or self._repository.path)
        return content

    def _links(self, version: str) -> list[bytes]:
        if version == WORK_TREE:
            places = (self._store.path.parent, self._store.path)
            links = [os.readlink(place) for place in places if os.path.islink(place)]
            return [os.fsencode(link.replace(os.sep, "/")) for link in links]
        if not version:
            return []
        paths = (self._own.rpartition("/")[0], self._own)
        entries = self._repository.entries("" if version == INDEX else version, *paths)
        return list(self._repository.contents(it.blob for it in entries if it.is_link))
