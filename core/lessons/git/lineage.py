"""Asks git about all records of a memory log at once: who brought each, and how the log grew.

It reads every file that HEAD has behind it once, the oldest first, and parses only the lines that
no file before it had. So a line means what a reader of its file saw in it, and a merge is nothing
special.
"""

import math
import time
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

from core.lessons.answers.rendering import record_block
from core.lessons.git.commits import Commit
from core.lessons.git.errors import HistoryError
from core.lessons.git.old_logs import OldLogs
from core.lessons.git.versions import History, former_selves_of, whole
from core.lessons.lines import split_lines
from core.lessons.log import MemoryLog
from core.lessons.record import Record, ids_in, parse_line, seconds_of
from core.lessons.upkeep.replaced import Replaced
from core.text.tokens import estimate_tokens

MOST_POINTS = 120
KEPT_LINE_BYTES = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The memory as a reader saw it at one moment.

    date: ISO 8601. tokens: the estimated cost of all records to a model, without the topics above
    them. size: bytes of the file.
    """

    date: str
    records: int
    principles: int
    tokens: int
    size: int


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
    versions: by version id, what the principles of the log as it stands list as replaced, what
    these had themselves replaced, and so on; from the file, any commit of any branch, or else from
    what is kept beside the log.
    growth: the first-parent history of HEAD, the oldest first, without the work tree: at most
    MOST_POINTS points, evenly over time, the first and the last always among them. Each bears the
    date of the committer, when that state came to the branch; a wrong clock can set one back.
    notes: reasons why something may be missing, as of `History.notes`.
    """

    added: Mapping[str, Commit] = field(default_factory=dict)
    saved: Mapping[str, Commit] = field(default_factory=dict)
    versions: Mapping[str, Record] = field(default_factory=dict)
    growth: tuple[Point, ...] = ()
    notes: tuple[str, ...] = ()


def lineage_of(
    log_path: Path,
    log: MemoryLog,
    kept: Iterable[Replaced] = (),
    *,
    deadline_s: float = math.inf,
) -> Lineage:
    """Ask git about the log at `log_path`. Raises HistoryError, also past the deadline.

    log: the file as it stands. kept: what was replaced and is kept beside the log. deadline_s: by
    the monotonic clock.
    """
    history = History(log_path, log, kept, deadline_s=deadline_s)
    commits = list(reversed(history.commits.matching()))
    with OldLogs(history.repository) as logs:
        reader = _Reader(logs)
        added, saved = _brought_by(commits, reader, log, deadline_s=deadline_s)
        return Lineage(
            added={name: commits[number] for name, number in added.items()},
            saved=saved,
            versions=_versions(log, reader, history),
            growth=_growth(history.commits.standings(), reader),
            notes=tuple(history.notes()),
        )


def authors_of(log_path: Path, log: MemoryLog, *, deadline_s: float) -> dict[str, str]:
    """Return by id who added each record of a log, as far as it is committed.

    deadline_s: by the monotonic clock. Raises HistoryError, also when there is not enough time.
    """
    history = History(log_path, log, deadline_s=deadline_s)
    commits = list(reversed(history.commits.matching()))
    with OldLogs(history.repository) as logs:
        added, _ = _brought_by(commits, _Reader(logs), log, deadline_s=deadline_s)
    ids = {record.id for record in log.records}
    return {name: commits[number].author for name, number in added.items() if name in ids}


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


def lineage_without_git(log: MemoryLog, kept: Iterable[Replaced]) -> Lineage:
    """Return what is known where git cannot be asked; parameters as of `lineage_of`."""
    known = {it.token: it.record for it in reversed([*kept])}
    return Lineage(versions=_found(_listed(log, known | _own(log))))


