"""Compares two versions of a memory log: the changes of each record, and their dangers.

A record is the same while its id and gap are. With changed texts it lists its former self, and a
principle lists its originals.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from commands.revisions import Revisions, Side
from commands.suspicions import Suspicion, in_lines, orders_in
from core.config import Settings
from core.lessons.answers import Frame, need_of, search_answer
from core.lessons.draft import clean_record
from core.lessons.history import originals_of
from core.lessons.log import CONFLICT_BEGIN, MemoryLog
from core.lessons.record import LIMITS_BYTES, Record, id_in, ids_in, seconds_of
from core.sanitizer import find, safe, values_in
from core.text.plain import estimate_tokens

BOUNDLESS = 10**12
KINDS = ("added", "changed", "returned", "compacted", "removed")

# Keys that another part of a report covers, or that only programs need.
_NO_NEWS = frozenset(
    (
        *("id", "meta.updated", "meta.former", "meta.compacted_at", "meta.seen", "meta.marks"),
        *("meta.source_ids", "meta.source_count"),
    )
)


class Entry(NamedTuple):
    """A record without its secrets. token: its version id, "" if that holds a secret."""

    token: str
    record: Record

    @classmethod
    def of(cls, record: Record) -> "Entry":
        return cls(safe(record.token), clean_record(record)[0])


class Change(NamedTuple):
    """The change of one record.

    former: older versions, the newest last; of a principle its originals. values: old and new by
    key, None for no such key; {} where only secrets differ. number: of a gap that came back, how
    often it had been seen, 0 if it was compacted; of a principle, how many originals are unknown.
    """

    entry: Entry
    former: Sequence[Entry] = ()
    values: Mapping[str, tuple[object, object]] = {}
    number: int = 0


class Comparison:
    """The changes between the records of two logs.

    changes: by KINDS. replaced: originals of all compactions, each counted once. touched: new or
    changed records, with the texts that their former selves had.
    """

    def __init__(self, before: MemoryLog, after: MemoryLog, passed: Mapping[str, Record]) -> None:
        """Compare. passed: records that came and went between the two, by version id."""
        self.changes: dict[str, list[Change]] = {kind: [] for kind in KINDS}
        self.replaced = 0
        self.touched: list[tuple[Record, frozenset[str]]] = []
        self._passed = passed
        self._ids = {record.id for record in after.records}
        # Records that were replaced before are no part of this change.
        self._old_tokens = {token for record in before.records for token in record.source_ids}
        self._compacted_s: dict[str, float] = {}  # by id: when a principle first replaced it
        for record in before.records:
            if record.type == "principle":
                at_s = seconds_of(record.compacted_at)
                for id_ in ids_in(originals_of(record)):
                    self._compacted_s[id_] = min(at_s, self._compacted_s.get(id_, at_s))
        self._originals: dict[str, list[Record]] = {}
        pairs = _pairs(before.records, after.records)
        paired = {id(record) for record in pairs.values()}
        self._gone: dict[str, list[Record]] = {}  # by id
        for record in before.records:
            if id(record) not in paired:
                self._gone.setdefault(record.id, []).append(record)
        for at, record in enumerate(after.records):
            known = pairs.get(at)
            # Not by their version ids: other texts with the same six digits are found in seconds.
            if not known or known.to_line() != record.to_line():
                self._sort(record, known)
        for records in self._gone.values():
            self.changes["removed"] += [Change(Entry.of(record)) for record in records]

    def _sort(self, record: Record, known: Record | None) -> None:
        """Note the change of a later record. known: the earlier one."""
        fresh = [token for token in record.source_ids if token not in self._old_tokens]
        originals = set(originals_of(record)) if record.type == "principle" else set()
        own_ids = ids_in(token for token in fresh if token not in originals)
        former = [old for id_ in sorted(own_ids) for old in self._gone.pop(id_, ())]
        former.sort(key=Record.version)
        former += [known] if known else []
        self.touched.append((record, frozenset(text for old in former for text in old.texts)))
        is_compacted = self._compact(record, [token for token in fresh if token in originals])
        seen_before = sum(max(old.seen, 1) for old in former)  # records that became one add theirs
        if former:
            self._change(former, record, is_compacted=is_compacted)
            is_back = record.seen > seen_before and not is_compacted
        else:
            # A record that was brought back is older than its compaction.
            compacted_s = self._compacted_s.get(record.id, math.inf)
            is_back = seconds_of(record.created) >= compacted_s
            if not is_compacted:
                self.changes["added"].append(Change(Entry.of(record)))
        if is_back:
            self.changes["returned"].append(Change(Entry.of(record), number=seen_before))

    def _compact(self, principle: Record, tokens: Sequence[str]) -> bool:
        """Note the originals of a principle; return whether there are any."""
        versions_of: dict[str, list[str]] = {}
        for token in tokens:
            if id_in(token) not in self._ids:
                versions_of.setdefault(id_in(token), []).append(token)
        for id_, versions in versions_of.items():
            if id_ not in self._originals:  # after a merge two principles may list it
                passed = [self._passed[token] for token in versions if token in self._passed]
                self._originals[id_] = self._gone.pop(id_, []) or passed[:1]
                self.replaced += len(self._originals[id_]) or 1
        if versions_of:
            originals = [Entry.of(it) for id_ in versions_of for it in self._originals[id_]]
            unknown = sum(not self._originals[id_] for id_ in versions_of)
            self.changes["compacted"].append(Change(Entry.of(principle), originals, number=unknown))
        return bool(versions_of)

    def _change(self, former: Sequence[Record], after: Record, *, is_compacted: bool) -> None:
        last, new = former[-1], Entry.of(after)
        found = _differing(Entry.of(last).record, new.record)
        values = {key: both for key, both in found.items() if key not in _NO_NEWS}
        if not values and len(former) == 1:
            if is_compacted or last.seen < after.seen:
                return  # another part says that
            if last.texts == after.texts:  # else they differ in a secret
                values = {key: both for key, both in found.items() if key != "id"}
        self.changes["changed"].append(Change(new, [*map(Entry.of, former)], values))


def _pairs(before: Sequence[Record], after: Sequence[Record]) -> dict[int, Record]:
    """Return the earlier record by place in `after`: by id and gap, else by id."""
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


def _differing(before: Record, after: Record) -> dict[str, tuple[object, object]]:
    """Return old and new of each key that differs, None for no such key."""
    flat = []
    for value in (before.as_json(), after.as_json()):
        meta = value.pop("meta")
        flat.append({**value, **{f"meta.{key}": kept for key, kept in meta.items()}})
    old, new = flat
    keys = dict.fromkeys([*old, *new])
    return {key: (old.get(key), new.get(key)) for key in keys if old.get(key) != new.get(key)}


# The content of a report.


class Report:
    """The content of a report on two revisions.

    secrets: in new lines. passing: in lines that one commit brought and another removed. earlier:
    the number of secrets in older lines. damage: lines that no reader can use; the kind names the
    sentence. orders: records with texts that read like instructions to a model. before, after:
    figures.
    """

    def __init__(self, revisions: Revisions, *, threshold: int) -> None:
        before, after = revisions.before.log, revisions.after.log
        self.revisions, self.threshold = revisions, threshold
        self.secrets = list(in_lines(revisions.path, revisions.fresh))
        there = set[tuple[str, ...]]().union(*map(_values, self.secrets))
        # Only other words of its record changed; another value is another secret.
        self.passing = [it for it in revisions.passing if not _values(it) or _values(it) - there]
        self.earlier = sum(1 for _ in in_lines(revisions.path, revisions.kept))
        self.damage = list(_damage(revisions))
        self.records = Comparison(before, after, revisions.passed)
        self.orders: list[tuple[Entry, list[Suspicion]]] = []
        places = (at for at, _ in after.all_records() if at not in after.leftovers)
        lines = {id(record): at + 1 for at, record in zip(places, after.records, strict=True)}
        for record, known in self.records.touched:
            orders = orders_in(revisions.path, lines[id(record)], record)
            if found := [it for it in orders if getattr(record, it.field) not in known]:
                self.orders.append((Entry.of(record), found))
        self.before, self.after = _figures(revisions.before), _figures(revisions.after)
        self.need = need_of(after.records, after.count, threshold)

    @property
    def is_refused(self) -> bool:
        """Whether the change must not be merged."""
        return bool(self.secrets or self.passing or self.damage)


def _values(found: Suspicion) -> set[tuple[str, ...]]:
    """Return the secrets of this kind in a record's field, if it has such a text."""
    if not found.record or found.field not in LIMITS_BYTES:
        return set()
    text, place = getattr(found.record, found.field), (found.record.id, found.field, found.kind)
    secrets = find(text, values_in(found.record.texts))
    return {(*place, text[it.start : it.end]) for it in secrets if it.kind == found.kind}


