"""Finds the secrets of a whole memory log, and writes the same lines without them.

Pure: the lines or the bytes of a log in, what is found or the bytes of the next log out.
"""

import json
import re
from collections.abc import Iterator
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

    @property
    def kinds(self) -> tuple[str, ...]:
        """What kinds of secrets stand there."""
        return tuple(spot.kind for spot in self.spots)


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
            clean, found = clean_record(record)
            if as_written(content)[1]:  # a key stands there twice, and only one value is read
                kinds = redact(content.decode("utf-8"))[1]
                found = found or [(WHOLE, kind) for kind in kinds]
            spots = tuple(Spot(at, name, kind) for name, kind in found)
            yield Looked(at, 1, record, spots, clean)
        elif len(content) > MOST_LINE_BYTES:  # the rest of a line without an end stays as it is
            looked = _in_text(content[:MOST_LOOKED_BYTES], at, 1)
            yield looked._replace(raw=looked.raw + content[MOST_LOOKED_BYTES:])
        else:
            while end < len(log.lines) and not log.entries[end]:
                if len(log.lines[end]) > MOST_LINE_BYTES:
                    break
                end += 1
            yield _in_text(b"".join(map(log.content, range(at, end))), at, end - at)
        at = end


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


class Cleaning(NamedTuple):
    """The bytes of a cleaned log, and what was cleaned in it; () when there was nothing."""

    data: bytes
    changes: tuple[Cleaned, ...] = ()


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
        Cleaned(lines=(it.first + 1,), before=(it.record,), after=None, kinds=it.kinds)
        for it in found
        if it.record and it.first in log.leftovers
    ]
    numbers = [at + 1 for at in range(len(log.lines)) if at not in log.leftovers]
    base = log.rewritten()
    lines, dropped = list(base.lines), set[int]()
    before, kinds = dict(base.all_records()), dict[int, tuple[str, ...]]()
    after = dict(before)
    for it in look(base):
        if it.clean and it.record and it.spots:
            # A version id that holds a secret itself is not listed.
            tokens = [token for token in it.record.tokens() if not find(token)]
            after[it.first] = renewed(it.record, it.clean, now, tokens)
            kinds[it.first] = it.kinds
        elif it.spots:
            mark = mark_of(lines[0]) if it.first == 0 else b""
            lines[it.first] = mark + it.raw
            dropped.update(range(it.first + 1, it.first + it.length))
            places = tuple(dict.fromkeys(numbers[spot.line] for spot in it.spots))
            changes.append(Cleaned(lines=places, before=(), after=None, kinds=it.kinds))
    listed = {token for record in after.values() for token in record.source_ids}
    placed, gaps = dict[int, list[Record]](), dict[object, list[int]]()
    for at, record in after.items():
        gaps.setdefault((record.id, record.gap), []).append(at)
    for members in gaps.values():
        if kinds.keys().isdisjoint(members):
            continue
        in_order = sorted(members, key=lambda at: before[at].version())
        record = after[in_order[-1]]
        if len(members) > 1:
            untouched = [after[at] for at in in_order if at not in kinds]
            record = joined([after[at] for at in in_order], now, untouched=untouched)
        record = visible(marked(record, record), listed)
        placed[in_order[-1]] = [record]
        dropped.update(members)
        changes.append(
            Cleaned(
                lines=tuple(numbers[at] for at in members),
                before=tuple(before[at] for at in members),
                after=record,
                kinds=tuple(kind for at in members for kind in kinds.get(at, ())),
                over=tuple(it for it, size in bytes_of(record).items() if size > LIMITS_BYTES[it]),
            )
        )
    cleaned = MemoryLog(lines, base.entries).rewritten(dropped, placed)
    changes.sort(key=lambda change: change.lines)
    return Cleaning(data=cleaned.to_bytes(), changes=tuple(changes))