def point_of(log: MemoryLog, date: str, costs: dict[bytes, int] | None = None) -> Point:
    """Return the state of a log at this date. costs: what a line costs, kept from call to call."""
    costs = {} if costs is None else costs
    tokens = principles = 0
    places = (at for at, entry in enumerate(log.entries) if entry and at not in log.leftovers)
    for at, record in zip(places, log.records, strict=True):
        principles += record.type == "principle"
        if record is not log.entries[at]:  # a reader sees more than this line says
            tokens += _cost(record)
            continue
        line = log.lines[at]
        if line not in costs:
            costs[line] = _cost(record)
        tokens += costs[line]
    return Point(
        date=date,
        records=log.count,
        principles=principles,
        tokens=tokens,
        size=sum(map(len, log.lines)),
    )


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
    """Reads each file for what those before it did not have.

    versions: by version id, all so far, also what a reader put together after a merge.
    """

    def __init__(self, logs: OldLogs) -> None:
        self._logs = logs
        self._parsed = _Parsed()
        self._read = {""}
        self.versions: dict[str, Record] = {}

    def log(self, blob: str) -> MemoryLog:
        """Return the log of this object, an empty one for "". Raises HistoryError."""
        data = self._logs.content(blob) if blob else b""
        return MemoryLog.of_lines(split_lines(data), self._parsed.__getitem__)

    def new_in(self, blobs: Iterable[str]) -> dict[str, Record]:
        """Return, by version id, records of lines that no file had so far. Raises HistoryError."""
        for blob in blobs:
            if blob not in self._read:
                self._read.add(blob)
                self.versions |= _put_together(self.log(blob))
        new = {record.token: record for record in self._parsed.new}
        self._parsed.new.clear()
        self.versions |= new
        return new


def _put_together(log: MemoryLog) -> dict[str, Record]:
    """Return, by version id, records that say more than their line: several lines were merged."""
    ids = [record.id for record in log.entries if record]
    if len(set(ids)) == len(ids):
        return {}
    lines = set(map(id, log.entries))
    return {record.token: record for record in log.records if id(record) not in lines}


def _versions(log: MemoryLog, reader: _Reader, history: History) -> dict[str, Record]:
    """Return what the principles list, and what that lists; of all branches if some is missing.

    It may be missing everywhere: a record can be replaced before any commit has it. Only that is
    taken from the side file, in which anybody can write a version id.
    """
    reader.versions |= _own(log)
    if None in _listed(log, reader.versions).values():
        for commit in history.commits.matching(everywhere=True):
            reader.new_in(change.after for change in commit.changes)
    kept = {token: it.record for token, it in history.kept.items()}
    return _found(_listed(log, kept | reader.versions))


def _own(log: MemoryLog) -> dict[str, Record]:
    return {record.token: record for record in (*whole(log), *log.records)}


def _found(listed: Mapping[str, Record | None]) -> dict[str, Record]:
    return {token: record for token, record in listed.items() if record}


def _listed(log: MemoryLog, known: Mapping[str, Record]) -> dict[str, Record | None]:
    """Return, by version id, what records list as replaced, and so on; None if unknown."""
    listed: dict[str, Record | None] = {}
    tokens = [token for record in log.records for token in record.source_ids]
    for token in tokens:
        if token not in listed:
            record = listed[token] = known.get(token)
            tokens += record.source_ids if record else ()
    return listed


def _growth(standings: Sequence[tuple[str, str]], reader: _Reader) -> tuple[Point, ...]:
    costs: dict[bytes, int] = {}
    dates = [date for date, _ in standings]
    return tuple(
        point_of(reader.log(blob), date, costs)
        for date, blob in (standings[at] for at in _sampled(dates))
    )


def _sampled(dates: Sequence[str]) -> list[int]:
    """Return which of these dates stand for all: first, last, and evenly over time between them.

    At each moment of an even division the last date up to it tells how things were.
    """
    if len(dates) <= MOST_POINTS:
        return list(range(len(dates)))
    moments = list(accumulate((max(seconds_of(date), 0.0) for date in dates), max))
    first, whole_s = moments[0], moments[-1] - moments[0]
    between = (first + whole_s * part / (MOST_POINTS - 1) for part in range(1, MOST_POINTS - 1))
    chosen = {bisect_right(moments, moment) - 1 for moment in between}
    return sorted({0, *chosen, len(dates) - 1})


def _cost(record: Record) -> int:
    return estimate_tokens(record_block(record, "en"))
