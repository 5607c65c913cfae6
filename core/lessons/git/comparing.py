"""What became of the records of one version of a memory log in another one, as a reader sees both.

Pure. A record is the same when its id and what it is about are; a record under changed texts lists
the one that it was, and a principle those that it replaced.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.lessons.git.versions import originals_of
from core.lessons.log import MemoryLog
from core.lessons.record import Record, id_in, ids_in, seconds_of
from core.lessons.upkeep.secrets import clean_record, safe

Change = tuple[str, object, object]  # a key, its old value and its new one

BOOKKEEPING = ("meta.updated", "meta.former", "meta.compacted_at")

# What another part of a report says already, or what only programs need.
_SAID = frozenset(
    (*BOOKKEEPING, "id", "meta.seen", "meta.marks", "meta.source_ids", "meta.source_count")
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A record as it may be shown: without its secrets, under the token that the log has for it.

    token: "" where the id holds a secret itself.
    """

    token: str
    record: Record

    @classmethod
    def of(cls, record: Record) -> "Entry":
        """The entry of a record of the log."""
        return cls(safe(record.token), clean_record(record)[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A record with other values than before; `before` has the newest last, if several are one now.

    values: by key, the old and the new value. Empty where they differ in a secret only.
    """

    before: tuple[Entry, ...]
    after: Entry
    values: tuple[Change, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """A gap that was logged again: how often it had been seen, 0 for one that was compacted."""

    before: int
    after: Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """A principle and what it replaced; unknown: how many originals no version here shows."""

    principle: Entry
    originals: tuple[Entry, ...]
    unknown: int


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


def compare(before: MemoryLog, after: MemoryLog, passed: Mapping[str, Record]) -> Comparison:
    """What became of the records; passed: by token, versions that were there between the two."""
    return _Comparing(before, after, passed).done()


def changes(before: Record, after: Record) -> list[Change]:
    """The keys whose values differ, with the old and the new value; None for a key not there."""
    old, new = _flat(before), _flat(after)
    return [
        (key, old.get(key), new.get(key))
        for key in dict.fromkeys([*old, *new])
        if old.get(key) != new.get(key)
    ]


def _flat(record: Record) -> dict[str, object]:
    value = record.as_json()
    meta = value.pop("meta")
    return {**value, **{f"meta.{key}": kept for key, kept in meta.items()}}


class _Comparing:
    def __init__(self, before: MemoryLog, after: MemoryLog, passed: Mapping[str, Record]) -> None:
        self._before, self._after, self._passed = before.records, after.records, passed
        # What was replaced before has no part in what happened since.
        self._old_tokens = {token for record in self._before for token in record.source_ids}
        self._compacted_s: dict[str, float] = {}  # by id, when it was first replaced
        for record in (it for it in self._before if it.type == "principle"):
            for id_ in ids_in(originals_of(record)):
                at = seconds_of(record.compacted_at)
                self._compacted_s[id_] = min(at, self._compacted_s.get(id_, at))
        self._pairs = _pairs(self._before, self._after)
        paired = {id(record) for record in self._pairs.values()}
        self._gone: dict[str, list[Record]] = {}
        for record in self._before:
            if id(record) not in paired:
                self._gone.setdefault(record.id, []).append(record)
        self._originals: dict[str, list[Record]] = {}
        self._shown = {record.id for record in self._after}
        self._new: list[tuple[Record, Entry]] = []
        self._found = Comparison()

    def done(self) -> Comparison:
        for at, record in enumerate(self._after):
            self._tell(record, self._pairs.get(at))
        self._undo()
        self._found.added = [entry for _, entry in self._new]
        self._found.removed = [Entry.of(it) for records in self._gone.values() for it in records]
        return self._found

    def _tell(self, record: Record, known: Record | None) -> None:
        # Not by their tokens: other texts with the same six digits are found within seconds.
        if known and known.to_line() == record.to_line():
            return
        fresh = [token for token in record.source_ids if token not in self._old_tokens]
        originals = set(originals_of(record)) if record.type == "principle" else set()
        ids = ids_in(token for token in fresh if token not in originals)
        former = [it for id_ in sorted(ids) for it in self._gone.pop(id_, ())]
        former.sort(key=Record.version)
        former += [known] if known else []
        told = frozenset(text for it in former for text in it.texts)
        self._found.touched.append((record, told))
        is_compacted = self._compact(record, [token for token in fresh if token in originals])
        if former:
            self._change(former, record, is_compacted=is_compacted)
        elif not is_compacted:
            self._new.append((record, Entry.of(record)))
        known_seen = sum(max(it.seen, 1) for it in former)  # records that became one add theirs
        if former and not is_compacted and record.seen > known_seen:
            self._found.returned.append(Returned(before=known_seen, after=Entry.of(record)))
        elif not former and self._is_logged_again(record):
            self._found.returned.append(Returned(before=0, after=Entry.of(record)))

    def _is_logged_again(self, record: Record) -> bool:
        """Whether a gap is back that was compacted; one that was brought back is an old record."""
        compacted_s = self._compacted_s.get(record.id)
        return compacted_s is not None and seconds_of(record.created) >= compacted_s

    def _undo(self) -> None:
        """Tell apart what was new and what was brought back when its principle went."""
        for records in self._gone.values():
            for principle in [it for it in records if it.type == "principle"]:
                ids = ids_in(originals_of(principle))
                back = [
                    (record, entry)
                    for record, entry in self._new
                    if record.id in ids and not self._is_logged_again(record)
                ]
                if back:
                    originals = tuple(entry for _, entry in back)
                    undone = Compacted(
                        principle=Entry.of(principle), originals=originals, unknown=0
                    )
                    self._found.undone.append(undone)
                    self._new = [it for it in self._new if it not in back]
                    records.remove(principle)

    def _compact(self, principle: Record, tokens: Sequence[str]) -> bool:
        """Note what a principle replaced; whether there was anything."""
        by_id: dict[str, list[str]] = {}
        for token in tokens:
            if id_in(token) not in self._shown:
                by_id.setdefault(id_in(token), []).append(token)
        originals, unknown = list[Record](), 0
        for id_, versions in by_id.items():
            if id_ not in self._originals:  # another principle may list it as well, after a merge
                passed = (self._passed.get(token) for token in versions)
                found = self._gone.pop(id_, []) or [it for it in passed if it][:1]
                self._originals[id_] = found
                self._found.replaced += len(found) or 1
            originals += self._originals[id_]
            unknown += not self._originals[id_]
        if by_id:
            compacted = Compacted(
                principle=Entry.of(principle),
                originals=tuple(map(Entry.of, originals)),
                unknown=unknown,
            )
            self._found.compacted.append(compacted)
        return bool(by_id)

    def _change(self, former: Sequence[Record], after: Record, *, is_compacted: bool) -> None:
        old = [Entry.of(record) for record in former]
        new = Entry.of(after)
        if len(former) == 1 and former[0].topic != after.topic and _same_words(former[0], after):
            self._found.renamed.append(Renamed(before=old[0], after=new))
            return
        found = changes(old[-1].record, new.record)
        values = [it for it in found if it[0] not in _SAID]
        if not values and len(former) == 1:
            if is_compacted or former[0].seen < after.seen:
                return  # that is told elsewhere
            is_secret = former[0].texts != after.texts
            values = [] if is_secret else [it for it in found if it[0] != "id"]
        self._found.changed.append(Changed(before=tuple(old), after=new, values=tuple(values)))


def _pairs(before: Sequence[Record], after: Sequence[Record]) -> dict[int, Record]:
    """By place in `after`, the record that it was; a hand may have changed what it is about."""
    left: dict[str, list[Record]] = {}
    for record in before:
        left.setdefault(record.id, []).append(record)
    pairs: dict[int, Record] = {}
    for is_exact in (True, False):
        for at, record in enumerate(after):
            known = left.get(record.id, ())
            same = next((it for it in known if not is_exact or it.gap == record.gap), None)
            if same and at not in pairs:
                pairs[at] = same
                left[record.id].remove(same)
    return pairs


def _same_words(one: Record, other: Record) -> bool:
    return one.texts[1:] == other.texts[1:] and one.paths == other.paths
