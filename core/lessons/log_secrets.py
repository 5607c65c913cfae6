"""Finds the secrets of a whole memory log, and writes the same lines without them.

Pure: the lines or the bytes of a log in, what is found or the bytes of the next log out.
"""

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from core.lessons.changes import joined, renewed, visible
from core.lessons.draft import clean_record
from core.lessons.log import MemoryLog, mark_of
from core.lessons.record import LIMITS_BYTES, MOST_LINE_BYTES, Record, marked
from core.lessons.upkeep import as_written, bytes_of
from core.sanitizer import Secret, find, merged, redact, replaced

WHOLE = "whole_line"
MOST_LOOKED_BYTES = 4_194_304  # of one line; more takes longer than anybody waits

_ESCAPE = re.compile(r'\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])')


class Spot(NamedTuple):
    """One secret of a log: its line (from 0), the field of a record or "", and its kind."""

    line: int
    field: str
    kind: str


class Looked(NamedTuple):
    """A record, or neighbouring lines that hold none, and what they are without their secrets.

    first: the first line (from 0) of so many. clean: still with the id, dates and versions of the
    record. raw: the lines that hold no record.
    """

    first: int
    length: int
    record: Record | None
    spots: tuple[Spot, ...] = ()
    clean: Record | None = None
    raw: bytes = b""


def look(log: MemoryLog) -> Iterator[Looked]:
    """Yield every line of a log, records and others, with the secrets that stand there.

    Each field of a record is read as the text that it is, so that no escape of JSON hides a secret
    and no marker tears one; lines that hold no record are read as they stand, neighbours together.
    """
    at = 0
    while at < len(log.lines):
        end = at + 1
        record, content = log.entries[at], log.content(at)
        if record:
            yield _in_record(record, content, at)
        elif len(content) > MOST_LINE_BYTES:  # the rest of a line without an end stays as it is
            looked = _in_text(content[:MOST_LOOKED_BYTES], at, 1)
            yield looked._replace(raw=looked.raw + content[MOST_LOOKED_BYTES:])
        else:
            while end < len(log.lines) and _is_text(log, end):
                end += 1
            yield _in_text(b"".join(map(log.content, range(at, end))), at, end - at)
        at = end


def _is_text(log: MemoryLog, at: int) -> bool:
    return log.entries[at] is None and len(log.lines[at]) <= MOST_LINE_BYTES


def _in_record(record: Record, content: bytes, at: int) -> Looked:
    clean, found = clean_record(record)
    if as_written(content)[1]:  # a key stands there twice, and only one of its values is read
        kinds = redact(content.decode("utf-8"))[1]
        found = found or [(WHOLE, kind) for kind in kinds]
    spots = tuple(Spot(at, name, kind) for name, kind in found)
    return Looked(at, 1, record, spots, clean)


def _in_text(data: bytes, at: int, count: int) -> Looked:
    r"""Look at lines that hold no record; what is behind an escape such as `\n` is still found."""
    text = data.decode("utf-8", "surrogateescape")
    secrets = find(text)
    if "\\" in text:
        read, places = _unescaped(text)
        hidden = [Secret(places[it.start], places[it.end], it.kind) for it in find(read)]
        secrets = merged([*secrets, *hidden])
    if not secrets:
        return Looked(at, count, None, raw=data)
    spots = tuple(Spot(at + text.count("\n", 0, it.start), "", it.kind) for it in secrets)
    raw = replaced(text, secrets).encode("utf-8", "surrogateescape")
    if data.endswith(b"\n") and not raw.endswith(b"\n"):
        raw += b"\n"
    return Looked(at, count, None, spots, raw=raw)


