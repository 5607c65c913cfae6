"""Asks git about all records of a memory log at once: who brought each.

It reads every file that HEAD has behind it once, the oldest first, and parses only the lines that
no file before it had. So a line means what a reader of its file saw in it, and a merge is nothing
special.
"""

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core.lessons.git.commits import Commit
from core.lessons.git.errors import HistoryError
from core.lessons.git.old_logs import OldLogs
from core.lessons.git.versions import History, former_selves_of
from core.lessons.lines import split_lines
from core.lessons.log import MemoryLog
from core.lessons.record import Record, ids_in, parse_line

KEPT_LINE_BYTES = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """All records of one memory log, as far as git has them; nothing at all by default.

    added: by id of a record, the commit that first brought a line with this id, or with one that
    the record had before its topic or its text was changed. saved: by version id, the commit that
    first brought this version. Both know all that HEAD has behind it, removed records included; of
    two branches they name the older commit, and a merge where no parent has the line (a conflict
    solved by hand, or an edit while merging). What only stands in the work tree has no commit,
    unless it follows what has one; nor has a version that a reader put together from several lines
    after a merge, until some change writes it down.
    notes: reasons why something may be missing, as of `History.notes`.
    """

    added: Mapping[str, Commit] = field(default_factory=dict)
    saved: Mapping[str, Commit] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def lineage_of(log_path: Path, log: MemoryLog, *, deadline_s: float = math.inf) -> Lineage:
    """Ask git about the log at `log_path`. Raises HistoryError, also past the deadline.

    log: the file as it stands. deadline_s: by the monotonic clock.
    """
    history = History(log_path, log, deadline_s=deadline_s)
    commits = list(reversed(history.commits.matching()))
    with OldLogs(history.repository) as logs:
        added, saved = _brought_by(commits, _Reader(logs), log, deadline_s=deadline_s)
    return Lineage(
        added={name: commits[number] for name, number in added.items()},
        saved=saved,
        notes=tuple(history.notes()),
    )


def _brought_by(
    commits: Sequence[Commit], reader: "_Reader", log: MemoryLog, *, deadline_s: float = math.inf
) -> tuple[dict[str, int], dict[str, Commit]]:
    """Return `added` and `saved` of a lineage; a commit of the first by its number, oldest first.

    Raises HistoryError, also past the deadline.
    """
    added: dict[str, int] = {}
    saved: dict[str, Commit] = {}
    started_s = time.monotonic()
    for number, commit in enumerate(commits):
        if time.monotonic() > deadline_s:
            raise HistoryError("git_slow", seconds=round(deadline_s - started_s))
        for token, record in reader.new_in(change.after for change in commit.changes).items():
            added[record.id] = min(_brought(record, added), default=number)
            saved.setdefault(token, commit)
    for record in log.records:
        if brought := _brought(record, added):
            added[record.id] = min(brought)
    return added, saved


def _brought(record: Record, added: Mapping[str, int]) -> list[int]:
    """Return the commits that brought a record, under its id and under those that it had before."""
    ids = {record.id, *ids_in(former_selves_of(record))}
    return [added[name] for name in ids if name in added]


class _Parsed(dict[bytes, Record | None]):
    """Parses each line once, when first asked for it; new: the records since that was emptied."""

    def __init__(self) -> None:
        super().__init__()
        self.new: list[Record] = []

    def __missing__(self, line: bytes) -> Record | None:
        record = parse_line(line)
        if record:
            self.new.append(record)
        if record or len(line) <= KEPT_LINE_BYTES:
            self[line] = record
        return record


class _Reader:
    """Reads each file for what those before it did not have."""

    def __init__(self, logs: OldLogs) -> None:
        self._logs = logs
        self._parsed = _Parsed()
        self._read = {""}

    def new_in(self, blobs: Iterable[str]) -> dict[str, Record]:
        """Return, by version id, records of lines that no file had so far. Raises HistoryError."""
        for blob in blobs:
            if blob not in self._read:
                self._read.add(blob)
                lines = split_lines(self._logs.content(blob))
                MemoryLog.of_lines(lines, self._parsed.__getitem__)
        new = {record.token: record for record in self._parsed.new}
        self._parsed.new.clear()
        return new
