"""The memory log as lines: which records they hold, and a change that leaves other lines alone.

Pure: bytes in, bytes out. Every line keeps its bytes until an operation names its record; lines
that are no record (torn, a conflict marker, somebody's note) stay where they are.

After a git merge the same id can stand there twice: the newest version is the record. An original
can be back beside the principle that replaced it: it is hidden as long as its token is listed in
the principle's `source_ids`. Both kinds of line are leftovers, and the next change drops them.
The file is long because what a reader sees and what a change may touch are one set of rules.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from core.errors import IdCollisionError, OtherTextError, RecordChangedError, SentinelError
from core.lessons.lines import BOM, CONFLICT_BEGIN, conflict_lines, split_lines
from core.lessons.merging import Merged, following, merged
from core.lessons.paths import normalise_paths
from core.lessons.record import (
    CACHED_LINES,
    MOST_COUNTED,
    Draft,
    Record,
    cached_parse_line,
    ids_in,
    later,
    marked,
    new_record,
    parse_line,
    record_id,
)

Fate = Literal["added", "known", "other", "replaced", "collision", "refused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """What became of the tokens of a deletion.

    removed: the records that went. changed: tokens of records that stayed, because they are no
    longer the version that the token names (or were updated, and the token is a bare id).
    absent: tokens that name no record. gone: tokens of records that a principle already replaced.
    """

    removed: tuple[Record, ...] = ()
    changed: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()


@dataclass(frozen=True)
class MemoryLog:
    """One version of the file; `lines` with their line ends, `entries` their records or None.

    conflict: the lines (counted from 0) that are conflict markers of git, or stand between them
    only to show what both sides had before.
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
        """The log of these lines, for whoever has a `parse` that remembers what it was asked."""
        entries = [parse(line) for line in lines]
        if lines and lines[0].startswith(BOM):
            entries[0] = parse(lines[0].removeprefix(BOM))
        conflict = conflict_lines(lines, entries)
        for at in conflict:
            entries[at] = None
        return cls(lines, entries, conflict)

    def content(self, at: int) -> bytes:
        """A line without the byte order mark that the first one may begin with."""
        return self.lines[at].removeprefix(BOM if at == 0 else b"")

    def to_bytes(self) -> bytes:
        """The file."""
        return b"".join(self.lines)

    @cached_property
    def records(self) -> list[Record]:
        """The records a reader sees, in the order of the file: each gap once, no leftovers."""
        return [*self._merged.seen.values()]

    @property
    def count(self) -> int:
        """How many records a reader sees."""
        return len(self._merged.seen)

    @cached_property
    def topics(self) -> Counter[str]:
        """How many of these records each topic has, in the order of their first ones."""
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
        """How many conflicts git left open in the file, going by its markers."""
        begun = sum(
            bool(CONFLICT_BEGIN.match(self.lines[at].removeprefix(BOM))) for at in self.conflict
        )
        return begun or int(bool(self.conflict))

    @property
    def leftovers(self) -> frozenset[int]:
        """The lines of a merge that no reader sees: older versions, and replaced originals."""
        return self._merged.leftovers

    @cached_property
    def _merged(self) -> Merged:
        return merged(self.entries)

    def record_in(self, at: int) -> Record | None:
        """The record that stands in a line, seen or not; None for any other line."""
        return self.entries[at]

    def all_records(self) -> Iterator[tuple[int, Record]]:
        """Every line that is a record, leftovers of a merge included, with its number from 0."""
        return ((at, record) for at, record in enumerate(self.entries) if record)

    def with_id(self, record_id_: str) -> dict[int, Record]:
        """By line, what a reader sees of an id: one record, unless different gaps share it."""
        first = self._merged.places.get(record_id_)
        if first is None:
            return {}
        lines = (first, *self._merged.others.get(record_id_, ()))
        seen = self._merged.seen
        return {at: seen[at] for at in lines if at in seen}

    def upsert(
        self, draft: Draft, tokens: Sequence[str] = (), *, now: str
    ) -> tuple["MemoryLog", Record, Removal]:
        """The log with this checked draft saved and its originals replaced, in one version.

        A known id keeps its place and `created`; a new log goes to the end; a new principle takes
        the place of its first original. Raises IdCollisionError when the id belongs to another
        text: nothing is changed then.
        """
        own_id = record_id(draft)
        there = self.with_id(own_id)
        known = _of_gap(there, draft)
        if there and not known:
            raise IdCollisionError(id=own_id)
        removal = self.select(tokens, but=own_id)
        record = self._saved(draft, known[1] if known else None, removal, now)
        originals = self._lines_of(removal)
        place = known[0] if known else min(originals, default=len(self.lines))
        return self._changed(originals, {place: [record]}), record, removal

    def _saved(self, draft: Draft, known: Record | None, removal: Removal, now: str) -> Record:
        if known:
            kept = known.ask_next_time if draft.ask_next_time is None else draft.ask_next_time
            record = replace(
                known,
                lesson=draft.lesson,
                missing_context=draft.missing_context or known.missing_context,
                ask_next_time=kept,
                paths=known.paths if draft.paths is None else normalise_paths(draft.paths),
                updated=later(now, known.updated or known.created),
                seen=known.seen + 1,
            )
            record = following(record, known)
        else:
            record = new_record(draft, now=now)
        if removal.removed:
            record = replace(
                record,
                compacted_at=now,
                source_count=min(
                    (record.source_count or 0) + sum(map(_originals, removal.removed)),
                    MOST_COUNTED,
                ),
                source_ids=tuple(
                    dict.fromkeys(record.source_ids + tuple(_lineage(removal.removed)))
                ),
                paths=record.paths if draft.paths is not None else _all_paths(record, removal),
            )
        if record.id in self._merged.replaced and not known:  # the gap is back after its compaction
            record = replace(record, seen=record.seen + 1)
        return self._shown(marked(record, known))

    def _shown(self, record: Record) -> Record:
        """The record in a version that no principle hides."""
        while record.token in self._merged.replaced.get(record.id, ()):
            record = replace(record, seen=record.seen + 1)
        return replace(record, seen=MOST_COUNTED) if record.seen > MOST_COUNTED else record

    def delete(self, tokens: Sequence[str]) -> tuple["MemoryLog", Removal]:
        """The log without the records that these tokens name."""
        removal = self.select(tokens)
        if not removal.removed:
            return self, removal
        return self._changed(self._lines_of(removal), {}), removal

    def bring_back(
        self,
        versions: Sequence[Record],
        token: str = "",
        *,
        now: str,
        since: "MemoryLog | None" = None,
    ) -> tuple["MemoryLog", tuple[Record, ...], Removal]:
        """The log with former versions of records as the newest ones, without the record `token`.

        A record that is there is replaced in its place; the others take the place of the removed
        one, or go to the end. Raises OtherTextError when an id belongs to another text, and
        RecordChangedError when `token` names no record in its present version, or when a record
        is no longer what it was in the log `since`.
        """
        removal = self.select([token] if token else [])
        if token and not removal.removed:
            raise RecordChangedError(id=token.partition("@")[0])
        removed = self._lines_of(removal)
        end = min(removed, default=len(self.lines))
        brought: list[Record] = []
        placed: dict[int, list[Record]] = {}
        for version in versions:
            there = self.with_id(version.id)
            seen = there if since is None else since.with_id(version.id)
            if list(seen.values()) != list(there.values()):
                raise RecordChangedError(id=version.id)
            known = _of_gap(there, version)
            if there and not known:
                raise OtherTextError(id=version.id)
            brought.append(self._brought(version, known[1] if known else None, now))
            placed.setdefault(known[0] if known else end, []).append(brought[-1])
        return self._changed(removed, placed), tuple(brought), removal

    def _brought(self, version: Record, known: Record | None, now: str) -> Record:
        """The version as the newest one; the originals that a newer one replaced stay listed."""
        earlier = [it for it in (version, known) if it]
        for it in earlier:
            now = later(now, it.updated or it.created)
        listed = tuple(dict.fromkeys(token for it in earlier for token in it.source_ids))
        added = len(ids_in(listed) - ids_in(version.source_ids))
        record = replace(
            version,
            updated=now,
            seen=max(it.seen for it in earlier),
            source_ids=listed,
            source_count=(version.source_count or 0) + added if listed else version.source_count,
        )
        return self._shown(marked(following(record, *earlier), version))

    def add(self, records: Iterable[Record]) -> tuple["MemoryLog", list[Fate]]:
        """The log with those of the records at its end that it does not have, each as it is.

        The fates of all of them, in their order: `added`; or `known`, when the same words are
        there; `other`, when the same gap is there in other words; `replaced`, when a principle took
        the place of it; `collision`, when the id belongs to another text. None of the last four
        changes anything.
        """
        added: list[Record] = []
        fates: list[Fate] = []
        there: dict[str, list[Record]] = {}
        for record in records:
            versions = there.setdefault(record.id, [*self.with_id(record.id).values()])
            known = next((it for it in versions if it.gap == record.gap), None)
            if known:
                fates.append("known" if known.texts == record.texts else "other")
            elif versions:
                fates.append("collision")
            elif record.id in self._merged.replaced:
                fates.append("replaced")
            else:
                fates.append("added")
                added.append(record)
                versions.append(record)
        return self._changed(set(), {len(self.lines): added}) if added else self, fates

    def _lines_of(self, removal: Removal) -> set[int]:
        return {
            at
            for gone in removal.removed
            for at, record in self.with_id(gone.id).items()
            if record == gone
        }

    def select(self, tokens: Sequence[str], *, but: str = "") -> Removal:
        """Which records these tokens name; the record with the id `but` is never among them."""
        removed: dict[int, Record] = {}
        changed: list[str] = []
        absent: list[str] = []
        gone: list[str] = []
        for token in tokens:
            name, at_sign, fingerprint = token.partition("@")
            there = self.with_id(name)
            if name == but and there:
                continue
            if not there:
                (gone if self._was_replaced(name, token) else absent).append(token)
                continue
            named = {at: it for at, it in there.items() if it.fingerprint() == fingerprint}
            if not at_sign and len(there) == 1 and not any(it.updated for it in there.values()):
                named = there
            removed.update(named)
            if not named:
                changed.append(token)
        return Removal(
            removed=tuple(removed.values()),
            changed=tuple(changed),
            absent=tuple(absent),
            gone=tuple(gone),
        )

    def _was_replaced(self, name: str, token: str) -> bool:
        tokens = self._merged.replaced.get(name, frozenset())
        return token in tokens or (bool(tokens) and token == name)

    def without_leftovers(self) -> "MemoryLog":
        """The same records, each on one line."""
        return self._changed(set(), {})

    def rewritten(self, drop: Iterable[int], placed: Mapping[int, Sequence[Record]]) -> "MemoryLog":
        """The log without the lines `drop`, and with these records in the places of others."""
        return self._changed(drop, placed)

    def _changed(self, drop: Iterable[int], placed: Mapping[int, Sequence[Record]]) -> "MemoryLog":
        """The log without leftovers and `drop`, with `placed` in their lines or at the end."""
        dropped = set(drop)
        merged_here = {
            at: [record]
            for at, record in (self._merged.seen.items() if self.leftovers else ())
            if record is not self.entries[at] and at not in dropped
        }
        chosen: dict[int, Sequence[Record]] = {**merged_here, **placed}
        lines: list[bytes] = []
        entries: list[Record | None] = []
        done = 0
        for at in sorted(chosen.keys() | self.leftovers | dropped):
            lines += self.lines[done:at]
            entries += self.entries[done:at]
            if lines and not lines[-1].endswith(b"\n"):
                lines[-1] += b"\n"
            for record in chosen.get(at, ()):
                marked = not lines and self.lines and self.lines[0].startswith(BOM)
                lines.append((BOM if marked else b"") + record.to_line())
                entries.append(record)
            done = at + 1
        lines += self.lines[done:]
        entries += self.entries[done:]
        conflict = conflict_lines(lines, entries) if self.conflict else frozenset()
        return MemoryLog(lines, entries, conflict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """What one save did: the record as stored, what it replaced, and the log afterwards.

    redacted: one rule name for each secret that was replaced, in order of place.
    suspicious: fields that look like a secret but are stored as they came.
    """

    record: Record
    removal: Removal
    redacted: tuple[str, ...]
    suspicious: tuple[str, ...]
    log: MemoryLog


@dataclass(frozen=True, slots=True, kw_only=True)
class BroughtBack:
    """What bringing back former versions did: the records as stored, and the log afterwards.

    removal: the principle that went for them, if any. redacted: as in Saved.
    """

    records: tuple[Record, ...]
    removal: Removal
    redacted: tuple[str, ...]
    log: MemoryLog


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """One record that was offered to the log: as it is stored, or would be, and its fate.

    redacted: as in Saved, for all fields. error: why it was refused.
    """

    record: Record
    fate: Fate
    redacted: tuple[str, ...] = ()
    error: SentinelError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """What adding records did: one Offered for each, in their order, and the log afterwards.

    hidden: records of the log that a principle among the added ones has replaced.
    """

    offered: tuple[Offered, ...]
    hidden: tuple[Record, ...]
    log: MemoryLog

    @property
    def records(self) -> list[Record]:
        """The records that were added."""
        return [it.record for it in self.offered if it.fate == "added"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Renewal:
    """What became of a record, or of several that are one now; `before` has the oldest first."""

    before: tuple[Record, ...]
    after: Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Renewed:
    """What changing texts of records did, in the order of the file, and the log afterwards.

    redacted, suspicious: as in Saved.
    """

    renewals: tuple[Renewal, ...]
    redacted: tuple[str, ...]
    suspicious: tuple[str, ...]
    log: MemoryLog


def _of_gap(lines: Mapping[int, Record], wanted: Draft | Record) -> tuple[int, Record] | None:
    """The one of these records that is about the same, and its line."""
    return next(((at, it) for at, it in lines.items() if it.gap == wanted.gap), None)


def _originals(record: Record) -> int:
    return (record.source_count or 1) if record.type == "principle" else 1


def _all_paths(record: Record, removal: Removal) -> tuple[str, ...]:
    """The paths of a principle and of its originals: it is about what they were about."""
    paths = [path for it in (record, *removal.removed) for path in it.paths]
    return tuple(dict.fromkeys(paths))


def _lineage(records: Iterable[Record]) -> Iterable[str]:
    """The tokens of the records in all their versions, and of all that they themselves replaced."""
    for record in records:
        yield from record.tokens()
        yield from record.source_ids
