"""Reads versions of a memory log from git, and finds the changes between two; writes nothing.

A record is the same while its id and gap are. With changed texts it lists its former self, and a
principle lists its originals.
"""

import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from commands.suspicions import Lines, Suspicion, fresh_lines, in_lines
from core.config import CONTEXT_DIRECTORY, LOG_NAME
from core.git import SHORT_DIGITS, HistoryError, Repository, failure_of
from core.lessons.draft import clean_record
from core.lessons.file import real_log_path
from core.lessons.history import Commit, originals_of, own_commits
from core.lessons.log import FILTER_HEADS, MemoryLog, begins_like_utf_16
from core.lessons.record import Record, id_in, ids_in, parse_line, seconds_of
from core.sanitizer import safe_name
from core.store import MemoryStore

INDEX, WORK_TREE = "index", "work tree"
KINDS = ("added", "changed", "returned", "compacted", "removed")

_HEAD = "HEAD"
_WHOLE_ID = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
# Dots alone are no range: two variables that nobody has set would make one without any change.
_RANGE = re.compile(r"(?!\.+\Z)(.*?)\.\.\.?(.*)", re.S)
# Keys that another part of a report covers, or that only programs need.
_NO_NEWS = frozenset(
    (
        *("id", "meta.updated", "meta.former", "meta.compacted_at", "meta.seen", "meta.marks"),
        *("meta.source_ids", "meta.source_count"),
    )
)


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

    Of a range these are the changes of its end since it left the other, also those taken back.
    Raises HistoryError, and LogReadError for a log that cannot be read.
    """
    repository = Repository(real_log_path(store.path))
    reader = _Reader(store, repository)
    ends = _RANGE.fullmatch(wanted or "")
    if not ends:
        is_first = wanted is None and not repository.has_head
        first = "" if is_first else commit_of(repository, _HEAD if wanted is None else wanted)
        return reader.compared(first, INDEX if staged else WORK_TREE)
    first, last = (commit_of(repository, end or _HEAD) for end in ends.groups())
    done = repository.run("merge-base", first, last)
    if done.returncode > 1:
        raise failure_of(done.stderr)
    if done.returncode:
        short = {"one": first[:SHORT_DIGITS], "other": last[:SHORT_DIGITS]}
        notes = ("cut",) if repository.is_cut else ()
        raise HistoryError("no_merge_base", *notes, **short)
    parted = done.stdout.decode("ascii").split()[0]
    found = reader.compared(parted, last)
    known = {content for _, content in (*fresh_lines(found.before.data, set()), *found.fresh)}
    commits = own_commits(repository, f"{first}..{last}", last=last)
    for path in {path for commit in commits for path in commit.files} - {repository.path}:
        fresh_lines(reader.content(parted, path) or b"", known)  # the log was moved on the way
    for commit, path, _, lines in lines_brought(repository, commits, known):
        found.passing.extend(in_lines(path, lines, commit))
        records = (parse_line(content) for _, content in lines)
        found.passed.update((record.version_id, record) for record in records if record)
    return found


def commit_of(repository: Repository, name: str) -> str:
    """Return the id of the commit that a revision means. Raises HistoryError.

    The name of both a branch and a tag is refused: git would take the tag, so whoever may push tags
    would choose the commit.
    """
    is_whole = _WHOLE_ID.fullmatch(name)
    if name and not name.startswith(("-", "^")) and "\0" not in name:
        done = repository.run("rev-parse", "--verify", f"{name}^{{commit}}")
        if not done.returncode:
            if b"is ambiguous" in done.stderr and not (is_whole or name == _HEAD):
                raise HistoryError("ambiguous_revision", name=name)
            return done.stdout.decode("ascii").strip()
        # A name may also mean an object that git does not have, or begin at one.
        is_lost = b"Could not read" in done.stderr or any(
            not repository.run("rev-parse", "--verify", "--quiet", part).returncode
            and repository.run("cat-file", "-e", part).returncode
            for part in (() if is_whole else (name, re.split("[~^:]", name)[0]))
        )
        if is_lost:
            raise failure_of(done.stderr, is_lacking=True)
    notes = ("cut",) if repository.is_cut else ()
    raise HistoryError("bad_revision", *notes, name=name)


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
    contents = repository.read_contents(versions)
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
        before = Side(first, self.content(first, link))
        after = Side(last, self.content(last))
        return Revisions(repository.path, before, after, link=link, is_cut=repository.is_cut)

    def content(self, version: str, path: str = "") -> bytes | None:
        if version == WORK_TREE:
            data = self._store.read_bytes()
            return data if data or os.path.lexists(self._store.path) else None
        commit = "" if version == INDEX else version
        blob = self._repository.blob_in(commit, path) if version else ""
        content = next(self._repository.read_contents([blob])) if blob else None
        if content and content.startswith(FILTER_HEADS):
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
        entries = self._repository.read_entries("" if version == INDEX else version, *paths)
        return list(self._repository.read_contents(it.blob for it in entries if it.is_link))


# The changes between two versions.


class Entry(NamedTuple):
    """A record without its secrets. token: its version id, "" if that holds a secret."""

    version_id: str
    record: Record

    @classmethod
    def of(cls, record: Record) -> "Entry":
        return cls(safe_name(record.version_id), clean_record(record)[0])


class Change(NamedTuple):
    """The change of one record.

    former: older versions, the newest last; of a principle its originals. values: old and new by
    key, None for no such key; {} where only secrets differ. number: of a gap that came back, how
    often it had been seen, 0 if it was compacted; of a principle, how many originals are unknown.
    """

    entry: Entry
    former: Sequence[Entry] = ()
    values: Mapping[str, tuple[object, object]] = {}
    number: int = 0


class Comparison:
    """The changes between the records of two logs.

    changes: by KINDS. replaced: originals of all compactions, each counted once. touched: new or
    changed records, with the texts that their former selves had.
    """

    def __init__(self, before: MemoryLog, after: MemoryLog, passed: Mapping[str, Record]) -> None:
        """Compare. passed: records that came and went between the two, by version id."""
        self.changes: dict[str, list[Change]] = {kind: [] for kind in KINDS}
        self.replaced = 0
        self.touched: list[tuple[Record, frozenset[str]]] = []
        self._passed = passed
        self._ids = {record.id for record in after.records}
        # Records that were replaced before are no part of this change.
        self._old_tokens = {token for record in before.records for token in record.source_ids}
        self._compacted_s: dict[str, float] = {}  # by id: when a principle first replaced it
        for record in before.records:
            if record.type == "principle":
                at_s = seconds_of(record.compacted_at)
                for id_ in ids_in(originals_of(record)):
                    self._compacted_s[id_] = min(at_s, self._compacted_s.get(id_, at_s))
        self._originals: dict[str, list[Record]] = {}
        pairs = _pairs(before.records, after.records)
        paired = {id(record) for record in pairs.values()}
        self._gone: dict[str, list[Record]] = {}  # by id
        for record in before.records:
            if id(record) not in paired:
                self._gone.setdefault(record.id, []).append(record)
        for at, record in enumerate(after.records):
            known = pairs.get(at)
            # Not by their version ids: other texts with the same six digits are found in seconds.
            if not known or known.to_line() != record.to_line():
                self._sort(record, known)
        for records in self._gone.values():
            self.changes["removed"] += [Change(Entry.of(record)) for record in records]

    def _sort(self, record: Record, known: Record | None) -> None:
        """Note the change of a later record. known: the earlier one."""
        fresh = [token for token in record.source_ids if token not in self._old_tokens]
        originals = set(originals_of(record)) if record.type == "principle" else set()
        own_ids = ids_in(token for token in fresh if token not in originals)
        former = [old for id_ in sorted(own_ids) for old in self._gone.pop(id_, ())]
        former.sort(key=Record.version)
        former += [known] if known else []
        self.touched.append((record, frozenset(text for old in former for text in old.texts)))
        is_compacted = self._compact(record, [token for token in fresh if token in originals])
        seen_before = sum(max(old.seen, 1) for old in former)  # records that became one add theirs
        entry = Entry.of(record)
        if former:
            last = former[-1]
            differing = _differing(Entry.of(last).record, entry.record)
            values = {key: both for key, both in differing.items() if key not in _NO_NEWS}
            has_news = bool(values) or len(former) > 1
            if not has_news and last.texts == record.texts:  # else they differ in a secret
                values = {key: both for key, both in differing.items() if key != "id"}
            # Another part tells that a record was compacted or came back.
            if has_news or not (is_compacted or last.seen < record.seen):
                change = Change(entry, [*map(Entry.of, former)], values)
                self.changes["changed"].append(change)
            is_back = record.seen > seen_before and not is_compacted
        else:
            # A record that was brought back is older than its compaction.
            compacted_s = self._compacted_s.get(record.id, math.inf)
            is_back = seconds_of(record.created) >= compacted_s
            if not is_compacted:
                self.changes["added"].append(Change(entry))
        if is_back:
            self.changes["returned"].append(Change(entry, number=seen_before))

    def _compact(self, principle: Record, tokens: Sequence[str]) -> bool:
        """Note the originals of a principle; return whether there are any."""
        versions_of: dict[str, list[str]] = {}
        for token in tokens:
            if id_in(token) not in self._ids:
                versions_of.setdefault(id_in(token), []).append(token)
        for id_, versions in versions_of.items():
            if id_ not in self._originals:  # after a merge two principles may list it
                passed = [self._passed[token] for token in versions if token in self._passed]
                self._originals[id_] = self._gone.pop(id_, []) or passed[:1]
                self.replaced += len(self._originals[id_]) or 1
        if versions_of:
            originals = [Entry.of(it) for id_ in versions_of for it in self._originals[id_]]
            unknown = sum(not self._originals[id_] for id_ in versions_of)
            self.changes["compacted"].append(Change(Entry.of(principle), originals, number=unknown))
        return bool(versions_of)


def _pairs(before: Sequence[Record], after: Sequence[Record]) -> dict[int, Record]:
    """Return the earlier record by place in `after`: by id and gap, else by id."""
    pairs: dict[int, Record] = {}
    for is_exact in (True, False):
        paired = {id(record) for record in pairs.values()}
        left: dict[object, list[Record]] = {}
        for record in reversed(before):
            if id(record) not in paired:
                left.setdefault((record.id, is_exact and record.gap), []).append(record)
        for at, record in enumerate(after):
            same = left.get((record.id, is_exact and record.gap))
            if same and at not in pairs:
                pairs[at] = same.pop()
    return pairs


def _differing(before: Record, after: Record) -> dict[str, tuple[object, object]]:
    """Return old and new of each key that differs, None for no such key."""
    flat = []
    for value in (before.as_json(), after.as_json()):
        meta = value.pop("meta")
        flat.append({**value, **{f"meta.{key}": kept for key, kept in meta.items()}})
    old, new = flat
    keys = dict.fromkeys([*old, *new])
    return {key: (old.get(key), new.get(key)) for key in keys if old.get(key) != new.get(key)}
