"""Asks the log, the file beside it and git about one record: its versions, and who replaced it."""

import os
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from core.lessons.git.commits import Commit, Commits
from core.lessons.git.errors import HistoryError
from core.lessons.git.old_logs import OldLogs
from core.lessons.git.repository import Repository
from core.lessons.log import MemoryLog
from core.lessons.record import Record, id_in, ids_in
from core.lessons.upkeep.replaced import Replaced

State = Literal["present", "hidden", "replaced", "gone"]

SEARCHED_IDS = 200  # more would make a command line that Windows refuses

_PLAIN_ID = re.compile(r"[0-9A-Za-z._-]{1,64}")


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

    @cached_property
    def commits(self) -> Commits:
        """The commits that changed the file. Raises HistoryError where there is no repository."""
        return Commits(self.repository)

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
            for commit in self.commits.matching(_pattern(ids), everywhere=True):
                for change in commit.changes:
                    log = logs.log(change.after)
                    for record in (*whole(log), *log.records):
                        if record.id in ids:
                            found[record.token] = record, commit
        return found

    def last(self, record_id: str) -> Record | None:
        """Return the last version of a removed record; what HEAD has behind it comes first."""
        kept = [it.record for it in self.kept.values() if it.record.id == record_id]
        with self._git_is_needed(unless=kept):
            for everywhere in (False, True):
                if record := self._last_committed(record_id, everywhere=everywhere):
                    kept.append(record)
                    break
        return max(kept, key=Record.version, default=None)

    def _last_committed(self, record_id: str, *, everywhere: bool) -> Record | None:
        """Return the record as the newest commit shows it, or as it was before that took it out."""
        with OldLogs(self.repository) as logs:
            for commit in self.commits.matching(_pattern([record_id]), everywhere=everywhere):
                after = [change.after for change in commit.changes]
                before = [blob for change in commit.changes for blob in change.before]
                for blob in (*after, *before):
                    if record := _seen(logs.log(blob), record_id):
                        return record
        return None

    def find_versions(self, tokens: Collection[str]) -> dict[str, Record]:
        """Return, by version id, what the file or any commit holds. Raises HistoryError.

        Only what neither has is taken from the side file, in which anybody can write a version id.
        """
        wanted = ids_in(tokens)
        kept = {token: self.kept[token].record for token in tokens if token in self.kept}
        found = dict(_versions(self.log, wanted, tokens))
        if len(found) == len(set(tokens)):
            return found
        with self._git_is_needed(unless=[*kept, *found]), OldLogs(self.repository) as logs:
            for blob in self._blobs(wanted):
                found.update(_versions(logs.log(blob), wanted, tokens))
                if len(found) == len(set(tokens)):
                    break
        return {**kept, **found}

    @contextmanager
    def _git_is_needed(self, *, unless: Collection[object]) -> Iterator[None]:
        """Let an error of git pass where something was found without it."""
        try:
            yield
        except HistoryError:
            if not unless:
                raise

    def topics(self, beginning: str) -> dict[str, str]:
        """Return, by id, topics of all former records whose id begins so. Raises HistoryError."""
        found = {
            it.record.id: it.record.topic
            for it in self.kept.values()
            if it.record.id.startswith(beginning)
        }
        with self._git_is_needed(unless=found), OldLogs(self.repository) as logs:
            for blob in self._blobs([beginning]):
                for record in whole(logs.log(blob)):
                    if record.id.startswith(beginning):
                        found.setdefault(record.id, record.topic)
        return found

    def notes(self) -> list[str]:
        """Return reasons why a version may be missing in git, as keys of sentences."""
        if self.kept and not self.has_git:
            return []
        notes = ["cut"] if self.repository.is_cut else []
        if not self.commits.exist():
            notes.append("ignored" if self.repository.is_ignored else "not_committed")
        return notes

    def _blobs(self, ids: Collection[str]) -> list[str]:
        """Return the files in which a line with one of these ids came or went, the newest first."""
        commits = self.commits.matching(_pattern(ids), everywhere=True)
        blobs = [
            blob
            for commit in commits
            for change in commit.changes
            for blob in (change.after, *change.before)
        ]
        return [blob for blob in dict.fromkeys(blobs) if blob]


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


def present(record_id: str, log: MemoryLog) -> Present:
    """Return what this log says of a record."""
    replaced = tuple(
        (principle, token)
        for principle in whole(log)
        for token in principle.source_ids
        if id_in(token) == record_id
    )
    record = _seen(log, record_id)
    if record:
        return Present(state="present", record=record, replaced=replaced)
    lines = [line for line in whole(log) if line.id == record_id]
    if lines:
        newest = max(lines, key=Record.version)
        return Present(state="hidden", record=newest, replaced=replaced)
    return Present(state="replaced" if replaced else "gone", record=None, replaced=replaced)


def _pattern(ids: Collection[str]) -> str:
    """Return a regular expression for lines with one of these; "" if only reading all helps."""
    if len(ids) > SEARCHED_IDS or not all(map(_PLAIN_ID.fullmatch, ids)):
        return ""
    return "|".join(name.replace(".", "[.]") for name in sorted(ids))


def _seen(log: MemoryLog, record_id: str) -> Record | None:
    return next(iter(log.with_id(record_id).values()), None)


def whole(log: MemoryLog) -> Iterator[Record]:
    """Yield all lines that are records, leftovers of a merge included."""
    return (record for _, record in log.all_records())


def _versions(
    log: MemoryLog, ids: Collection[str], tokens: Collection[str]
) -> Iterator[tuple[str, Record]]:
    """Yield lines, and what a reader saw of them: after a merge maybe more than one line says."""
    for record in (*whole(log), *log.records):
        if record.id in ids and record.token in tokens:
            yield record.token, record
