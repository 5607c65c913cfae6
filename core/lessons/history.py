"""Former versions of records: in the log, in the side file, and in git.

A version id is made of the text, so that any log of the repository may hold it: every
`.context/memory_log.jsonl` is searched.
"""

import contextlib
import os
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from core.config import CONTEXT_DIRECTORY, LOG_NAME
from core.git import SHORT_DIGITS, HistoryError, Repository, pathspec_of
from core.lessons.changes import ReplacedRecord
from core.lessons.log import MemoryLog
from core.lessons.record import Record, id_in, ids_in, is_version_id
from core.lessons.record_text import PLAIN_ID, record_name, topic_text
from core.messages import Facts

EVERYWHERE = ("--all", "--reflog")
MOST_SEARCHED_IDS = 200  # more would make a command line that Windows refuses
LEAST_PREFIX_CHARS = 4
MOST_CANDIDATES = 20

_ANY_LOG_PATH = f":(top,glob)**/{CONTEXT_DIRECTORY}/{LOG_NAME}"
_LOG_COMMAND = (
    *("log", "-c", "--date-order", "--full-history", "--no-renames", "--encoding=UTF-8"),
    *("--raw", "-z", "--no-abbrev", "--text", "--no-textconv", "--no-ext-diff", "--no-color"),
    "--format=%H%x00%an%x00%aI",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One commit that changed memory logs."""

    id: str
    author: str
    date: str  # ISO 8601
    files: Mapping[str, str]  # object names of logs, "" for a deleted one, by path from the top

    @property
    def short_id(self) -> str:
        return self.id[:SHORT_DIGITS]


def commits_of(repository: Repository, *starts: str, pattern: str = "") -> list[Commit]:
    """Return the commits that changed a log of the repository, the newest first.

    A merge counts if its file differs from every parent's. starts: HEAD for none. pattern:
    expression that a changed line holds. Raises HistoryError.
    """
    if not starts and not repository.has_head:
        return []
    lines = [f"-G{pattern}"] if pattern else []
    paths = (_ANY_LOG_PATH, pathspec_of(repository.path))
    output = repository.ask(*_LOG_COMMAND, *lines, *(starts or ("HEAD",)), "--", *paths)
    commits: list[Commit] = []
    files: dict[str, str] = {}
    fields = iter(field.removeprefix(b"\n") for field in output.split(b"\0"))
    for text in fields:
        if text.startswith(b":"):
            # `:mode mode name name M`, plus a colon, mode and name for each further parent
            parents = len(text) - len(text.lstrip(b":"))
            words = text.lstrip(b":").decode("ascii").split(" ")
            mode, name = words[parents], words[2 * parents + 1]
            files[os.fsdecode(next(fields))] = name if mode.startswith("100") else ""
        elif text:
            author, date = (next(fields).decode("utf-8", "replace") for _ in range(2))
            files = {}
            commits.append(Commit(id=text.decode("ascii"), author=author, date=date, files=files))
    return commits


def own_commits(repository: Repository, *starts: str, last: str) -> list[Commit]:
    """Return `commits_of` without logs that stand elsewhere in commit `last` ("" for none)."""
    commits = commits_of(repository, *starts)
    all_paths = {path for commit in commits for path in commit.files} - {repository.path}
    # A path that `last` lacks may be where this log was.
    other_paths = {path for path in all_paths if last and repository.blob_in(last, path)}
    return [
        replace(commit, files={path: commit.files[path] for path in paths})
        for commit in commits
        if (paths := [path for path in commit.files if path not in other_paths])
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version of a record, and where it lies."""

    record: Record
    is_shown: bool
    is_hidden: bool  # only a line that another record hides has it
    replaced_record: ReplacedRecord | None  # from the side file
    commit: Commit | None  # the oldest with it


class History:
    """Former versions of the records of one memory log. Git is asked only where it must be.

    side: records of the side file, the newest first.
    """

    def __init__(self, log_path: Path, log: MemoryLog, side: Iterable[ReplacedRecord] = ()) -> None:
        self._target = Path(os.path.realpath(log_path))
        self.log = log
        self.side = {entry.version_id: entry for entry in reversed([*side])}

    @cached_property
    def repository(self) -> Repository:
        """The repository of the file. Raises HistoryError where there is none, or no commit."""
        repository = Repository(self._target)
        if not (repository.has_head or repository.ask("rev-list", "--max-count=1", "--all")):
            raise HistoryError("no_commits", path=str(repository.folder))
        return repository

    @cached_property
    def has_git(self) -> bool:
        with contextlib.suppress(HistoryError):
            return bool(self.repository)
        return False

    def versions(self, ids: Collection[str]) -> list[Version]:
        """Return all versions of these records, the newest first. Raises HistoryError."""
        records, commits = dict[str, Record](), dict[str, Commit]()
        logs = self._find_logs(ids, *EVERYWHERE, oldest_first=True) if self.has_git else ()
        for commit, log in logs:
            for record in _forms_in(log):
                if record.id in ids:
                    records.setdefault(record.version_id, record)
                    commits.setdefault(record.version_id, commit)
        entries = {key: entry for key, entry in self.side.items() if entry.record.id in ids}
        views = {record.version_id: record for record in self.log.records if record.id in ids}
        lines = {record.version_id: record for record in _records_in(self.log) if record.id in ids}
        records = {key: entry.record for key, entry in entries.items()} | records
        records |= lines | views
        versions = [
            Version(
                record=record,
                is_shown=version_id in views,
                is_hidden=version_id in lines and version_id not in views,
                replaced_record=entries.get(version_id),
                commit=commits.get(version_id),
            )
            for version_id, record in records.items()
        ]
        return sorted(versions, key=lambda version: version.record.version_key(), reverse=True)

    def find_last(self, record_id: str) -> Record | None:
        """Return the last version of a record that no reader sees, None for no version.

        A hidden line goes before all others; in git, HEAD's history does. Raises HistoryError.
        """
        hidden_records = [record for record in _records_in(self.log) if record.id == record_id]
        if hidden_records:
            return max(hidden_records, key=Record.version_key)
        candidates = [entry.record for entry in self.side.values() if entry.record.id == record_id]
        for starts in ((), EVERYWHERE):
            logs = self._find_logs([record_id], *starts, unless=candidates)
            versions = (record for _, log in logs for record in log.find_by_id(record_id).values())
            if newest := next(versions, None):
                candidates.append(newest)
                break
        return max(candidates, key=Record.version_key, default=None)

    def find_versions(self, version_ids: Collection[str]) -> dict[str, Record]:
        """Return the versions that exist, by version id. Raises HistoryError.

        The side file, in which anybody can write a version id, counts where log and git lack one.
        """
        keys = set(version_ids)
        copies = {key: self.side[key].record for key in keys & self.side.keys()}
        records = reversed(_forms_in(self.log))
        versions = {record.version_id: record for record in records if record.version_id in keys}
        ids = ids_in(keys - versions.keys())
        for _, log in self._find_logs(ids, *EVERYWHERE, unless=[*copies, *versions]) if ids else ():
            for record in _forms_in(log):
                if record.version_id in keys:
                    versions.setdefault(record.version_id, record)
            if versions.keys() == keys:
                break
        return {**copies, **versions}

    def find_originals(self, principle: Record) -> tuple[list[Record], list[str]]:
        """Return a principle's originals, each in its newest version.

        Also return version ids of those in the log again. Raises HistoryError if one is nowhere.
        """
        version_ids = originals_of(principle)
        if not version_ids:
            raise HistoryError("no_originals", id=principle.id)
        versions = self.find_versions(version_ids)
        older_ids = {
            version_id
            for version in versions.values()
            for version_id in (*version.source_ids, *version.version_ids())
            if version_id != version.version_id
        }
        records = (record for record in self.log.records if record.id != principle.id)
        present_ids = {record.id: record.version_id for record in records}
        newest, missing_ids, kept_ids = dict[str, Record](), dict[str, str](), dict[str, str]()
        for version_id in dict.fromkeys(version_ids):
            name, version = id_in(version_id), versions.get(version_id)
            if version_id in older_ids:
                continue
            if name in present_ids:
                kept_ids[name] = present_ids[name]
            elif version is None:
                missing_ids.setdefault(name, version_id)
            elif name not in newest or version.version_key() > newest[name].version_key():
                newest[name] = version
        if missing_ids:
            found_ids = [record.version_id for record in newest.values()]
            facts: Facts = {
                "tokens": ", ".join(missing_ids.values()),
                "count": len(newest.keys() | missing_ids.keys()),
                "missing": len(missing_ids),
                "found": ", ".join(found_ids),
                "first": "".join(found_ids[:1]),
            }
            key = "some_missing" if found_ids else "all_missing"
            raise HistoryError(key, *self.notes(), **facts)
        return list(newest.values()), list(kept_ids.values())

    def find_version(self, target: "Reference") -> Record:
        """Return the named version, else the last of its record. Raises HistoryError."""
        if target.version_id:
            if version := self.find_versions([target.version_id]).get(target.version_id):
                return version
            raise HistoryError("no_version", *self.notes(), id=target.id, token=target.version_id)
        if version := self.find_last(target.id):
            return version
        if principles := principles_listing(target.id, self.log):
            principle_name = record_name(principles[-1][0])
            raise HistoryError("never_committed", *self.notes(), id=target.id, by=principle_name)
        raise HistoryError("unknown", *self.notes(), name=target.id)

    def find_principle(self, target: "Reference") -> Record:
        """Return the named principle of the log. Raises HistoryError."""
        principle = next(iter(self.log.find_by_id(target.id).values()), None)
        if not principle:
            raise HistoryError("not_in_log", id=target.id)
        own_id = principle.version_id
        if target.version_id not in ("", own_id):
            raise HistoryError("other_version", id=target.id, token=own_id, named=target.version_id)
        if principle.type != "principle":
            raise HistoryError("is_log", id=target.id)
        return principle

    def find_topics(self, beginning: str) -> dict[str, str]:
        """Return topics of former records by id, for one beginning. Raises HistoryError."""
        records = [entry.record for entry in self.side.values()]
        topics = {record.id: record.topic for record in records if record.id.startswith(beginning)}
        for _, log in self._find_logs([beginning], *EVERYWHERE, unless=topics):
            for record in _records_in(log):
                if record.id.startswith(beginning):
                    topics.setdefault(record.id, record.topic)
        return topics

    def notes(self) -> list[str]:
        """Return reasons why git may lack a version, as keys of sentences."""
        if self.side and not self.has_git:
            return []
        notes = [*self.repository.notes]
        path = pathspec_of(self.repository.path)
        if not self.repository.ask("rev-list", "--max-count=1", *EVERYWHERE, "--", path):
            notes.append("ignored" if self.repository.is_ignored else "not_committed")
        return notes

    def _find_logs(
        self,
        ids: Collection[str],
        *starts: str,
        oldest_first: bool = False,
        unless: Collection[object] = (),
    ) -> Iterator[tuple[Commit, MemoryLog]]:
        """Yield logs where a line with one of these ids (or beginnings) changed, with a commit.

        unless: what else was found, so that git may be missing.
        """
        is_plain = len(ids) <= MOST_SEARCHED_IDS and all(map(PLAIN_ID.fullmatch, ids))
        pattern = "|".join(name.replace(".", "[.]") for name in sorted(ids)) if is_plain else ""
        try:
            commits = commits_of(self.repository, *starts, pattern=pattern)
            blobs: dict[str, Commit] = {}
            for commit in reversed(commits) if oldest_first else commits:
                for blob in filter(None, commit.files.values()):
                    blobs.setdefault(blob, commit)
            contents = self.repository.read_contents(blobs)
            for commit, data in zip(blobs.values(), contents, strict=True):
                yield commit, MemoryLog.parse(data)
        except HistoryError:
            if not unless:
                raise


def _records_in(log: MemoryLog) -> list[Record]:
    return [record for _, record in log.all_records()]


def _forms_in(log: MemoryLog) -> list[Record]:
    """Return the records as readers see them, and as their lines hold them."""
    return [*log.records, *_records_in(log)]


def originals_of(principle: Record) -> tuple[str, ...]:
    """Return the version ids of a principle's originals, without its own former versions."""
    # It lists those if its id changed because a secret left its text.
    ids, former = principle.source_ids, principle.former
    return tuple(name for name in ids if name[len(id_in(name)) + 1 :] not in former)


def former_ids_of(record: Record) -> tuple[str, ...]:
    """Return version ids from before a new topic or text changed the id."""
    if record.type == "log":  # it replaces nothing else
        return record.source_ids
    originals = set(originals_of(record))
    return tuple(version_id for version_id in record.source_ids if version_id not in originals)


def principles_listing(record_id: str, log: MemoryLog) -> list[tuple[Record, str]]:
    """Return the principles that list a record, each with the newest version id listed."""
    newest: dict[str, tuple[Record, str]] = {}
    for principle in _records_in(log):
        for version_id in principle.source_ids:  # the newest stands first
            if id_in(version_id) == record_id:
                newest.setdefault(principle.version_id, (principle, version_id))
    return list(newest.values())


# Records by the names that a person types.


class Reference(NamedTuple):
    """The record that somebody means."""

    id: str
    version_id: str  # "" where no version is meant


def find_reference(text: str, history: History) -> Reference:
    """Return the record that an id, a beginning of one, or a version id names.

    The log comes first, then the originals that it lists, then git. Raises HistoryError: bad_token,
    too_short, unknown or ambiguous.
    """
    lines = _records_in(history.log)
    topics = {record.id: record.topic for record in lines}
    beginning, fingerprint = _split_reference(text, topics)
    replaced = {  # maybe the originals were never committed
        id_in(version_id): principle.topic
        for principle in lines
        for version_id in principle.source_ids
        if is_version_id(version_id)
    }
    record_id = _find_only(beginning, topics, text) or _find_only(beginning, replaced, text)
    if not record_id:
        _check_length(beginning, text)
        record_id = _find_only(beginning, history.find_topics(beginning), text)
    if not record_id:
        raise HistoryError("unknown", *history.notes(), name=text)
    return Reference(record_id, f"{record_id}@{fingerprint}" if fingerprint else "")


def find_records(text: str, log: MemoryLog) -> list[Record]:
    """Return the visible records that a reference names: one, or all of its id.

    Raises HistoryError: bad_token, too_short, not_there, ambiguous or other_version.
    """
    topics = {record.id: record.topic for record in log.records}
    beginning, fingerprint = _split_reference(text, topics)
    record_id = _find_only(beginning, topics, text)
    if not record_id:
        _check_length(beginning, text)
        raise HistoryError("not_there", name=text)
    records = [record for record in log.records if record.id == record_id]
    hits = [record for record in records if not fingerprint or record.fingerprint() == fingerprint]
    if not hits:
        raise HistoryError("other_version", id=record_id, token=records[0].version_id, named=text)
    return hits


def find_record(text: str, log: MemoryLog) -> Record:
    """Return the only record that `find_records` finds. Raises HistoryError: also shared_id."""
    hits = find_records(text, log)
    if len(hits) > 1:
        version_ids = ", ".join(record.version_id for record in hits)
        raise HistoryError("shared_id", name=text, tokens=version_ids)
    return hits[0]


def _split_reference(text: str, topics: Container[str]) -> tuple[str, str]:
    """Split off the fingerprint, "" for none; an id may hold an @."""
    if text in topics or "@" not in text:
        return text, ""
    if not is_version_id(text):
        raise HistoryError("bad_token", name=text)
    beginning, _, fingerprint = text.rpartition("@")
    return beginning, fingerprint


def _check_length(beginning: str, text: str) -> None:
    if len(beginning) < LEAST_PREFIX_CHARS:
        raise HistoryError("too_short", name=text, least=LEAST_PREFIX_CHARS)


def _find_only(beginning: str, topics: Mapping[str, str], text: str) -> str:
    if beginning in topics:
        return beginning
    ids = [name for name in topics if name.startswith(beginning)]
    if ids:
        _check_length(beginning, text)
    if len(ids) > 1:
        names = [f"{name} [{topic_text(topics[name])}]" for name in ids]
        more = [f"+{len(names) - MOST_CANDIDATES}"] if len(names) > MOST_CANDIDATES else []
        raise HistoryError("ambiguous", name=text, ids=", ".join(names[:MOST_CANDIDATES] + more))
    return ids[0] if ids else ""
