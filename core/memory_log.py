"""The memory log as lines: which records they hold, and a change that leaves other lines alone.

Pure: bytes in, bytes out. Every line keeps its bytes until an operation names its record; lines
that are no record (torn, a conflict marker, somebody's note) stay where they are.

After a git merge the same id can stand there twice: the newest version is the record. An original
can be back beside the principle that replaced it: it is hidden as long as its token is listed in
the principle's `source_ids`. Both kinds of line are leftovers, and the next change drops them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from core.errors import IdCollisionError
from core.record import MOST_COUNTED, Draft, Record, later, new_record, parse_line, record_id

_BOM = b"\xef\xbb\xbf"


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
    """One version of the file; `lines` with their line ends, `entries` their records or None."""

    lines: Sequence[bytes] = ()
    entries: Sequence[Record | None] = field(default=(), repr=False)

    @classmethod
    def parse(cls, data: bytes) -> "MemoryLog":
        r"""Split at `\n` only and parse each line once; any bytes are accepted."""
        lines = data.split(b"\n")
        ended, last = [line + b"\n" for line in lines[:-1]], lines[-1]
        if last:
            ended.append(last)
        return cls(ended, [parse_line(_content(line, at == 0)) for at, line in enumerate(ended)])

    def to_bytes(self) -> bytes:
        """The file."""
        return b"".join(self.lines)

    @cached_property
    def records(self) -> list[Record]:
        """The records a reader sees, in the order of the file: each id once, no leftovers."""
        return [record for at, record in self._newest.values() if at not in self._leftovers]

    @cached_property
    def skipped(self) -> int:
        """How many lines are neither blank nor a record."""
        return sum(
            entry is None and bool(_content(line, at == 0).strip())
            for at, (line, entry) in enumerate(zip(self.lines, self.entries, strict=True))
        )

    @cached_property
    def _newest(self) -> dict[str, tuple[int, Record]]:
        newest: dict[str, tuple[int, Record]] = {}
        in_order = True
        for at, record in enumerate(self.entries):
            if record is None:
                continue
            held = newest.get(record.id)
            if held is None:
                newest[record.id] = (at, record)
            elif record.version() >= held[1].version():
                newest[record.id] = (at, record)
                in_order = False
        if in_order:
            return newest
        return dict(sorted(newest.items(), key=lambda item: item[1][0]))

    @cached_property
    def _replaced(self) -> dict[str, set[str]]:
        """By id, the tokens of all versions that some principle replaced."""
        replaced: dict[str, set[str]] = {}
        for record in self.entries:
            for token in record.source_ids if record else ():
                replaced.setdefault(token.rpartition("@")[0], set()).add(token)
        return replaced

    @cached_property
    def _leftovers(self) -> set[int]:
        newest = {at for at, _ in self._newest.values()}
        older = {at for at, record in enumerate(self.entries) if record and at not in newest}
        hidden = {
            at
            for record_id_, (at, record) in self._newest.items()
            if record_id_ in self._replaced and record.token in self._replaced[record_id_]
        }
        return older | hidden

    def upsert(
        self, draft: Draft, tokens: Sequence[str] = (), *, now: str
    ) -> tuple["MemoryLog", Record, Removal]:
        """The log with this checked draft saved and its originals replaced, in one version.

        A known id keeps its place and `created`; a new log goes to the end; a new principle takes
        the place of its first original. Raises IdCollisionError when the id belongs to another
        text: nothing is changed then.
        """
        own_id = record_id(draft)
        known = self._newest.get(own_id)
        if known and not _same_gap(known[1], draft):
            raise IdCollisionError(id=own_id)
        removal = self.select(tokens, but=own_id)
        survivors = self._survivors
        newest = survivors.get(known[0], known[1]) if known else None
        record = self._saved(draft, newest, removal, now)
        originals = self._places(removal)
        place = known[0] if known else min(originals, default=len(self.lines))
        changed = self._changed(self._leftovers | originals, {**survivors, place: record})
        return changed, record, removal

    def _saved(self, draft: Draft, known: Record | None, removal: Removal, now: str) -> Record:
        if known:
            kept = known.ask_next_time if draft.ask_next_time is None else draft.ask_next_time
            record = replace(
                known,
                lesson=draft.lesson,
                missing_context=draft.missing_context or known.missing_context,
                ask_next_time=kept,
                updated=later(now, known.updated or known.created),
                seen=known.seen + 1,
            )
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
            )
        replaced = self._replaced.get(record.id, set())
        if replaced and not known:  # the gap is back after its compaction
            record = replace(record, seen=record.seen + 1)
        while replaced and record.token in replaced:
            record = replace(record, seen=record.seen + 1)
        return replace(record, seen=MOST_COUNTED) if record.seen > MOST_COUNTED else record

    def delete(self, tokens: Sequence[str]) -> tuple["MemoryLog", Removal]:
        """The log without the records that these tokens name."""
        removal = self.select(tokens)
        if not removal.removed:
            return self, removal
        drop = self._leftovers | self._places(removal)
        return self._changed(drop, self._survivors), removal

    def _places(self, removal: Removal) -> set[int]:
        return {self._newest[gone.id][0] for gone in removal.removed}

    def select(self, tokens: Sequence[str], *, but: str = "") -> Removal:
        """Which records these tokens name; the record with the id `but` is never among them."""
        removed: dict[str, Record] = {}
        changed: list[str] = []
        absent: list[str] = []
        gone: list[str] = []
        for token in tokens:
            name, at_sign, fingerprint = token.partition("@")
            at, record = self._newest.get(name, (-1, None))
            if name == but and record:
                continue
            if record is None or at in self._leftovers:
                (gone if self._was_replaced(name, token) else absent).append(token)
            elif fingerprint == record.fingerprint() or not (at_sign or record.updated):
                removed[name] = record
            else:
                changed.append(token)
        return Removal(
            removed=tuple(removed.values()),
            changed=tuple(changed),
            absent=tuple(absent),
            gone=tuple(gone),
        )

    def _was_replaced(self, name: str, token: str) -> bool:
        tokens = self._replaced.get(name, set())
        return token in tokens or (bool(tokens) and token == name)

    @property
    def _survivors(self) -> dict[int, Record]:
        """By line, the newest versions that must take over tokens from older ones of their id.

        Two branches may have saved the same principle over different originals; when the older
        line goes, its originals must stay hidden.
        """
        survivors: dict[int, Record] = {}
        for entry in self.entries:
            if entry is None or not entry.source_ids:
                continue
            at, newest = self._newest[entry.id]
            if entry is newest:
                continue
            newest = survivors.get(at, newest)
            missing = tuple(token for token in entry.source_ids if token not in newest.source_ids)
            if missing:
                count = min((newest.source_count or 0) + len(missing), MOST_COUNTED)
                tokens = newest.source_ids + missing
                survivors[at] = replace(newest, source_count=count, source_ids=tokens)
        return survivors

    def _changed(self, drop: Iterable[int], records: Mapping[int, Record]) -> "MemoryLog":
        """The log without the lines `drop`, with `records` in their lines or at the end."""
        dropped = set(drop) - records.keys()
        lines: list[bytes] = []
        entries: list[Record | None] = []
        for at, (line, entry) in enumerate(zip(self.lines, self.entries, strict=True)):
            if at in dropped:
                continue
            if record := records.get(at):
                mark = _BOM if at == 0 and line.startswith(_BOM) else b""
                line, entry = mark + record.to_line(), record
            lines.append(line)
            entries.append(entry)
        if record := records.get(len(self.lines)):
            if lines and not lines[-1].endswith(b"\n"):
                lines[-1] += b"\n"
            lines.append(record.to_line())
            entries.append(record)
        return MemoryLog(lines, entries)


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


def _content(line: bytes, first: bool) -> bytes:
    return line.removeprefix(_BOM) if first else line


def _same_gap(record: Record, draft: Draft) -> bool:
    key_text = draft.missing_context if draft.type == "log" else draft.lesson
    return (record.type, record.topic, record.key_text) == (draft.type, draft.topic, key_text)


def _originals(record: Record) -> int:
    return (record.source_count or 1) if record.type == "principle" else 1


def _lineage(records: Iterable[Record]) -> Iterable[str]:
    """The tokens of the records and of everything that they themselves replaced."""
    for record in records:
        yield record.token
        yield from record.source_ids
