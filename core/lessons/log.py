"""One version of the memory log: its lines, and the records that a reader sees.

Pure: bytes in, bytes out. Every line keeps its bytes until a change names its record; lines that
hold no record (torn, a conflict marker, somebody's note) stay where they are.

After a git merge an id can stand in several lines. A version lists those that it follows
(`former`). Versions of which none follows another were written on two branches: in the same words
they are one record, the later date wins; in other words all of them are shown until a save settles
it, so that no lesson is lost.

A principle hides the originals that it lists (`source_ids`), and a record under changed texts the
one that it was. Anybody can write such a list into a line, so that it counts only for what stood
before that line or is dated no later, and not for more lines at once than a compaction replaces.
Older versions and hidden records are leftovers: no reader sees them, the next change drops them.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from core.errors import RefusedError
from core.lessons.encodings import BOM, mark_of
from core.lessons.record import (
    CACHED_LINES,
    MOST_COUNTED,
    MOST_FORMER,
    MOST_LINE_BYTES,
    Record,
    cached_parse_line,
    id_in,
    ids_in,
    parse_line,
    seconds_of,
)

MOST_HIDDEN = 100  # an answer of compact_memory shows no more records at their usual size
MOST_REDACTIONS = 50  # a millisecond each, which a stranger's lines could ask for without end
LEAST_LINE_CHARS = 12  # shorter lines of a text are alike by chance

CONFLICT_BEGIN = re.compile(rb"<{7}(?!<)")
_MARKER = re.compile(rb"(?P<run>([<|>])\2{6,})(?: .*)?|(?P<middle>={7,})", re.S)


def split_lines(data: bytes) -> list[bytes]:
    r"""Return the lines of a file with their `\n`, the only line end there is."""
    *ended, last = data.split(b"\n")
    lines = [line + b"\n" for line in ended]
    return [*lines, last] if last else lines


def conflict_lines(lines: Sequence[bytes], entries: Sequence[object]) -> frozenset[int]:
    """Return the lines of conflict markers, and of the common ancestor that git shows between them.

    A record that stands only in the ancestor was removed by both sides.
    """
    found: set[int] = set()
    base_at, base_run = -1, 0
    for at, entry in enumerate(entries):
        if entry is not None:
            continue
        marker = _MARKER.fullmatch(lines[at].removeprefix(BOM).rstrip(b"\r\n"))
        if not marker:
            continue
        found.add(at)
        run = len(marker["run"] or marker["middle"])
        if base_at < 0:
            if marker[0].startswith(b"|"):
                base_at, base_run = at, run
        elif run <= base_run:  # an ancestor with a conflict of its own has longer markers
            if marker["middle"] and run == base_run:
                found.update(range(base_at, at))
            base_at = -1
    return frozenset(found)


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
    def leftovers(self) -> set[int]:
        """The lines of a merge that no reader sees: older versions, and replaced originals."""
        return self._merged.leftovers

    @cached_property
    def hidden(self) -> list[tuple[Record, Record]]:
        """Records of whose gap a reader sees no version, each with the record that hides it.

        A compaction takes its originals out of the file, so that such a line came with a merge,
        or from a hand.
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
        """Return what a reader sees of a line that holds a record."""
        record = self._merged.changed.get(at) or self.entries[at]
        assert record is not None
        return record

    @property
    def replaced(self) -> Mapping[str, set[str]]:
        """By id, the version ids that some record replaced."""
        return self._merged.replaced

    def all_records(self) -> Iterator[tuple[int, Record]]:
        """Return every record with its line (from 0), leftovers of a merge included."""
        return ((at, record) for at, record in enumerate(self.entries) if record)

    def with_id(self, record_id_: str) -> dict[int, Record]:
        """Return by line what a reader sees of an id: one record, unless unsettled or shared."""
        last = self._places.get(record_id_)
        lines = self._merged.several.get(record_id_, () if last is None else (last,))
        return {at: self._seen(at) for at in lines if at not in self.leftovers}

    @cached_property
    def _places(self) -> Mapping[str, int]:
        """By id, its last line; not among what every reader works out."""
        return {record.id: at for at, record in enumerate(self.entries) if record}

    @cached_property
    def _merged(self) -> "_Merged":
        return _merge(self.entries)

    def without_leftovers(self) -> "MemoryLog":
        """Return a log of the same records, each on one line."""
        return self.rewritten((), {})

    def rewritten(self, drop: Iterable[int], placed: Mapping[int, Sequence[Record]]) -> "MemoryLog":
        """Return the log less leftovers and lines `drop`; `placed` in their lines or at the end.

        Raises RefusedError for a record whose line nobody could read again.
        """
        dropped = self.leftovers.union(drop)
        chosen: dict[int, Sequence[Record]] = {
            at: [record]
            for at, record in self._merged.changed.items()
            if at not in dropped and len(record.to_line()) <= MOST_LINE_BYTES  # else it stays
        }
        chosen.update(placed)
        bom = BOM if self.lines and self.lines[0].startswith(BOM) else b""
        lines, entries = list[bytes](), list[Record | None]()
        done = 0
        for at in sorted(dropped.union(chosen)):
            _append(lines, self.lines[done:at])
            entries += self.entries[done:at]
            for record in chosen.get(at, ()):
                line = record.to_line()
                if len(line) > MOST_LINE_BYTES:
                    raise RefusedError("record_too_large", limit_bytes=MOST_LINE_BYTES)
                _append(lines, [line if lines else bom + line])
                entries.append(record)
            done = at + 1
        _append(lines, self.lines[done:])
        entries += self.entries[done:]
        conflict = conflict_lines(lines, entries) if self.conflict else frozenset()
        return MemoryLog(lines, entries, conflict)


