"""Repairs a memory log, and hands over every line that leaves it as it was, to be kept elsewhere.

Pure: bytes in, bytes out. Of a record only the id, the encoding and the blanks around it change.
"""

from dataclasses import dataclass

from core.lessons.encodings import begins_like_utf_16
from core.lessons.log import MemoryLog
from core.lessons.record import Record, reidentified
from core.lessons.upkeep.health import as_written, id_fits, mended


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """A repaired log: its bytes, and the lines that left it, each below a line that says why."""

    data: bytes
    aside: bytes


@dataclass(frozen=True, slots=True)
class _Kept:
    """A line of the repaired log: where it came from, what it holds, and how it is written.

    original: the line as it stood there, for the file beside the log.
    """

    number: int
    record: Record
    raw: bytes
    original: bytes


def repair(data: bytes) -> Repair:
    """Return the log as `examine` would like it; repairing twice changes nothing more."""
    aside: list[bytes] = []
    if begins_like_utf_16(data):  # what its lines are, nobody can say
        return Repair(data=data, aside=b"")
    log = MemoryLog.parse(data)
    kept = _without_leftovers(_readable(log, aside), aside)
    renamed = [_with_fitting_id(line) for line in kept]
    final = _without_leftovers(renamed, aside)
    return Repair(data=b"".join(line.raw for line in final), aside=b"".join(aside))


def _readable(log: MemoryLog, aside: list[bytes]) -> list[_Kept]:
    """Return the lines that hold records, mended where that is possible; the others go aside."""
    kept: list[_Kept] = []
    for number in range(1, len(log.lines) + 1):
        entry = log.entries[number - 1]
        original = log.content(number - 1).removesuffix(b"\n") + b"\n"
        content = original.strip(b" \t\r\n") + b"\n"
        if entry:
            topic, repeated = as_written(content)
            if repeated:  # a rewrite keeps the value that counts, which is the last one
                aside.append(_heading(number, "key_twice") + original)
            raw = entry.to_line() if repeated or topic != entry.topic else content
            kept.append(_Kept(number, entry, raw, original))
            continue
        if not content.strip():
            continue
        records = [] if number - 1 in log.conflict else mended(content)
        why = "conflict" if number - 1 in log.conflict else "mended" if records else "unreadable"
        aside.append(_heading(number, why) + original)
        kept += [_Kept(number, record, record.to_line(), record.to_line()) for record in records]
    return kept


def _without_leftovers(kept: list[_Kept], aside: list[bytes]) -> list[_Kept]:
    """Return what a reader sees; the older versions and the originals of principles go aside."""
    log = MemoryLog([line.raw for line in kept], [line.record for line in kept])
    gone = [kept[at] for at in sorted(log.leftovers)]
    aside += [_heading(line.number, "leftover") + line.original for line in gone]
    clean = log.without_leftovers()
    left = [line for at, line in enumerate(kept) if at not in log.leftovers]
    return [
        _Kept(line.number, record, raw, line.original)
        for line, record, raw in zip(left, clean.records, clean.lines, strict=True)
    ]


def _with_fitting_id(line: _Kept) -> _Kept:
    if id_fits(line.record):
        return line
    record = reidentified(line.record)
    return _Kept(line.number, record, record.to_line(), line.original)


def _heading(number: int, why: str) -> bytes:
    return f"# line {number}: {why}\n".encode("ascii")
