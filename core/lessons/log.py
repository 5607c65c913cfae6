"""One version of the memory log: its lines, and the records that a reader sees.

Pure: bytes in, bytes out. Every line keeps its bytes until a change names its record; lines that
hold no record (torn, a conflict marker, somebody's note) stay where they are.

After a git merge an id can stand there twice: the newest version is the record, and versions that
do not know each other are both shown. An original can be back beside the principle that replaced
it: it is hidden as long as the principle's `source_ids` list its token. Older versions and hidden
originals are leftovers, and the next change drops them.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from core.errors import RecordTooLargeError
from core.lessons.lines import (
    BOM,
    CONFLICT_BEGIN,
    conflict_lines,
    mark_of,
    split_lines,
)
from core.lessons.merging import Merged, merged
from core.lessons.record import (
    CACHED_LINES,
    MOST_LINE_BYTES,
    Record,
    cached_parse_line,
    parse_line,
)


@dataclass(frozen=True)
class MemoryLog:
    """One version of the file: `lines` with their line ends, `entries` their records or None.

    conflict: the lines (from 0) that are conflict markers of git or show the common ancestor.
    """

    lines: Sequence[bytes] = ()
    entries: Sequence[Record | None] = field(default=(), repr=False)
    conflict: frozenset[int] = frozenset()

    @classmethod
    def parse(cls, data: bytes) -> "MemoryLog":
        r"""Split at `\n` only and parse each line once; any bytes are accepted."""
        lines = split_lines(data)
        return cls.of_lines(lines, cached_parse_line if len(lines) <= CACHED_LINES else parse_line)

    @classmethod
    def of_lines(
        cls, lines: Sequence[bytes], parse: Callable[[bytes], Record | None]
    ) -> "MemoryLog":
        """Return the log of these lines, for a caller whose `parse` remembers its answers."""
        entries = [parse(line) for line in lines]
        if lines and (mark := mark_of(lines[0])):
            entries[0] = parse(lines[0].removeprefix(mark))
        conflict = conflict_lines(lines, entries)
        for at in conflict:
            entries[at] = None
        return cls(lines, entries, conflict)

    def content(self, at: int) -> bytes:
        """Return a line without the byte order mark that the first one may begin with."""
        line = self.lines[at]
        return line.removeprefix(mark_of(line)) if at == 0 else line

    def to_bytes(self) -> bytes:
        """Return the file as bytes."""
        return b"".join(self.lines)

    @cached_property
    def records(self) -> list[Record]:
        """The records a reader sees, in the order of the file: each gap once, unless unsettled."""
        leftovers, changed = self._merged.leftovers, self._merged.changed
        return [
            changed.get(at, record)
            for at, record in enumerate(self.entries)
            if record and at not in leftovers
        ]

    @property
    def count(self) -> int:
        """How many records a reader sees."""
        return len(self.records)

    @cached_property
    def topics(self) -> Counter[str]:
        """How many of these records each topic has, in the order of first records."""
        return Counter(record.topic for record in self.records)

    @cached_property
    def skipped(self) -> int:
        """How many lines are neither blank, nor a record, nor part of a conflict."""
        return sum(
            entry is None and at not in self.conflict and bool(self.content(at).strip())
            for at, entry in enumerate(self.entries)
        )

    @cached_property
    def conflicts(self) -> int:
        """How many conflicts git left open in the file, by its markers."""
        begun = sum(
            bool(CONFLICT_BEGIN.match(self.lines[at].removeprefix(BOM))) for at in self.conflict
        )
        return begun or int(bool(self.conflict))

    @property
    def leftovers(self) -> frozenset[int]:
        """The lines of a merge that no reader sees: older versions, and replaced originals."""
        return self._merged.leftovers

    @cached_property
    def hidden(self) -> list[tuple[Record, Record]]:
        """Records of whose gap a reader sees no version, because a line that is there hides them.

        Each with the record that hides it. A compaction takes its originals out of the file, so
        that such a line came with a merge, or from a hand.
        """
        places = self._merged.hidden
        seen = {(it.id, it.gap) for it in self.records} if places else set()
        lines = ((self.entries[at], places[at]) for at in sorted(places))
        found = {(it.id, it.gap): (it, hider) for it, hider in lines if it}
        return [pair for key, pair in found.items() if key not in seen]

    @cached_property
    def unsettled(self) -> list[list[Record]]:
        """Versions of one gap in different words, none of which follows the other."""
        return [[self._seen(at) for at in lines] for lines in self._merged.unsettled]

    def _seen(self, at: int) -> Record:
        entry = self._merged.changed.get(at) or self.entries[at]
        assert entry is not None
        return entry

    @property
    def replaced(self) -> Mapping[str, frozenset[str]]:
        """By id, the version ids that some principle replaced."""
        return self._merged.replaced

    def all_records(self) -> Iterator[tuple[int, Record]]:
        """Return every record with its line (from 0), leftovers of a merge included."""
        return ((at, record) for at, record in enumerate(self.entries) if record)

    def with_id(self, record_id_: str) -> dict[int, Record]:
        """Return by line what a reader sees of an id: one record, unless unsettled or shared."""
        last = self._places.get(record_id_)
        lines = self._merged.several.get(record_id_, () if last is None else (last,))
        return {at: self._seen(at) for at in lines if at not in self.leftovers}

    def without_leftovers(self) -> "MemoryLog":
        """Return a log of the same records, each on one line."""
        return self.rewritten((), {})

    def rewritten(self, drop: Iterable[int], placed: Mapping[int, Sequence[Record]]) -> "MemoryLog":
        """Return the log less leftovers and lines `drop`; `placed` in their lines or at the end."""
        dropped = set(drop)
        merged_here = {
            at: [record]
            for at, record in self._merged.changed.items()
            if at not in dropped and len(record.to_line()) <= MOST_LINE_BYTES  # else it stays
        }
        return _spliced(self, {**merged_here, **placed}, self.leftovers | dropped)

    @cached_property
    def _places(self) -> Mapping[str, int]:
        """By id, its last line; not among what every reader works out."""
        return {record.id: at for at, record in enumerate(self.entries) if record}

    @cached_property
    def _merged(self) -> Merged:
        return merged(self.entries)


def _spliced(
    log: MemoryLog, chosen: Mapping[int, Sequence[Record]], dropped: Collection[int]
) -> MemoryLog:
    """Return the log with the chosen records in their lines, and without the lines dropped."""
    bom = BOM if log.lines and log.lines[0].startswith(BOM) else b""
    lines, entries = list[bytes](), list[Record | None]()
    done = 0
    for at in sorted(chosen.keys() | set(dropped)):
        _append(lines, log.lines[done:at])
        entries += log.entries[done:at]
        for record in chosen.get(at, ()):
            line = record.to_line()
            if len(line) > MOST_LINE_BYTES:
                raise RecordTooLargeError(limit_bytes=MOST_LINE_BYTES)
            _append(lines, [(b"" if lines else bom) + line])
            entries.append(record)
        done = at + 1
    _append(lines, log.lines[done:])
    entries += log.entries[done:]
    conflict = conflict_lines(lines, entries) if log.conflict else frozenset()
    return MemoryLog(lines, entries, conflict)


def _append(lines: list[bytes], more: Sequence[bytes]) -> None:
    """Add lines behind others, and end the last of those where it has no end."""
    if lines and more and not lines[-1].endswith(b"\n"):
        lines[-1] += b"\n"
    lines += more