def _damage(revisions: Revisions) -> Iterator[Suspicion]:
    """Yield new damage; one more copy of a broken line counts."""
    before, after = revisions.before, revisions.after
    if revisions.link:
        yield Suspicion(path=revisions.link, line=1, kind="link")
    if after.is_wide and not before.is_wide:
        yield Suspicion(path=revisions.path, line=1, kind="utf_16")
        return  # its lines are broken for that reason alone
    known = Counter(content for _, content, _ in _broken(before.log))
    for line, content, kind in _broken(after.log):
        if known[content]:
            known[content] -= 1
        else:
            yield Suspicion(path=revisions.path, line=line, kind=kind)


def _broken(log: MemoryLog) -> Iterator[tuple[int, bytes, str]]:
    """Yield line (from 1), content and kind of unreadable or hidden lines."""
    hidden = {id(record) for record, _ in log.hidden}
    begun = [at for at in sorted(log.conflict) if CONFLICT_BEGIN.match(log.content(at))]
    conflicts = frozenset(begun or sorted(log.conflict)[:1])
    for at, entry in enumerate(log.entries):
        content = log.content(at).rstrip(b"\r\n")
        if at in conflicts:
            yield at + 1, content, "conflict"
        elif entry is None and at not in log.conflict and content.strip():
            yield at + 1, content, "unreadable"
        elif id(entry) in hidden:
            yield at + 1, content, "hidden"


def _figures(side: Side) -> dict[str, int]:
    """Return the size of a version. tokens: estimated, of a search without limits."""
    records = side.log.records
    principles = sum(record.type == "principle" for record in records)
    # Neither the name of a directory nor a setting of this machine may change a figure.
    settings = Settings(budget_tokens=BOUNDLESS, budget_chars=BOUNDLESS)
    frame = Frame(project="", settings=settings)
    answer = search_answer(side.log, frame, query="") if records else ""
    return {
        "records": len(records),
        "principles": principles,
        "logs": len(records) - principles,
        "topics": len(side.log.topics),
        "tokens": estimate_tokens(answer),
        "bytes": len(side.data),
    }
