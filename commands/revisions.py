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

from commands.suspicions import Lines, Suspicion, find_in_lines, unseen_lines
from core.config import CONTEXT_DIRECTORY, LOG_NAME
from core.git import SHORT_DIGITS, HistoryError, Repository, failure_of
from core.lessons.draft import redact_fields
from core.lessons.file import real_log_path
from core.lessons.history import Commit, originals_of, own_commits
from core.lessons.log import FILTER_HEADS, MemoryLog, begins_like_utf_16
from core.lessons.record import Record, id_in, ids_in, parse_line
from core.sanitizer import safe_name
from core.store import MemoryStore
from core.text.plain import seconds_of

INDEX, WORK_TREE = "index", "work tree"
KINDS = ("added", "changed", "returned", "compacted", "removed")

_HEAD = "HEAD"
_WHOLE_ID = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
# Dots alone are no range: two variables that nobody has set would make one without any change.
_RANGE = re.compile(r"(?!\.+\Z)(.*?)\.\.\.?(.*)", re.S)
# Keys that another part of a report covers, or that only programs need.
_SILENT_KEYS = frozenset(
    "id meta.updated meta.former meta.compacted_at meta.seen meta.marks meta.source_ids"
    " meta.source_count".split()
)


class Side:
    """One version of the log. name: a commit's id, INDEX, WORK_TREE, or "" for nothing."""

    def __init__(self, name: str, data: bytes | None) -> None:
        self.name, self.data, self.is_there = name, data or b"", data is not None
        self.is_wide = begins_like_utf_16(self.data)  # no reader takes it
        self.log = MemoryLog.parse(self.data)


class Revisions:
    """The two versions that a report compares.

    path: of the log, from the top. new_lines, old_lines: of `after`, that `before` lacks and has.
    passing_secrets: in lines that neither has. transients: records of such lines by version id.
    is_cut: older commits are missing here. link: the log's path if it is a new or changed symbolic
    link, by which a writer could have any file read as the memory.
    """

    def __init__(
        self, path: str, before: Side, after: Side, *, link: str = "", is_cut: bool = False
    ) -> None:
        self.path, self.before, self.after = path, before, after
        self.link, self.is_cut = link, is_cut
        old_contents = {content for _, content in unseen_lines(before.data, set())}
        lines = unseen_lines(after.data, set())
        self.new_lines = [line for line in lines if line[1] not in old_contents]
        self.old_lines = [line for line in lines if line[1] in old_contents]
        self.passing_secrets: list[Suspicion] = []
        self.transients: dict[str, Record] = {}

    @property
    def has_log(self) -> bool:
        return self.before.is_there or self.after.is_there


def read_revisions(store: MemoryStore, revision: str | None, *, staged: bool) -> Revisions:
    """Return the two ends of a range, or a commit (None: HEAD) and the work tree or the index.

    Of a range these are the changes of its end since it left the other, also those taken back.
    Raises HistoryError, and LogReadError for a log that cannot be read.
    """
    repository = Repository(real_log_path(store.path))
    reader = _Reader(store, repository)
    ends = _RANGE.fullmatch(revision or "")
    if not ends:
        is_first = revision is None and not repository.has_head
        first = "" if is_first else commit_of(repository, _HEAD if revision is None else revision)
        return reader.compare(first, INDEX if staged else WORK_TREE)
    first, last = (commit_of(repository, end or _HEAD) for end in ends.groups())
    process = repository.run("merge-base", first, last)
    # git takes a lost commit for one without parents, and says so on standard error alone.
    if process.returncode > 1 or b"Could not read" in process.stderr:
        raise failure_of(process.stderr)
    if process.returncode:
        facts = {"one": first[:SHORT_DIGITS], "other": last[:SHORT_DIGITS]}
        raise HistoryError("no_merge_base", *repository.notes, **facts)
    base = process.stdout.decode("ascii").split()[0]
    sides = reader.compare(base, last)
    seen = {content for _, content in (*unseen_lines(sides.before.data, set()), *sides.new_lines)}
    commits = own_commits(repository, f"{first}..{last}", last=last)
    for path in {path for commit in commits for path in commit.files} - {repository.path}:
        unseen_lines(reader.read_content(base, path) or b"", seen)  # the log was moved on the way
    for commit, path, _, lines in read_versions(repository, commits, seen):
        sides.passing_secrets.extend(find_in_lines(path, lines, commit))
        records = (parse_line(content) for _, content in lines)
        sides.transients.update((record.version_id, record) for record in records if record)
    return sides


