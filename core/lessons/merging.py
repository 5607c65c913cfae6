"""Decides which version of a record a reader sees when a git merge leaves several in the file.

Pure. A version lists the ones it follows (`former`); where none follows the other, the later date
wins. A version that a principle has replaced is hidden. The surviving version inherits the `former`
and `source_ids` of the others: a later compaction covers them all, and no merge brings one back.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from core.lessons.record import MOST_COUNTED, MOST_FORMER, Record, id_in, ids_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """What a reader sees of the records of one file.

    seen: by line, in the order of the file; the next change writes a record that inherited from
    others. places: by id, its first line. others: by id, its further lines. leftovers: lines that
    no reader sees. replaced: by id, the version ids that some principle replaced.
    """

    seen: Mapping[int, Record]
    places: Mapping[str, int]
    others: Mapping[str, Sequence[int]]
    leftovers: frozenset[int]
    replaced: Mapping[str, frozenset[str]]


def merged(entries: Sequence[Record | None]) -> Merged:
    """Decide for every id of these lines; None stands for a line without a record."""
    seen: dict[int, Record] = {}
    places: dict[str, int] = {}
    others: dict[str, list[int]] = {}
    compacted: list[Record] = []
    for at, record in enumerate(entries):
        if record is None:
            continue
        seen[at] = record
        if places.setdefault(record.id, at) != at:
            others.setdefault(record.id, []).append(at)
        if record.source_ids:
            compacted.append(record)
    replaced = _replaced(compacted)
    leftovers: set[int] = set()
    for name in others.keys() | (replaced.keys() & places.keys()):
        lines = (places[name], *others.get(name, ()))
        kept = _seen({at: seen[at] for at in lines}, replaced.get(name, ()))
        leftovers.update(at for at in lines if at not in kept)
        seen |= kept
    for at in leftovers:
        del seen[at]
    return Merged(
        seen=seen, places=places, others=others, leftovers=frozenset(leftovers), replaced=replaced
    )


def following(record: Record, *earlier: Record) -> Record:
    """Return the record as one that follows these versions of it."""
    known = [fingerprint for it in earlier for fingerprint in (*it.former, it.fingerprint())]
    return replace(record, former=tuple(dict.fromkeys((*record.former, *known)))[-MOST_FORMER:])


def _replaced(compacted: Iterable[Record]) -> dict[str, frozenset[str]]:
    tokens: dict[str, set[str]] = {}
    for record in compacted:
        for token in record.source_ids:
            tokens.setdefault(id_in(token), set()).add(token)
    return {name: frozenset(given) for name, given in tokens.items()}


def _seen(lines: Mapping[int, Record], replaced: Collection[str]) -> dict[int, Record]:
    """Return by line the records of one id that a reader sees: one of each gap, unless replaced.

    Two gaps whose joined texts are equal share an id; they are no versions of each other.
    """
    gaps: dict[tuple[str, str, str], dict[int, Record]] = {}
    for at, record in lines.items():
        if record.token not in replaced:
            gaps.setdefault(record.gap, {})[at] = record
    newest = map(_newest, gaps.values())
    return {at: record for at, record in newest if record.token not in replaced}


def _newest(versions: Mapping[int, Record]) -> tuple[int, Record]:
    """Return the surviving version, with what it inherits from the others, and its line."""
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
    if not others:
        return at, record
    changed = _taking_over(record, sorted(others, key=Record.version))
    return at, record if changed == record else changed  # its line keeps its bytes


def _taking_over(record: Record, others: Sequence[Record]) -> Record:
    source_ids = dict.fromkeys(token for it in (record, *others) for token in it.source_ids)
    added = len(ids_in(source_ids) - ids_in(record.source_ids))
    changed = replace(following(record, *others, record), source_ids=tuple(source_ids))
    if not added:
        return changed
    return replace(changed, source_count=min((record.source_count or 0) + added, MOST_COUNTED))
