"""Finds the secrets of a whole memory log, and writes the same lines without them.

Pure. It reads each field of a record as the text that it is, so that no escape of JSON hides a
secret and no marker tears one; lines that hold no record it reads as they stand.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from core.lessons.clean_record import clean_members, clean_record, clean_value, json_value_in
from core.lessons.log import MemoryLog
from core.lessons.record import MOST_LINE_BYTES, Record
from core.lessons.upkeep.health import as_written
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
    """Yield every line of a log, records and others, with the secrets that stand there."""
    at, count = 0, len(log.lines)
    while at < count:
        record = log.entries[at]
        if is_long(log.lines[at]):
            yield _looked_long(log.content(at), at)
            at += 1
            continue
        value = json_value_in(log.content(at)) if record is None else None
        if record:
            yield _looked_record(record, log.content(at), at)
        elif value is not None:
            yield _looked_value(value, log.content(at), at)
        else:
            end = at + 1
            while end < count and log.entries[end] is None and not is_long(log.lines[end]):
                if json_value_in(log.content(end)):
                    break
                end += 1
            lines = [log.content(line) for line in range(at, end)]
            yield _looked_text(b"".join(lines), at, end - at)
            at = end - 1
        at += 1


def is_long(line: bytes) -> bool:
    """Return whether a line is longer than any that a reader takes for a record."""
    return len(line) > MOST_LINE_BYTES


def _looked_long(content: bytes, at: int) -> Looked:
    """Look at the beginning of a line without an end; the rest stays as it is."""
    looked = _looked_text(content[:MOST_LOOKED_BYTES], at, 1)
    return looked._replace(raw=looked.raw + content[MOST_LOOKED_BYTES:])


def _looked_record(record: Record, content: bytes, at: int) -> Looked:
    clean, found = clean_record(record)
    if as_written(content)[1]:  # a key stands there twice, and only one of its values is read
        kinds = redact(content.decode("utf-8"))[1]
        found = found or [(WHOLE, kind) for kind in kinds]
    spots = tuple(Spot(at, field, kind) for field, kind in found)
    return Looked(at, 1, record, spots, clean)


def _looked_value(value: Any, content: bytes, at: int) -> Looked:
    """Look at a JSON line that is no record: half of one, or one that only git's markers hide."""
    if isinstance(value, dict):
        clean, kinds = clean_members(value)
    else:
        clean, kinds = clean_value(value)
    if not kinds:
        return _looked_text(content, at, 1)
    raw = json.dumps(clean).encode("ascii") if b"\\u" in content else _utf_8(clean)
    end = content[len(content.rstrip(b"\r\n")) :]
    return Looked(at, 1, None, tuple(Spot(at, "", kind) for kind in kinds), raw=raw + end)


def _utf_8(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8")


def _looked_text(data: bytes, at: int, count: int) -> Looked:
    r"""Look at lines that are no JSON; what is behind an escape such as `\n` is still found."""
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