def _append(lines: list[bytes], more: Sequence[bytes]) -> None:
    """Add lines behind others, and end the last of those where it has no end."""
    if lines and more and not lines[-1].endswith(b"\n"):
        lines[-1] += b"\n"
    lines += more


# What a reader sees where several lines are of one id, or one record lists others.


@dataclass(slots=True)
class _Merged:
    """What a reader sees of the records of one file, by line (from 0) where nothing else is said.

    changed: records that inherited from others; the next change writes them. several: by id, the
    lines of one that has more than one. hidden: leftovers, with the record that hides each.
    unsettled: lines of different versions of one gap. replaced: by id, the version ids that some
    record has replaced.
    """

    changed: dict[int, Record] = field(default_factory=dict)
    several: dict[str, list[int]] = field(default_factory=dict)
    leftovers: set[int] = field(default_factory=set)
    hidden: dict[int, Record] = field(default_factory=dict)
    unsettled: list[list[int]] = field(default_factory=list)
    replaced: dict[str, set[str]] = field(default_factory=dict)


def _merge(entries: Sequence[Record | None]) -> _Merged:
    """Decide for every id of these lines; None stands for a line without a record."""
    ids = [record.id for record in entries if record]
    hiders = _Hiders(entries, ids)
    found = _Merged(replaced=hiders.replaced)
    in_question = set(hiders.replaced)
    if len(set(ids)) < len(ids):  # most logs have each id once
        in_question.update(name for name, count in Counter(ids).items() if count > 1)
    lines_by_id: dict[str, dict[int, Record]] = {}
    for at, record in enumerate(entries) if in_question else ():
        if record and record.id in in_question:
            lines_by_id.setdefault(record.id, {})[at] = record
    for name, lines in lines_by_id.items():
        if len(lines) > 1:
            found.several[name] = list(lines)
        # Two gaps whose joined texts are equal share an id; they are no versions of each other.
        gaps: dict[tuple[str, str, str], dict[int, Record]] = {}
        for at, record in lines.items():
            if hider := hiders.of(at, record):
                found.hidden[at] = hider
            else:
                gaps.setdefault(record.gap, {})[at] = record
        kept: dict[int, Record] = {}
        for versions in gaps.values():
            survivors = _survivors(versions)
            kept |= {at: record for at, record in survivors.items() if not hiders.of(at, record)}
            if len(survivors) > 1:
                found.unsettled.append(sorted(survivors))
        found.leftovers.update(at for at in lines if at not in kept)
        found.changed |= {at: it for at, it in kept.items() if it is not lines[at]}
    found.unsettled.sort()
    return found


