"""A memory log without its secrets: the marker stands in their places.

Pure: bytes in, bytes out. A cleaned record keeps its dates, counts and other keys. Its id follows
from its text, as everywhere, and so may change. The version with the secret must not come back
with a merge: while the id stays, `former` lists it; under a new id `source_ids` does, as for an
original that was replaced, and a later compaction passes that on. The `former` of a principle
lists it in any case, so that it can be told from the originals.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.lines import BOM
from core.log_secrets import Looked, look
from core.memory_log import MemoryLog
from core.merging import following
from core.record import (
    LIMITS_BYTES,
    MOST_COUNTED,
    Record,
    ids_in,
    later,
    marked,
    reidentified,
    seconds_of,
)
from core.sanitizer import find


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned:
    """What became of a line with secrets, or of several that have become one record.

    lines: counted from 1, in the file as it was. before: the records in them. after: None for a
    line that holds no record, and for a leftover of a merge, which is gone. over: fields that are
    above their limit now, which a reader accepts and the next save of that gap does not.
    """

    lines: tuple[int, ...]
    before: tuple[Record, ...]
    after: Record | None
    kinds: tuple[str, ...]
    over: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaning:
    """The bytes of a cleaned log, and what was cleaned in it; () when there was nothing."""

    data: bytes
    changes: tuple[Cleaned, ...] = ()


@dataclass(slots=True, kw_only=True)
class _Line:
    """A piece of the new log on its way."""

    numbers: list[int]
    raw: bytes
    record: Record | None
    before: list[Record]
    kinds: list[str]


def clean(data: bytes, *, now: str) -> Cleaning:
    """The log without secrets: every other line keeps its bytes, leftovers of a merge go.

    now: ISO 8601; when the cleaned records were updated.
    """
    log = MemoryLog.parse(data)
    looked = list(look(log))
    if not any(it.spots for it in looked):
        return Cleaning(data=data)
    gone = [
        Cleaned(lines=(it.first + 1,), before=(it.record,), after=None, kinds=_kinds(it))
        for it in looked
        if it.record and it.spots and it.first in log.leftovers
    ]
    numbers = [at + 1 for at in range(len(log.lines)) if at not in log.leftovers]
    base = log.without_leftovers()
    lines = _folded([_line(it, base, numbers, now) for it in look(base)], now)
    _show(lines)
    changes = [*gone, *(_told(line) for line in lines if line.kinds)]
    return Cleaning(
        data=b"".join(line.raw for line in lines),
        changes=tuple(sorted(changes, key=lambda change: change.lines)),
    )


def _kinds(looked: Looked) -> tuple[str, ...]:
    return tuple(spot.kind for spot in looked.spots)


def _line(looked: Looked, log: MemoryLog, numbers: Sequence[int], now: str) -> _Line:
    places = range(looked.first, looked.first + looked.length)
    kinds, record = list(_kinds(looked)), looked.record
    raw = b"".join(log.lines[at] for at in places)
    if kinds:  # a record is written later
        raw = (BOM if looked.first == 0 and raw.startswith(BOM) else b"") + looked.raw
    return _Line(
        numbers=[numbers[spot.line] for spot in looked.spots] or [numbers[at] for at in places],
        raw=raw,
        record=_renewed(record, looked.clean, now) if record and looked.clean and kinds else record,
        before=[record] if record else [],
        kinds=kinds,
    )


def _renewed(before: Record, clean: Record, now: str) -> Record:
    """The cleaned record as one that no version with the secret can win over."""
    record = replace(reidentified(clean), updated=later(now, clean.updated or clean.created))
    if (record.id, record.gap) == (before.id, before.gap):
        return following(record, before)
    record = following(record, before) if record.type == "principle" else replace(record, former=())
    tokens = [token for token in before.tokens() if not find(token)]
    return replace(record, source_ids=tuple(dict.fromkeys((*record.source_ids, *tokens))))


def _folded(lines: Sequence[_Line], now: str) -> list[_Line]:
    """The lines, with those as one that have become the same gap under the same id."""
    groups: dict[object, list[int]] = {}
    for at, line in enumerate(lines):
        if line.record:
            groups.setdefault((line.record.id, line.record.gap), []).append(at)
    dropped: set[int] = set()
    for places in groups.values():
        members = [lines[at] for at in places]
        if len(members) == 1 or not any(line.kinds for line in members):
            continue
        newest = max(places, key=lambda at: _version(lines[at]))
        joined = lines[newest]
        joined.record = _joined(sorted(members, key=_version), now)
        joined.raw = BOM if joined.raw.startswith(BOM) else b""
        joined.numbers = sorted(number for line in members for number in line.numbers)
        joined.before = [record for line in members for record in line.before]
        joined.kinds = [kind for line in members for kind in line.kinds]
        dropped.update(at for at in places if at != newest)
    return [line for at, line in enumerate(lines) if at not in dropped]


def _version(line: _Line) -> tuple[float, int, bytes]:
    """Which version of a record is the newest one, by what it was before it was cleaned."""
    return max(record.version() for record in line.before)


def _joined(members: Sequence[_Line], now: str) -> Record:
    """One record of several, the newest last: no text and no number of theirs is lost."""
    records = [line.record for line in members if line.record]
    newest = records[-1]
    source_ids = tuple(dict.fromkeys(token for it in reversed(records) for token in it.source_ids))
    count = newest.source_count
    if newest.type == "principle":
        count = (count or 0) + len(ids_in(source_ids) - ids_in(newest.source_ids))
    newer = records[::-1]
    record = replace(
        newest,
        missing_context=_all_of([it.missing_context for it in newer]),
        lesson=_all_of([it.lesson for it in newer]),
        ask_next_time=_all_of([it.ask_next_time for it in newer]),
        created=min((it.created for it in records), key=seconds_of),
        updated=later(now, newest.updated or newest.created),
        seen=min(sum(max(it.seen, 1) for it in records), MOST_COUNTED),
        source_ids=source_ids,
        source_count=None if count is None else min(count, MOST_COUNTED),
        former=tuple(dict.fromkeys(known for it in records for known in it.former)),
        paths=tuple(dict.fromkeys(path for it in newer for path in it.paths)),
        meta_extra={key: kept for it in records for key, kept in it.meta_extra.items()},
        extra={key: kept for it in records for key, kept in it.extra.items()},
    )
    untouched = [line.record for line in members if line.record and not line.kinds]
    return following(record, *untouched)


def _all_of(texts: Sequence[str]) -> str:
    """These texts one below the other, without those that another one holds."""
    kept: list[str] = []
    for text in texts:
        if text.strip() and not any(text in other for other in kept):
            kept = [other for other in kept if other not in text] + [text]
    return "\n".join(kept) if kept else texts[0]


def _show(lines: Sequence[_Line]) -> None:
    """Write the changed records, each in a version that no other line hides."""
    hidden = {token for line in lines if line.record for token in line.record.source_ids}
    for at, line in enumerate(lines):
        if line.record and line.kinds:
            line.record = marked(line.record, line.record)
            while line.record.token in hidden:
                line.record = replace(line.record, seen=line.record.seen + 1)
            line.raw += line.record.to_line()  # behind a byte order mark
            if at and not lines[at - 1].raw.endswith(b"\n"):
                lines[at - 1].raw += b"\n"


def _told(line: _Line) -> Cleaned:
    over = [
        name
        for name, limit_bytes in LIMITS_BYTES.items()
        if line.record
        and len(getattr(line.record, name).encode("utf-8", "surrogatepass")) > limit_bytes
    ]
    return Cleaned(
        lines=tuple(dict.fromkeys(line.numbers)),
        before=tuple(line.before),
        after=line.record,
        kinds=tuple(line.kinds),
        over=tuple(over),
    )
