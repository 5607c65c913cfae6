"""Takes the secrets out of a memory log and puts the marker in their places.

Pure: bytes in, bytes out. A cleaned record keeps its dates, counts and other keys. Its id follows
from its text, as everywhere, and so may change. `core/lessons/renewal.py` keeps a merge from
bringing the version with the secret back.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.lessons.encodings import BOM
from core.lessons.log import MemoryLog, following
from core.lessons.record import LIMITS_BYTES, Record, marked
from core.lessons.renewal import joined, renewed
from core.lessons.upkeep.secrets import Looked, look
from core.sanitizer import find


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned:
    """What became of a line with secrets, or of several that have become one record.

    lines: counted from 1, in the file as it was. before: the records in them. after: None for a
    line that holds no record, and for a leftover of a merge, which is gone. over: fields above
    their limit now; readers accept them, the next save of that gap does not.
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
    """Return the log without secrets: every other line keeps its bytes, leftovers of a merge go.

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
    changes = [*gone, *(_cleaned(line) for line in lines if line.kinds)]
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
    """Return the cleaned record; an id that holds a secret itself is not listed."""
    return renewed(before, clean, now, [token for token in before.tokens() if not find(token)])


def _folded(lines: Sequence[_Line], now: str) -> list[_Line]:
    """Return the lines, joining those that have become the same gap under the same id."""
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
        folded = lines[newest]
        folded.record = _joined(sorted(members, key=_version), now)
        folded.raw = BOM if folded.raw.startswith(BOM) else b""
        folded.numbers = sorted(number for line in members for number in line.numbers)
        folded.before = [record for line in members for record in line.before]
        folded.kinds = [kind for line in members for kind in line.kinds]
        dropped.update(at for at in places if at != newest)
    return [line for at, line in enumerate(lines) if at not in dropped]


def _version(line: _Line) -> tuple[float, int, bytes]:
    """Return how new a record is, by what it was before it was cleaned."""
    return max(record.version() for record in line.before)


def _joined(members: Sequence[_Line], now: str) -> Record:
    """Return one record of several, the newest last."""
    untouched = [line.record for line in members if line.record and not line.kinds]
    return following(joined([line.record for line in members if line.record], now), *untouched)


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


def _cleaned(line: _Line) -> Cleaned:
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