class _Hiders:
    """The records that hide others. replaced: by id, the version ids that they list."""

    def __init__(self, entries: Sequence[Record | None], ids: Iterable[str]) -> None:
        self.replaced: dict[str, set[str]] = {}
        self._listing: dict[str, list[tuple[int, Record]]] = {}  # by version id
        self._redactions = MOST_REDACTIONS
        lists = [(at, record) for at, record in enumerate(entries) if record and record.source_ids]
        present = set(ids) if lists else set()
        for at, record in lists:
            if len(ids_in(record.source_ids) & present) > MOST_HIDDEN:
                continue
            for token in dict.fromkeys(record.source_ids):
                self.replaced.setdefault(id_in(token), set()).add(token)
                self._listing.setdefault(token, []).append((at, record))

    def of(self, at: int, record: Record) -> Record | None:
        """Return the record that hides this one of line `at`, if any does."""
        if record.id not in self.replaced:
            return None
        for hider_at, hider in self._listing.get(record.token, ()):
            came_after = hider_at > at or _last_s(hider) >= _last_s(record)
            if came_after and self._may_hide(hider, record):
                return hider
        return None

    def _may_hide(self, hider: Record, original: Record) -> bool:
        """Return whether a record hides one that it lists: a principle any, a log what it was."""
        if hider.type == "principle":
            return True
        if original.type == "principle":
            return False
        return _shares_text(hider, original) or self._was_redacted(hider, original)

    def _was_redacted(self, record: Record, original: Record) -> bool:
        """Return whether a record is the original without its secrets; a few are looked at."""
        if not self._redactions:
            return False
        from core.lessons.draft import clean_record  # hardly any log needs these
        from core.sanitizer import MARKER

        if MARKER not in record.missing_context + record.lesson:
            return False
        self._redactions -= 1
        return _shares_text(record, clean_record(original)[0])


def _last_s(record: Record) -> float:
    """Return when a record was last touched, in seconds since 1970."""
    return max(map(seconds_of, (record.created, record.updated, record.compacted_at)))


def _shares_text(record: Record, original: Record) -> bool:
    """Return whether the texts of two records are alike in one of them, or in a long line."""
    if record.missing_context == original.missing_context or record.lesson == original.lesson:
        return True
    long_lines = _long_lines(record.missing_context, record.lesson)
    return not long_lines.isdisjoint(_long_lines(original.missing_context, original.lesson))


@lru_cache(maxsize=16)  # a stranger's may have very many, and be named often
def _long_lines(*texts: str) -> frozenset[str]:
    """Return the lines of some texts that are too long to be alike by chance."""
    lines = (line for text in texts for line in text.split("\n"))
    return frozenset(line for line in lines if len(line) >= LEAST_LINE_CHARS)


def _survivors(versions: Mapping[int, Record]) -> dict[int, Record]:
    """Return by line the versions of one gap that no other follows, those in equal words as one.

    Each has what it inherits from the others; one that inherits nothing keeps its line's bytes.
    """
    if len(versions) == 1:
        return dict(versions)
    by_words: dict[tuple[str, str], dict[int, Record]] = {}
    for at, record in (_latest(versions) or versions).items():
        by_words.setdefault((record.lesson, record.ask_next_time), {})[at] = record
    survivors: dict[int, Record] = {}
    for alike in by_words.values():
        newest_at = max(alike, key=lambda at: (alike[at].version(), at))
        others = versions if len(by_words) == 1 else alike
        newest = alike[newest_at]
        changed = united(newest, [it for at, it in others.items() if at != newest_at])
        survivors[newest_at] = newest if changed == newest else changed
    return survivors


def _latest(versions: Mapping[int, Record]) -> dict[int, Record]:
    """Return by line the versions of one gap that no other follows.

    A program that does not know `former` keeps the creation date and adds that of its update.
    """
    followed = Counter(known for it in versions.values() for known in set(it.former))
    rewritten = {it.created for it in versions.values() if it.updated and not it.former}
    return {
        at: it
        for at, it in versions.items()
        if (it.updated or it.created not in rewritten)
        and followed[it.fingerprint()] == (it.fingerprint() in it.former)
    }


def follows(record: Record, other: Record) -> bool:
    """Return whether a merge takes the first of two versions of one gap for the later one."""
    return [*_latest({0: other, 1: record})] == [1]


def following(record: Record, *earlier: Record) -> Record:
    """Return the record as one that follows these versions of it."""
    known = [fingerprint for it in earlier for fingerprint in (*it.former, it.fingerprint())]
    return replace(record, former=tuple(dict.fromkeys((*record.former, *known)))[-MOST_FORMER:])


def united(record: Record, others: Iterable[Record]) -> Record:
    """Return the record as one that follows these versions, too, and replaces what they replaced.

    A later compaction covers them all, and no merge brings one back.
    """
    known = {*record.former, record.fingerprint(), *record.source_ids}
    news = [
        it
        for it in sorted(others, key=Record.version)
        if not known.issuperset((*it.former, it.fingerprint(), *it.source_ids))
    ]
    if not news:
        return record
    source_ids = dict.fromkeys(token for it in (record, *news) for token in it.source_ids)
    added = len(ids_in(source_ids) - ids_in(record.source_ids))
    changed = replace(following(record, *news, record), source_ids=tuple(source_ids))
    if not added:
        return changed
    return replace(changed, source_count=min((record.source_count or 0) + added, MOST_COUNTED))
