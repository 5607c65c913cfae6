"""Which version of each record a reader sees, when a git merge has left several in the file.

Pure. A version says which ones it follows (`former`), so that an older one is told from another
branch's; where none follows the other, the later date wins. A version that some principle has
replaced is hidden. What the others knew goes over to the one that is seen: a later compaction then
covers them all, and no merge brings one of them back.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from core.record import MOST_COUNTED, MOST_FORMER, Record, Sketch


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """What becomes of the lines of one file.

    places: by id, the line of the record that is seen. records: by line, a record that has taken
    over what other versions knew, and is to be written so. leftovers: lines that nobody sees.
    replaced: by id, the tokens of all versions that some principle replaced.
    """

    places: Mapping[str, int]
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
    records: dict[int, Record] = {}
    leftovers: set[int] = set()
    for name in sorted(more.keys() | (replaced.keys() & places.keys())):
        lines = [places[name], *more.get(name, ())]
        leftovers.update(lines)
        versions = {at: whole(at) for at in lines}
        seen = _seen(
            {at: it for at, it in versions.items() if it.token not in replaced[name]}
            if name in replaced
            else versions
        )
        if seen is None or seen[1].token in replaced.get(name, ()):
            del places[name]
            continue
        at, record = seen
        places[name] = at
        leftovers.discard(at)
        if record != versions[at]:
            records[at] = record
    return Merged(places=places, records=records, leftovers=frozenset(leftovers), replaced=replaced)


def following(record: Record, *earlier: Record) -> Record:
    """The record as one that follows these versions of it."""
    known = [fingerprint for it in earlier for fingerprint in (*it.former, it.fingerprint())]
    return replace(record, former=tuple(dict.fromkeys((*record.former, *known)))[-MOST_FORMER:])


def _replaced(compacted: Sequence[Record]) -> dict[str, frozenset[str]]:
    tokens: dict[str, set[str]] = {}
    for record in compacted:
        for token in record.source_ids:
            tokens.setdefault(token.rpartition("@")[0], set()).add(token)
    return {name: frozenset(given) for name, given in tokens.items()}


def _seen(versions: Mapping[int, Record]) -> tuple[int, Record] | None:
    """The version that counts, with what the others knew, and its line; None where none is left."""
    if not versions:
        return None
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
    added = len(source_ids) - len(record.source_ids)
    changed = following(record, *others, record)
    if not added:
        return changed
    count = min((record.source_count or 0) + added, MOST_COUNTED)
    return replace(changed, source_ids=tuple(source_ids), source_count=count)
