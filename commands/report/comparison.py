"""Works out what became of the records of one version of a memory log in another one.

Pure. A record is the same when its id and what it is about are; a record under changed texts lists
the one that it was, and a principle those that it replaced.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.lessons.draft import clean_record
from core.lessons.history import originals_of
from core.lessons.log import MemoryLog
from core.lessons.record import Record, id_in, ids_in, seconds_of
from core.sanitizer import safe

Change = tuple[str, object, object]  # a key, its old value and its new one; None for no such key

# What another part of a report says already, or what only programs need.
_NO_NEWS = frozenset(
    (
        *("id", "meta.updated", "meta.former", "meta.compacted_at", "meta.seen", "meta.marks"),
        *("meta.source_ids", "meta.source_count"),
    )
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A record as it may be shown: without its secrets, under the version id that the log has.

    token: "" where the id holds a secret itself.
    """

    token: str
    record: Record

    @classmethod
    def of(cls, record: Record) -> "Entry":
        """Return the entry of a record of the log."""
        return cls(safe(record.token), clean_record(record)[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A record with other values than before; `before` has the newest last, if several became one.

    values: empty where they differ in a secret only.
    """

    before: tuple[Entry, ...]
    after: Entry
    values: tuple[Change, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """A gap that was logged again; before: how often it had been seen, 0 if it was compacted."""

    before: int
    after: Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """A principle and what it replaced.

    kept: originals that no version here shows, from what is kept beside the log. unknown: how many
    are not there, either.
    """

    principle: Entry
    originals: tuple[Entry, ...]
    kept: tuple[Entry, ...] = ()
    unknown: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Renamed:
    """The same record under another topic."""

    before: Entry
    after: Entry


@dataclass(slots=True)
class Comparison:
    """What happened to the records, each in the order of the log.

    replaced: how many originals all compactions have, each counted once. undone: principles that
    are gone, with those of their originals that are there again. touched: the records that are new
    or changed as the log has them, with those texts of their former selves that are no news.
    """

    added: list[Entry] = field(default_factory=list)
    changed: list[Changed] = field(default_factory=list)
    returned: list[Returned] = field(default_factory=list)
    compacted: list[Compacted] = field(default_factory=list)
    replaced: int = 0
    undone: list[Compacted] = field(default_factory=list)
    renamed: list[Renamed] = field(default_factory=list)
    removed: list[Entry] = field(default_factory=list)
    touched: list[tuple[Record, frozenset[str]]] = field(default_factory=list)


def changes(before: Record, after: Record) -> list[Change]:
    """Return the keys whose values differ, with both values."""
    old, new = _flat(before), _flat(after)
    keys = dict.fromkeys([*old, *new])
    return [(key, old.get(key), new.get(key)) for key in keys if old.get(key) != new.get(key)]


def _flat(record: Record) -> dict[str, object]:
    value = record.as_json()
    meta = value.pop("meta")
    return {**value, **{f"meta.{key}": kept for key, kept in meta.items()}}


def compare(
    before: MemoryLog,
    after: MemoryLog,
    passed: Mapping[str, Record],
    kept: Mapping[str, Record],
) -> Comparison:
    """Return what became of the records.

    passed: by version id, what was there between the two. kept: what is kept beside the log, which
    counts only where no version shows an original.
    """
    return _Comparer(before, after, passed, kept).comparison()


class _Comparer:
    def __init__(
        self,
        before: MemoryLog,
        after: MemoryLog,
        passed: Mapping[str, Record],
        kept: Mapping[str, Record],
    ) -> None:
        self._after, self._passed, self._kept = after.records, passed, kept
        # What was replaced before has no part in what happened since.
        self._old_tokens = {token for record in before.records for token in record.source_ids}
        self._compacted_s: dict[str, float] = {}  # by id, when it was first replaced
        for record in before.records:
            if record.type == "principle":
                for id_ in ids_in(originals_of(record)):
                    at = seconds_of(record.compacted_at)
                    self._compacted_s[id_] = min(at, self._compacted_s.get(id_, at))
        self._pairs = _pairs(before.records, after.records)
        paired = {id(record) for record in self._pairs.values()}
        self._gone: dict[str, list[Record]] = {}
        for record in before.records:
            if id(record) not in paired:
                self._gone.setdefault(record.id, []).append(record)
        self._originals: dict[str, list[Record]] = {}
        self._ids = {record.id for record in after.records}
        self._new: list[Record] = []
        self._result = Comparison()

    def comparison(self) -> Comparison:
        for at, record in enumerate(self._after):
            self._sort(record, self._pairs.get(at))
        self._find_undone()
        self._result.added = [Entry.of(record) for record in self._new]
        gone = [record for records in self._gone.values() for record in records]
        self._result.removed = [Entry.of(record) for record in gone]
        return self._result

    def _sort(self, record: Record, known: Record | None) -> None:
        """Note what happened to a record of the later log; known: the same in the earlier one."""
        # Not by their version ids: other texts with the same six digits are found within seconds.
        if known and known.to_line() == record.to_line():
            return
        fresh = [token for token in record.source_ids if token not in self._old_tokens]
        originals = set(originals_of(record)) if record.type == "principle" else set()
        ids = ids_in(token for token in fresh if token not in originals)
        former = [old for id_ in sorted(ids) for old in self._gone.pop(id_, ())]
        former.sort(key=Record.version)
        former += [known] if known else []
        old_texts = frozenset(text for old in former for text in old.texts)
        self._result.touched.append((record, old_texts))
        is_compacted = self._compact(record, [token for token in fresh if token in originals])
        seen = sum(max(old.seen, 1) for old in former)  # records that became one add theirs
        is_back = record.seen > seen and not is_compacted if former else self._is_back(record)
        if former:
            self._change(former, record, is_compacted=is_compacted)
        elif not is_compacted:
            self._new.append(record)
        if is_back:
            self._result.returned.append(Returned(before=seen, after=Entry.of(record)))

    def _is_back(self, record: Record) -> bool:
        """Return whether a compacted gap is back; one that was brought back is an old record."""
        compacted_s = self._compacted_s.get(record.id)
        return compacted_s is not None and seconds_of(record.created) >= compacted_s

    def _find_undone(self) -> None:
        """Tell what is new from what was brought back when its principle went."""
        for records in self._gone.values():
            for principle in [record for record in records if record.type == "principle"]:
                ids = ids_in(originals_of(principle))
                back = [it for it in self._new if it.id in ids and not self._is_back(it)]
                if back:
                    originals = tuple(map(Entry.of, back))
                    undone = Compacted(principle=Entry.of(principle), originals=originals)
                    self._result.undone.append(undone)
                    self._new = [record for record in self._new if record not in back]
                    records.remove(principle)

    def _compact(self, principle: Record, tokens: Sequence[str]) -> bool:
        """Note what a principle replaced; whether there was anything."""
        by_id: dict[str, list[str]] = {}
        for token in tokens:
            if id_in(token) not in self._ids:
                by_id.setdefault(id_in(token), []).append(token)
        for id_, versions in by_id.items():
            if id_ not in self._originals:  # after a merge two principles may list it
                passed = [self._passed[token] for token in versions if token in self._passed]
                self._originals[id_] = self._gone.pop(id_, []) or passed[:1]
                self._result.replaced += len(self._originals[id_]) or 1
        if by_id:
            missing = [versions for id_, versions in by_id.items() if not self._originals[id_]]
            kept = [entry for versions in missing for entry in self._kept_of(versions)]
            compacted = Compacted(
                principle=Entry.of(principle),
                originals=tuple(Entry.of(it) for id_ in by_id for it in self._originals[id_]),
                kept=tuple(kept),
                unknown=len(missing) - len(kept),
            )
            self._result.compacted.append(compacted)
        return bool(by_id)

    def _kept_of(self, versions: Sequence[str]) -> list[Entry]:
        """Return the newest of these versions that is kept, under its version id; none or one."""
        kept = [token for token in versions if token in self._kept][:1]
        return [Entry(safe(it), clean_record(self._kept[it])[0]) for it in kept]

    def _change(self, former: Sequence[Record], after: Record, *, is_compacted: bool) -> None:
        last, old, new = former[-1], tuple(map(Entry.of, former)), Entry.of(after)
        is_one = len(former) == 1
        if is_one and last.topic != after.topic and _same_words(last, after):
            self._result.renamed.append(Renamed(before=old[0], after=new))
            return
        found = changes(old[-1].record, new.record)
        values = [change for change in found if change[0] not in _NO_NEWS]
        if not values and is_one:
            if is_compacted or last.seen < after.seen:
                return  # another part says that
            if last.texts == after.texts:  # else they differ in a secret
                values = [change for change in found if change[0] != "id"]
        self._result.changed.append(Changed(before=old, after=new, values=tuple(values)))


def _pairs(before: Sequence[Record], after: Sequence[Record]) -> dict[int, Record]:
    """Return, by place in `after`, the record it was; a hand may have changed what it is about."""
    pairs: dict[int, Record] = {}
    for is_exact in (True, False):
        paired = {id(record) for record in pairs.values()}
        left: dict[object, list[Record]] = {}
        for record in reversed(before):
            if id(record) not in paired:
                left.setdefault((record.id, is_exact and record.gap), []).append(record)
        for at, record in enumerate(after):
            same = left.get((record.id, is_exact and record.gap))
            if same and at not in pairs:
                pairs[at] = same.pop()
    return pairs


def _same_words(one: Record, other: Record) -> bool:
    return (one.texts[1:], one.paths, one.when) == (other.texts[1:], other.paths, other.when)