def commit_of(repository: Repository, name: str) -> str:
    """Return the id of the commit that a revision means. Raises HistoryError.

    The name of both a branch and a tag is refused: git would take the tag, so whoever may push tags
    would choose the commit.
    """
    is_whole = _WHOLE_ID.fullmatch(name)
    if name and not name.startswith(("-", "^")) and "\0" not in name:
        process = repository.run("rev-parse", "--verify", f"{name}^{{commit}}")
        if not process.returncode:
            if b"is ambiguous" in process.stderr and not (is_whole or name == _HEAD):
                raise HistoryError("ambiguous_revision", name=name)
            return process.stdout.decode("ascii").strip()
        # A name may also mean an object that git does not have, or begin at one.
        is_lost = b"Could not read" in process.stderr or any(
            not repository.run("rev-parse", "--verify", "--quiet", part).returncode
            and repository.run("cat-file", "-e", part).returncode
            for part in (() if is_whole else (name, re.split("[~^:]", name)[0]))
        )
        if is_lost:
            raise failure_of(process.stderr, is_lacking=True)
    raise HistoryError("bad_revision", *repository.notes, name=name)


def read_versions(
    repository: Repository, commits: Sequence[Commit], seen: set[bytes]
) -> Iterator[tuple[Commit, str, bytes, Lines]]:
    """Yield first commit, path, bytes and unseen lines of each version, oldest first.

    commits: the newest first. seen: gets the lines.
    """
    versions: dict[str, tuple[Commit, str]] = {}  # by object
    for commit in reversed(commits):
        for path, blob in commit.files.items():
            if blob:
                versions.setdefault(blob, (commit, path))
    contents = repository.read_contents(versions)
    for (commit, path), data in zip(versions.values(), contents, strict=True):
        yield commit, path, data, unseen_lines(data, seen)


class _Reader:
    def __init__(self, store: MemoryStore, repository: Repository) -> None:
        self._store, self._repository = store, repository
        # The log's path in its project, unresolved; the path of the file itself where the project
        # is no part of this work tree.
        self._path = repository.path
        project = Path(os.path.realpath(store.path.parent.parent))
        top = os.path.realpath(repository.top)
        if project.is_relative_to(top):
            self._path = (project.relative_to(top) / CONTEXT_DIRECTORY / LOG_NAME).as_posix()

    def compare(self, first: str, last: str) -> Revisions:
        """Compare two versions. Before a new link, the file in its place counts.

        A link in the work tree counts only if the index has the log or a link there.
        """
        repository, links = self._repository, self._links_in(last)
        if last == WORK_TREE and not (self._links_in(INDEX) or repository.blob_in("", self._path)):
            links = []
        link = self._path if links and links != self._links_in(first) else ""
        before = Side(first, self.read_content(first, link))
        after = Side(last, self.read_content(last))
        return Revisions(repository.path, before, after, link=link, is_cut=repository.is_cut)

    def read_content(self, version: str, path: str = "") -> bytes | None:
        if version == WORK_TREE:
            data = self._store.read_bytes()
            return data if data or os.path.lexists(self._store.path) else None
        commit = "" if version == INDEX else version
        blob = self._repository.blob_in(commit, path) if version else ""
        content = next(self._repository.read_contents([blob])) if blob else None
        if content and content.startswith(FILTER_HEADS):
            raise HistoryError("filtered", path=path or self._repository.path)
        return content

    def _links_in(self, version: str) -> list[bytes]:
        if version == WORK_TREE:
            places = (self._store.path.parent, self._store.path)
            links = [os.readlink(place) for place in places if os.path.islink(place)]
            return [os.fsencode(link.replace(os.sep, "/")) for link in links]
        if not version:
            return []
        paths = (self._path.rpartition("/")[0], self._path)
        entries = self._repository.read_entries("" if version == INDEX else version, *paths)
        return [*self._repository.read_contents(entry.blob for entry in entries if entry.is_link)]


# The changes between two versions.


