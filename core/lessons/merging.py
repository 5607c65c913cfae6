"""Which version of each record a reader sees, when a git merge has left several in the file.

Pure. A version says which ones it follows (`former`), so that an older one is told from another
branch's; where none follows the other, the later date wins. A version that some principle has
replaced is hidden. What the others knew goes over to the one that is seen: a later compaction then
covers them all, and no merge brings one of them back.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from core.lessons.record import MOST_COUNTED, MOST_FORMER, Record, Sketch, id_in, ids_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """What becomes of the lines of one file.

    places: by id, the line of the record that is seen. shared: by id, all such lines where
    different gaps have one id. records: by line, a record that has taken over what other versions
    knew, and is to be written so. leftovers: lines that nobody sees. replaced: by id, the tokens
    of all versions that some principle replaced.
    """

    places: Mapping[str, int]
    shared: Mapping[str, tuple[int, ...]]
    records: Mapping[int, Record]
    leftovers: frozenset[int]
    replaced: Mapping[str, frozenset[str]]


def merged(entries: Sequence[Record | Sketch | None], whole: Callable[[int], Record]) -> Merged:
    """Decide for every id of these lines; `whole` gives the complete record of a line."""
    places: dict[str, int] = {}
    more: dict[str, list[int]] = {}
    compacted: list[Record] = []
    for at, entry in enumerate(entries):
        if entry is None:
            continue
        if places.setdefault(entry.id, at) != at:
            more.setdefault(entry.id, []).append(at)
        if isinstance(entry, Record) and entry.source_ids:
            compacted.append(entry)
    replaced = _replaced(compacted)
    shared: dict[str, tuple[int, ...]] = {}
    records: dict[int, Record] = {}
    leftovers: set[int] = set()
    for name in more.keys() | (replaced.keys() & places.keys()):
        lines = [places.pop(name), *more.get(name, ())]
        versions = {at: whole(at) for at in lines}
        seen = _seen(versions, replaced.get(name, frozenset()))
        leftovers.update(versions.keys() - seen.keys())
        records.update({at: it for at, it in seen.items() if it != versions[at]})
        if seen:
            places[name] = min(seen)
        if len(seen) > 1:
            shared[name] = tuple(sorted(seen))
    return Merged(
        places=places,
        shared=shared,
        records=records,
        leftovers=frozenset(leftovers),
        replaced=replaced,
    )


def following(record: Record, *earlier: Record) -> Record:
    """The record as one that follows these versions of it."""
    known = [fingerprint for it in earlier for fingerprint in (*it.former, it.fingerprint())]
    return replace(record, former=tuple(dict.fromkeys((*record.former, *known)))[-MOST_FORMER:])


def _replaced(compacted: Sequence[Record]) -> dict[str, frozenset[str]]:
    tokens: dict[str, set[str]] = {}
    for record in compacted:
        for token in record.source_ids:
            tokens.setdefault(id_in(token), set()).add(token)
    return {name: frozenset(given) for name, given in tokens.items()}


def _seen(lines: Mapping[int, Record], replaced: Collection[str]) -> dict[int, Record]:
    """By line, the records of one id that are seen: one of each gap, unless it was replaced.

    Two texts that read the same when joined have one id; they are no versions of each other.
    """
    gaps: dict[tuple[str, str, str], dict[int, Record]] = {}
    for at, record in lines.items():
        if record.token not in replaced:
            gaps.setdefault(record.gap, {})[at] = record
    newest = map(_newest, gaps.values())
    return {at: record for at, record in newest if record.token not in replaced}


def _newest(versions: Mapping[int, Record]) -> tuple[int, Record]:
    """The version that counts, with what the others knew, and its line."""
    followed = {fingerprint for record in versions.values() for fingerprint in record.former}
    latest = {at: it for at, it in versions.items() if it.fingerprint() not in followed}
    at = max(latest or versions, key=lambda line: (versions[line].version(), line))
    record = versions[at]
    known = {*record.former, record.fingerprint(), *record.source_ids}
    others = [
        it
        for it in versions.values()
        if not known.issuperset((*it.former, it.fingerprint(), *it.source_ids))
    ]
    return at, _taking_over(record, sorted(others, key=Record.version)) if others else record


def _taking_over(record: Record, others: Sequence[Record]) -> Record:
    source_ids = dict.fromkeys(token for it in (record, *others) for token in it.source_ids)
    added = len(ids_in(source_ids) - ids_in(record.source_ids))
    changed = replace(following(record, *others, record), source_ids=tuple(source_ids))
    if not added:
        return changed
    return replace(changed, source_count=min((record.source_count or 0) + added, MOST_COUNTED))
