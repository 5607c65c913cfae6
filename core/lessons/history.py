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
from core.lessons.record import Record, id_in, ids_in, is_token
from core.lessons.record_text import PLAIN_ID, record_name, topic_text
from core.messages import Facts

EVERYWHERE = ("--all", "--reflog")
SEARCHED_IDS = 200  # more would make a command line that Windows refuses
PREFIX_CHARS = 4
CANDIDATES = 20

_ANY_LOG = f":(top,glob)**/{CONTEXT_DIRECTORY}/{LOG_NAME}"
_LOG = (
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
    def short(self) -> str:
        return self.id[:SHORT_DIGITS]


def commits_of(repository: Repository, *starts: str, pattern: str = "") -> list[Commit]:
    """Return the commits that changed a log of the repository, the newest first.

    A merge counts if its file differs from every parent's. starts: HEAD for none. pattern:
    expression that a changed line holds. Raises HistoryError.
    """
    if not starts and not repository.has_head:
        return []
    lines = [f"-G{pattern}"] if pattern else []
    paths = (_ANY_LOG, pathspec_of(repository.path))
    listed = repository.ask(*_LOG, *lines, *(starts or ("HEAD",)), "--", *paths)
    commits: list[Commit] = []
    files: dict[str, str] = {}
    fields = iter(field.removeprefix(b"\n") for field in listed.split(b"\0"))
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
    found = commits_of(repository, *starts)
    paths = {path for commit in found for path in commit.files} - {repository.path}
    # A path that `last` lacks may be where this log was.
    others = {path for path in paths if last and repository.blob_in(last, path)}
    return [
        replace(commit, files={path: commit.files[path] for path in own})
        for commit in found
        if (own := [path for path in commit.files if path not in others])
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version of a record, and where it lies."""

    record: Record
    is_shown: bool
    is_hidden: bool  # only a line that another record hides has it
    kept: ReplacedRecord | None  # from the side file
    commit: Commit | None  # the oldest with it


class History:
    """Former versions of the records of one memory log. Git is asked only where it must be.

    kept: replaced records, the newest first.
    """

    def __init__(self, log_path: Path, log: MemoryLog, kept: Iterable[ReplacedRecord] = ()) -> None:
        self._target = Path(os.path.realpath(log_path))
        self.log = log
        self.kept = {it.version_id: it for it in reversed([*kept])}

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
        records: dict[str, Record] = {}
        commits: dict[str, Commit] = {}
        logs = self._logs(ids, *EVERYWHERE, oldest_first=True) if self.has_git else ()
        for commit, log in logs:
            for record in _all_of(log):
                if record.id in ids:
                    records.setdefault(record.version_id, record)
                    commits.setdefault(record.version_id, commit)
        kept = {token: it for token, it in self.kept.items() if it.record.id in ids}
        shown = {it.version_id: it for it in self.log.records if it.id in ids}
        lines = {it.version_id: it for it in _lines(self.log) if it.id in ids}
        records = {token: it.record for token, it in kept.items()} | records | lines | shown
        versions = [
            Version(
                record=record,
                is_shown=token in shown,
                is_hidden=token in lines and token not in shown,
                kept=kept.get(token),
                commit=commits.get(token),
            )
            for token, record in records.items()
        ]
        return sorted(versions, key=lambda it: it.record.version(), reverse=True)

    def last(self, record_id: str) -> Record | None:
        """Return the last version of a record that no reader sees, None for no version.

        A hidden line comes before all others; in git, HEAD's history comes first. Raises
        HistoryError.
        """
        hidden = [record for record in _lines(self.log) if record.id == record_id]
        if hidden:
            return max(hidden, key=Record.version)
        kept = [it.record for it in self.kept.values() if it.record.id == record_id]
        for starts in ((), EVERYWHERE):
            logs = self._logs([record_id], *starts, unless=kept)
            versions = (it for _, log in logs for it in log.with_id(record_id).values())
            if found := next(versions, None):
                kept.append(found)
                break
        return max(kept, key=Record.version, default=None)

    def find_versions(self, tokens: Collection[str]) -> dict[str, Record]:
        """Return the versions that exist, by version id. Raises HistoryError.

        The side file, in which anybody can write a version id, counts only where log and git lack
        one.
        """
        wanted = set(tokens)
        kept = {token: self.kept[token].record for token in wanted & self.kept.keys()}
        found = {it.version_id: it for it in reversed(_all_of(self.log)) if it.version_id in wanted}
        ids = ids_in(wanted - found.keys())
        for _, log in self._logs(ids, *EVERYWHERE, unless=[*kept, *found]) if ids else ():
            for record in _all_of(log):
                if record.version_id in wanted:
                    found.setdefault(record.version_id, record)
            if found.keys() == wanted:
                break
        return {**kept, **found}

    def find_originals(self, principle: Record) -> tuple[list[Record], list[str]]:
        """Return a principle's originals, each in its newest version.

        Also return version ids of originals that are in the log again. Raises HistoryError where a
        version is nowhere.
        """
        tokens = originals_of(principle)
        if not tokens:
            raise HistoryError("no_originals", id=principle.id)
        versions = self.find_versions(tokens)
        older = {
            token
            for version in versions.values()
            for token in (*version.source_ids, *version.version_ids())
            if token != version.version_id
        }
        there = {it.id: it.version_id for it in self.log.records if it.id != principle.id}
        newest, missing, left_alone = dict[str, Record](), dict[str, str](), dict[str, str]()
        for token in dict.fromkeys(tokens):
            name, version = id_in(token), versions.get(token)
            if token in older:
                continue
            if name in there:
                left_alone[name] = there[name]
            elif version is None:
                missing.setdefault(name, token)
            elif name not in newest or version.version() > newest[name].version():
                newest[name] = version
        if missing:
            had = [record.version_id for record in newest.values()]
            facts: Facts = {
                "tokens": ", ".join(missing.values()),
                "count": len(newest.keys() | missing.keys()),
                "missing": len(missing),
                "found": ", ".join(had),
                "first": "".join(had[:1]),
            }
            key = "some_missing" if had else "all_missing"
            raise HistoryError(key, *self.notes(), **facts)
        return list(newest.values()), list(left_alone.values())

    def find_version(self, name: "Named") -> Record:
        """Return the named version, else the last of its record. Raises HistoryError."""
        if name.version_id:
            if found := self.find_versions([name.version_id]).get(name.version_id):
                return found
            raise HistoryError("no_version", *self.notes(), id=name.id, token=name.version_id)
        if last := self.last(name.id):
            return last
        if over := principles_listing(name.id, self.log):
            by = record_name(over[-1][0])
            raise HistoryError("never_committed", *self.notes(), id=name.id, by=by)
        raise HistoryError("unknown", *self.notes(), name=name.id)

    def find_principle(self, name: "Named") -> Record:
        """Return the named principle of the log. Raises HistoryError."""
        found = next(iter(self.log.with_id(name.id).values()), None)
        if not found:
            raise HistoryError("not_in_log", id=name.id)
        if name.version_id not in ("", found.version_id):
            raise HistoryError(
                "other_version", id=name.id, token=found.version_id, named=name.version_id
            )
        if found.type != "principle":
            raise HistoryError("is_log", id=name.id)
        return found

    def topics(self, beginning: str) -> dict[str, str]:
        """Return topics of former records by id, for one beginning. Raises HistoryError."""
        kept = [it.record for it in self.kept.values()]
        found = {it.id: it.topic for it in kept if it.id.startswith(beginning)}
        for _, log in self._logs([beginning], *EVERYWHERE, unless=found):
            for record in _lines(log):
                if record.id.startswith(beginning):
                    found.setdefault(record.id, record.topic)
        return found

    def notes(self) -> list[str]:
        """Return reasons why git may lack a version, as keys of sentences."""
        if self.kept and not self.has_git:
            return []
        notes = ["cut"] if self.repository.is_cut else []
        path = pathspec_of(self.repository.path)
        if not self.repository.ask("rev-list", "--max-count=1", *EVERYWHERE, "--", path):
            notes.append("ignored" if self.repository.is_ignored else "not_committed")
        return notes

    def _logs(
        self,
        ids: Collection[str],
        *starts: str,
        oldest_first: bool = False,
        unless: Collection[object] = (),
    ) -> Iterator[tuple[Commit, MemoryLog]]:
        """Yield logs where a line with one of these ids (or beginnings) changed, with a commit.

        unless: what else was found, so that git may be missing.
        """
        is_plain = len(ids) <= SEARCHED_IDS and all(map(PLAIN_ID.fullmatch, ids))
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


def _lines(log: MemoryLog) -> list[Record]:
    return [record for _, record in log.all_records()]


def _all_of(log: MemoryLog) -> list[Record]:
    """Of a merged record, which can differ from its line, return both."""
    return [*log.records, *_lines(log)]


def originals_of(principle: Record) -> tuple[str, ...]:
    """Return the version ids of a principle's originals, without its own former versions."""
    # It lists those if its id changed because a secret left its text.
    parts = ((token, token[len(id_in(token)) + 1 :]) for token in principle.source_ids)
    return tuple(token for token, fingerprint in parts if fingerprint not in principle.former)


def former_ids_of(record: Record) -> tuple[str, ...]:
    """Return version ids from before a new topic or text changed the id."""
    if record.type == "log":  # it replaces nothing else
        return record.source_ids
    originals = set(originals_of(record))
    return tuple(token for token in record.source_ids if token not in originals)


def principles_listing(record_id: str, log: MemoryLog) -> list[tuple[Record, str]]:
    """Return the principles that list a record, each with the newest version id listed."""
    newest: dict[str, tuple[Record, str]] = {}
    for principle in _lines(log):
        for token in principle.source_ids:  # the newest stands first
            if id_in(token) == record_id:
                newest.setdefault(principle.version_id, (principle, token))
    return list(newest.values())


# Records by the names that a person types.


class Named(NamedTuple):
    """The record that somebody means."""

    id: str
    version_id: str  # "" where no version is meant


def named(text: str, history: History) -> Named:
    """Return the record that an id, a beginning of one, or a version id names.

    The log comes first, then the originals that it lists, then git. Raises HistoryError: bad_token,
    too_short, unknown or ambiguous.
    """
    lines = _lines(history.log)
    topics = {record.id: record.topic for record in lines}
    beginning, fingerprint = _parted(text, topics)
    replaced = {  # maybe the originals were never committed
        id_in(token): principle.topic
        for principle in lines
        for token in principle.source_ids
        if is_token(token)
    }
    found = _only(beginning, topics, text) or _only(beginning, replaced, text)
    if not found:
        _check_length(beginning, text)
        found = _only(beginning, history.topics(beginning), text)
    if not found:
        raise HistoryError("unknown", *history.notes(), name=text)
    return Named(found, f"{found}@{fingerprint}" if fingerprint else "")


def find_records(text: str, log: MemoryLog) -> list[Record]:
    """Return the visible records that an argument of `named` names: one, or all of its id.

    Raises HistoryError: bad_token, too_short, not_there, ambiguous or other_version.
    """
    topics = {record.id: record.topic for record in log.records}
    beginning, fingerprint = _parted(text, topics)
    wanted = _only(beginning, topics, text)
    if not wanted:
        _check_length(beginning, text)
        raise HistoryError("not_there", name=text)
    there = [record for record in log.records if record.id == wanted]
    found = [record for record in there if not fingerprint or record.fingerprint() == fingerprint]
    if not found:
        raise HistoryError("other_version", id=wanted, token=there[0].version_id, named=text)
    return found


def find_record(text: str, log: MemoryLog) -> Record:
    """Return the only record that `find_records` finds. Raises HistoryError: also shared_id."""
    found = find_records(text, log)
    if len(found) > 1:
        tokens = ", ".join(record.version_id for record in found)
        raise HistoryError("shared_id", name=text, tokens=tokens)
    return found[0]


def _parted(text: str, known: Container[str]) -> tuple[str, str]:
    """Split off the fingerprint, "" for none; an id may hold an @."""
    if text in known or "@" not in text:
        return text, ""
    if not is_token(text):
        raise HistoryError("bad_token", name=text)
    beginning, _, fingerprint = text.rpartition("@")
    return beginning, fingerprint


def _check_length(beginning: str, text: str) -> None:
    if len(beginning) < PREFIX_CHARS:
        raise HistoryError("too_short", name=text, least=PREFIX_CHARS)


def _only(beginning: str, topics: Mapping[str, str], text: str) -> str:
    if beginning in topics:
        return beginning
    ids = [name for name in topics if name.startswith(beginning)]
    if ids:
        _check_length(beginning, text)
    if len(ids) > 1:
        names = [f"{name} [{topic_text(topics[name])}]" for name in ids]
        more = [f"+{len(names) - CANDIDATES}"] if len(names) > CANDIDATES else []
        raise HistoryError("ambiguous", name=text, ids=", ".join(names[:CANDIDATES] + more))
    return ids[0] if ids else ""