class Entry(NamedTuple):
    """A record without its secrets. version_id: "" if that holds a secret."""

    version_id: str
    record: Record

    @classmethod
    def of(cls, record: Record) -> "Entry":
        return cls(safe_name(record.version_id), redact_fields(record)[0])


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

    changes: by KINDS. replaced_count: of originals of all compactions, each once. touched_records:
    new or changed ones, with the texts that their former selves had.
    """

    def __init__(self, before: MemoryLog, after: MemoryLog, transients: dict[str, Record]) -> None:
        """Compare. transients: records that came and went between the two, by version id."""
        self.changes: dict[str, list[Change]] = {kind: [] for kind in KINDS}
        self.replaced_count = 0
        self.touched_records: list[tuple[Record, frozenset[str]]] = []
        self._transients = transients
        self._ids = {record.id for record in after.records}
        # Records that were replaced before are no part of this change.
        self._old_ids = {source for record in before.records for source in record.source_ids}
        self._compacted_s: dict[str, float] = {}  # by id: when a principle first replaced it
        for record in before.records:
            if record.type == "principle":
                at_s = seconds_of(record.compacted_at)
                for id_ in ids_in(originals_of(record)):
                    self._compacted_s[id_] = min(at_s, self._compacted_s.get(id_, at_s))
        self._originals: dict[str, list[Record]] = {}
        pairs = _pair_records(before.records, after.records)
        paired_ids = {id(record) for record in pairs.values()}
        self._gone_records: dict[str, list[Record]] = {}  # by id
        for record in before.records:
            if id(record) not in paired_ids:
                self._gone_records.setdefault(record.id, []).append(record)
        for index, record in enumerate(after.records):
            predecessor = pairs.get(index)
            # Not by their version ids: other texts with the same six digits are found in seconds.
            if not predecessor or predecessor.to_line() != record.to_line():
                self._note_change(record, predecessor)
        for records in self._gone_records.values():
            self.changes["removed"] += [Change(Entry.of(record)) for record in records]

    def _note_change(self, record: Record, predecessor: Record | None) -> None:
        """Note the change of a later record. predecessor: the earlier one."""
        new_ids = [source for source in record.source_ids if source not in self._old_ids]
        originals = set(originals_of(record)) if record.type == "principle" else set()
        own_ids = ids_in(source for source in new_ids if source not in originals)
        former = [old for id_ in sorted(own_ids) for old in self._gone_records.pop(id_, ())]
        former.sort(key=Record.version_key)
        former += [predecessor] if predecessor else []
        self.touched_records += [(record, frozenset(text for old in former for text in old.texts))]
        is_compacted = self._compact(record, [source for source in new_ids if source in originals])
        seen_before = sum(max(old.seen, 1) for old in former)  # records that became one add theirs
        entry = Entry.of(record)
        if former:
            last = former[-1]
            differences = _differences(Entry.of(last).record, entry.record)
            values = {key: pair for key, pair in differences.items() if key not in _SILENT_KEYS}
            has_news = bool(values) or len(former) > 1
            if not has_news and last.texts == record.texts:  # else they differ in a secret
                values = {key: pair for key, pair in differences.items() if key != "id"}
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

    def _compact(self, principle: Record, version_ids: Sequence[str]) -> bool:
        """Note the originals of a principle; return whether there are any."""
        versions_of: dict[str, list[str]] = {}
        for version_id in version_ids:
            if id_in(version_id) not in self._ids:
                versions_of.setdefault(id_in(version_id), []).append(version_id)
        for id_, versions in versions_of.items():
            if id_ not in self._originals:  # after a merge two principles may list it
                transients = [*filter(None, map(self._transients.get, versions))]
                self._originals[id_] = self._gone_records.pop(id_, []) or transients[:1]
                self.replaced_count += len(self._originals[id_]) or 1
        if versions_of:
            originals = [Entry.of(record) for id_ in versions_of for record in self._originals[id_]]
            count = sum(not self._originals[id_] for id_ in versions_of)  # of unknown originals
            self.changes["compacted"].append(Change(Entry.of(principle), originals, number=count))
        return bool(versions_of)


def _pair_records(before: Sequence[Record], after: Sequence[Record]) -> dict[int, Record]:
    """Return the earlier record by place in `after`: by id and gap, else by id."""
    pairs: dict[int, Record] = {}
    for is_exact in (True, False):
        paired_ids = {id(record) for record in pairs.values()}
        candidates_of: dict[object, list[Record]] = {}
        for record in reversed(before):
            if id(record) not in paired_ids:
                candidates_of.setdefault((record.id, is_exact and record.gap), []).append(record)
        for index, record in enumerate(after):
            candidates = candidates_of.get((record.id, is_exact and record.gap))
            if candidates and index not in pairs:
                pairs[index] = candidates.pop()
    return pairs


def _differences(before: Record, after: Record) -> dict[str, tuple[object, object]]:
    """Return old and new of each key that differs, None for no such key."""
    flat_values = []
    for value in (before.as_json(), after.as_json()):
        meta = value.pop("meta")
        flat_values.append({**value, **{f"meta.{key}": item for key, item in meta.items()}})
    old, new = flat_values
    keys = dict.fromkeys([*old, *new])
    return {key: (old.get(key), new.get(key)) for key in keys if old.get(key) != new.get(key)}
