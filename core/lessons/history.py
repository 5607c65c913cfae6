"""Finds what records were: in the log, in the file of what was replaced, and in git.

A version id is made of the text, so that it does not matter which log of the repository has it:
each `.context/memory_log.jsonl` is searched, wherever the log stood before it was moved.
"""

import os
import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from core.git import HistoryError, Repository, literal
from core.lessons.commits import Commit, OldLogs, commits_of
from core.lessons.log import MemoryLog
from core.lessons.record import Record, id_in, ids_in, is_token
from core.lessons.record_text import topic_text
from core.lessons.upkeep.replaced import Replaced

EVERYWHERE = ("--all", "--reflog")
SEARCHED_IDS = 200  # more would make a command line that Windows refuses
PREFIX_CHARS = 4
CANDIDATES = 20

_PLAIN_ID = re.compile(r"[0-9A-Za-z._-]{1,64}")

State = Literal["present", "hidden", "replaced", "gone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version of a record, and where it lies.

    is_shown: whether a reader of the log sees it. is_hidden: whether only a line of the file has
    it, which a principle or a newer version hides. kept: what the file beside the log says of it.
    commit: the oldest commit that has it.
    """

    record: Record
    is_shown: bool
    is_hidden: bool
    kept: Replaced | None
    commit: Commit | None


class History:
    """The former versions of the records of one memory log: those kept beside it, and git's."""

    def __init__(self, log_path: Path, log: MemoryLog, kept: Iterable[Replaced] = ()) -> None:
        """Take the file as it stands (`log`). Git is not asked before something is wanted of it.

        kept: what was replaced and is kept beside the log, the newest first.
        """
        self._target = Path(os.path.realpath(log_path))
        self.log = log
        self.kept = {it.token: it for it in reversed([*kept])}

    @cached_property
    def repository(self) -> Repository:
        """The repository of the file. Raises HistoryError where there is none."""
        return Repository(self._target)

    @cached_property
    def has_git(self) -> bool:
        """Whether git can be asked for the history of the log."""
        try:
            return bool(self.repository)
        except HistoryError:
            return False

    def versions(self, ids: Collection[str]) -> list[Version]:
        """Return all versions of the records with these ids, the newest first.

        Git is not asked where it has no commit of the log. Raises HistoryError.
        """
        shown = {record.token: record for record in self.log.records if record.id in ids}
        lines = {record.token: record for record in whole(self.log) if record.id in ids}
        kept = {token: it for token, it in self.kept.items() if it.record.id in ids}
        committed = self._committed(ids) if self.has_git else {}
        records = {token: it.record for token, it in kept.items()}
        records |= {token: record for token, (record, _) in committed.items()} | lines | shown
        found = [
            Version(
                record=record,
                is_shown=token in shown,
                is_hidden=token in lines and token not in shown,
                kept=kept.get(token),
                commit=committed[token][1] if token in committed else None,
            )
            for token, record in records.items()
        ]
        return sorted(found, key=lambda it: it.record.version(), reverse=True)

    def _committed(self, ids: Collection[str]) -> dict[str, tuple[Record, Commit]]:
        """Return, by version id, what git has of these records, with the oldest commit of each."""
        found: dict[str, tuple[Record, Commit]] = {}
        with OldLogs(self.repository) as logs:
            for commit in self._commits(ids, *EVERYWHERE):
                for change in commit.changes:
                    for record in _read_of(logs.log(change.after)):
                        if record.id in ids:
                            found[record.token] = record, commit
        return found

    def last(self, record_id: str) -> Record | None:
        """Return the last version of a removed record; what HEAD has behind it comes first."""
        kept = [it.record for it in self.kept.values() if it.record.id == record_id]
        with self._git_is_needed(unless=kept):
            record = self._last_committed(record_id) or self._last_committed(record_id, *EVERYWHERE)
            kept += [record] if record else []
        return max(kept, key=Record.version, default=None)

    def _last_committed(self, record_id: str, *starts: str) -> Record | None:
        """Return the record as the newest commit shows it, or as it was before that took it out."""
        with OldLogs(self.repository) as logs:
            for commit in self._commits([record_id], *starts):
                after = [change.after for change in commit.changes]
                before = [blob for change in commit.changes for blob in change.before]
                for blob in (*after, *before):
                    if record := _visible(logs.log(blob), record_id):
                        return record
        return None

    def find_versions(self, tokens: Collection[str]) -> dict[str, Record]:
        """Return, by version id, what the file or any commit holds. Raises HistoryError.

        Only what neither has is taken from the side file, in which anybody can write a version id.
        """
        wanted, ids = set(tokens), ids_in(tokens)
        kept = {token: self.kept[token].record for token in wanted if token in self.kept}
        found = {it.token: it for it in _read_of(self.log) if it.token in wanted}
        if found.keys() == wanted:
            return found
        with self._git_is_needed(unless=[*kept, *found]):
            for log in self._former_logs(ids):
                found |= {it.token: it for it in _read_of(log) if it.token in wanted}
                if found.keys() == wanted:
                    break
        return {**kept, **found}

    def topics(self, beginning: str) -> dict[str, str]:
        """Return, by id, topics of all former records whose id begins so. Raises HistoryError."""
        kept = [it.record for it in self.kept.values()]
        found = {it.id: it.topic for it in kept if it.id.startswith(beginning)}
        with self._git_is_needed(unless=found):
            for log in self._former_logs([beginning]):
                for record in whole(log):
                    if record.id.startswith(beginning):
                        found.setdefault(record.id, record.topic)
        return found

    def notes(self) -> list[str]:
        """Return reasons why a version may be missing in git, as keys of sentences."""
        if self.kept and not self.has_git:
            return []
        notes = ["cut"] if self.repository.is_cut else []
        path = literal(self.repository.path)
        if not self.repository.ask("rev-list", "--max-count=1", *EVERYWHERE, "--", path):
            notes.append("ignored" if self.repository.is_ignored else "not_committed")
        return notes

    def _commits(self, ids: Collection[str], *starts: str) -> list[Commit]:
        """Return the commits in which a line changed that has one of these ids, or begins of one.

        starts: as of `commits_of`.
        """
        is_plain = len(ids) <= SEARCHED_IDS and all(map(_PLAIN_ID.fullmatch, ids))
        pattern = "|".join(name.replace(".", "[.]") for name in sorted(ids)) if is_plain else ""
        return commits_of(self.repository, *starts, pattern=pattern)

    def _former_logs(self, ids: Collection[str]) -> Iterator[MemoryLog]:
        """Yield the logs in which a line with one of these ids came or went, the newest first."""
        changes = [it for commit in self._commits(ids, *EVERYWHERE) for it in commit.changes]
        blobs = dict.fromkeys(blob for it in changes for blob in (it.after, *it.before))
        with OldLogs(self.repository) as logs:
            yield from (logs.log(blob) for blob in blobs if blob)

    @contextmanager
    def _git_is_needed(self, *, unless: Collection[object]) -> Iterator[None]:
        """Let an error of git pass where something was found without it."""
        try:
            yield
        except HistoryError:
            if not unless:
                raise


def whole(log: MemoryLog) -> Iterator[Record]:
    """Yield all lines that are records, leftovers of a merge included."""
    return (record for _, record in log.all_records())


def _read_of(log: MemoryLog) -> Iterator[Record]:
    """Yield the lines, and what a reader saw of them: after a merge maybe more than one says."""
    yield from whole(log)
    yield from log.records


def _visible(log: MemoryLog, record_id: str) -> Record | None:
    return next(iter(log.with_id(record_id).values()), None)


def originals_of(principle: Record) -> tuple[str, ...]:
    """Return the version ids of what a principle replaced, without its own former versions.

    It lists those, too, if its id changed because a secret was taken out of its text.
    """
    return tuple(
        token
        for token in principle.source_ids
        if token[len(id_in(token)) + 1 :] not in principle.former
    )


def former_selves_of(record: Record) -> tuple[str, ...]:
    """Return a record's version ids from before its topic or its text, and so its id, changed."""
    if record.type == "log":  # it replaces nothing else
        return record.source_ids
    originals = set(originals_of(record))
    return tuple(token for token in record.source_ids if token not in originals)


# What the log says of one record.


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """What the log as it stands says of a record.

    record: the one that a reader sees, else the line that a principle hides. replaced: for each
    principle that lists a version of it, the id of that version.
    """

    state: State
    record: Record | None
    replaced: tuple[tuple[Record, str], ...] = ()

    @property
    def principles(self) -> list[tuple[Record, str]]:
        """Each principle once, with the newest version that it replaced, which it lists first."""
        newest = {pair[0].token: pair for pair in reversed(self.replaced)}
        return list(reversed(newest.values()))


def present(record_id: str, log: MemoryLog) -> Present:
    """Return what this log says of a record."""
    replaced = tuple(
        (principle, token)
        for principle in whole(log)
        for token in principle.source_ids
        if id_in(token) == record_id
    )
    record = _visible(log, record_id)
    if record:
        return Present(state="present", record=record, replaced=replaced)
    lines = [line for line in whole(log) if line.id == record_id]
    if lines:
        newest = max(lines, key=Record.version)
        return Present(state="hidden", record=newest, replaced=replaced)
    return Present(state="replaced" if replaced else "gone", record=None, replaced=replaced)


# Records by what a person calls them.


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """The record that somebody means: its id, and the version id if one version is meant."""

    id: str
    token: str = ""


def named(text: str, history: History) -> Named:
    """Return the record that an argument names: an id, a beginning of one, or a version id.

    The log as it stands comes first, then what it says of replaced records, then git. Raises
    HistoryError: bad_token, too_short, unknown or ambiguous.
    """
    topics = {record.id: record.topic for record in whole(history.log)}
    beginning, fingerprint = _parted(text, topics)
    ids = _beginning_so(beginning, topics)
    if not ids:
        replaced = {
            id_in(token): principle.topic  # maybe the originals were never committed
            for principle in whole(history.log)
            for token in principle.source_ids
            if is_token(token)
        }
        ids = _beginning_so(beginning, replaced)
        if beginning not in ids and len(beginning) >= PREFIX_CHARS:
            ids |= history.topics(beginning)
    if not ids and len(beginning) >= PREFIX_CHARS:
        raise HistoryError("unknown", *history.notes(), name=text)
    found = _only(ids, beginning, text)
    return Named(id=found, token=f"{found}@{fingerprint}" if fingerprint else "")


def records_named(text: str, log: MemoryLog) -> list[Record]:
    """Return the records of the log that an argument names: one, or all that share its id.

    Only what a reader sees counts. Raises HistoryError: bad_token, too_short, not_there, ambiguous
    or other_version.
    """
    topics = {record.id: record.topic for record in log.records}
    beginning, fingerprint = _parted(text, topics)
    ids = _beginning_so(beginning, topics)
    if not ids and len(beginning) >= PREFIX_CHARS:
        raise HistoryError("not_there", name=text)
    wanted = _only(ids, beginning, text)
    there = [record for record in log.records if record.id == wanted]
    found = [record for record in there if not fingerprint or record.fingerprint() == fingerprint]
    if not found:
        facts = {"token": there[0].token, "named": text}
        raise HistoryError("other_version", id=there[0].id, **facts)
    return found


def one_named(text: str, log: MemoryLog) -> Record:
    """Return the one record of the log that an argument names. Raises HistoryError."""
    found = records_named(text, log)
    if len(found) > 1:
        tokens = ", ".join(record.token for record in found)
        raise HistoryError("shared_id", name=text, tokens=tokens)
    return found[0]


def _parted(text: str, known: Container[str]) -> tuple[str, str]:
    """Return an id or its beginning, and the fingerprint behind it, or ""; an id may hold an @."""
    if text in known or "@" not in text:
        return text, ""
    if not is_token(text):
        raise HistoryError("bad_token", name=text)
    beginning, _, fingerprint = text.rpartition("@")
    return beginning, fingerprint


def _only(ids: Mapping[str, str], beginning: str, text: str) -> str:
    """Return the one of these ids that is meant. Raises HistoryError: too_short or ambiguous."""
    if beginning in ids:
        return beginning
    if len(beginning) < PREFIX_CHARS:
        raise HistoryError("too_short", name=text, least=PREFIX_CHARS)
    if len(ids) > 1:
        names = [f"{name} [{topic_text(topic)}]" for name, topic in ids.items()]
        more = [f"+{len(names) - CANDIDATES}"] if len(names) > CANDIDATES else []
        raise HistoryError("ambiguous", name=text, ids=", ".join(names[:CANDIDATES] + more))
    return next(iter(ids))


def _beginning_so(beginning: str, topics: Mapping[str, str]) -> dict[str, str]:
    return {name: topic for name, topic in topics.items() if name.startswith(beginning)}