def _unescaped(text: str) -> tuple[str, list[int]]:
    """Return the text with characters for its escapes, and where each stands, the end included."""
    parts, places, at = list[str](), list[int](), 0
    for escape in _ESCAPE.finditer(text):
        parts += [text[at : escape.start()], json.loads(f'"{escape[0]}"')]
        places += range(at, escape.start() + 1)
        at = escape.end()
    return "".join([*parts, text[at:]]), [*places, *range(at, len(text) + 1)]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Member:
    """A record before and after, and its place. number: of its line in the file, from 1."""

    at: int
    number: int
    before: Record
    after: Record
    kinds: tuple[str, ...]


def clean(data: bytes, *, now: str) -> Cleaning:
    """Return the log without secrets: every other line keeps its bytes, leftovers of a merge go.

    A cleaned record keeps its dates, counts and other keys. Its id follows from its text, as
    everywhere, and so may change; a merge does not bring the version with the secret back. now: ISO
    8601; when the cleaned records were updated.
    """
    log = MemoryLog.parse(data)
    found = [it for it in look(log) if it.spots]
    if not found:
        return Cleaning(data=data)
    changes = [
        Cleaned(lines=(it.first + 1,), before=(it.record,), after=None, kinds=_kinds(it))
        for it in found
        if it.record and it.first in log.leftovers
    ]
    numbers = [at + 1 for at in range(len(log.lines)) if at not in log.leftovers]
    base = log.rewritten()
    lines, entries, members = list[bytes](), list[Record | None](), list[_Member]()
    for it in look(base):
        raw = base.lines[it.first : it.first + it.length]
        if it.record:
            at, number, kinds = len(lines), numbers[it.first], _kinds(it)
            after = _renewed(it.record, it.clean, now) if it.clean and kinds else it.record
            members.append(
                _Member(at=at, number=number, before=it.record, after=after, kinds=kinds)
            )
        elif it.spots:
            raw = [(mark_of(raw[0]) if it.first == 0 else b"") + it.raw]
            places = tuple(dict.fromkeys(numbers[spot.line] for spot in it.spots))
            changes.append(Cleaned(lines=places, before=(), after=None, kinds=_kinds(it)))
        lines += raw
        entries += [it.record] * len(raw)
    placed, dropped = dict[int, list[Record]](), set[int]()
    hidden = {token for it in members for token in it.after.source_ids}
    gaps: dict[object, list[_Member]] = {}
    for member in members:
        gaps.setdefault((member.after.id, member.after.gap), []).append(member)
    for same in gaps.values():
        if any(it.kinds for it in same):
            newest = max(same, key=lambda it: it.before.version())
            dropped.update(it.at for it in same if it is not newest)
            change = _joined(same, hidden, now)
            changes.append(change)
            placed[newest.at] = [change.after] if change.after else []
    cleaned = MemoryLog(lines, entries).rewritten(dropped, placed)
    changes.sort(key=lambda change: change.lines)
    return Cleaning(data=cleaned.to_bytes(), changes=tuple(changes))


def _kinds(looked: Looked) -> tuple[str, ...]:
    return tuple(spot.kind for spot in looked.spots)


def _renewed(before: Record, cleaned: Record, now: str) -> Record:
    """Return the cleaned record; a version id that holds a secret itself is not listed."""
    return renewed(before, cleaned, now, [token for token in before.tokens() if not find(token)])


def _joined(members: list[_Member], hidden: Collection[str], now: str) -> Cleaned:
    """Return one record of these, which are about one gap, in a version that no line hides."""
    ordered = sorted(members, key=lambda it: it.before.version())
    record = ordered[-1].after
    if len(members) > 1:
        untouched = [it.after for it in ordered if not it.kinds]
        record = joined([it.after for it in ordered], now, untouched=untouched)
    record = visible(marked(record, record), hidden)
    used_bytes = bytes_of(record)
    return Cleaned(
        lines=tuple(it.number for it in members),
        before=tuple(it.before for it in members),
        after=record,
        kinds=tuple(kind for it in members for kind in it.kinds),
        over=tuple(name for name in used_bytes if used_bytes[name] > LIMITS_BYTES[name]),
    )
