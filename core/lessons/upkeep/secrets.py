"""Finds the secrets of a text or of a whole memory log, and writes the same lines without them.

Pure. It reads each field of a record as the text that it is, so that no escape of JSON hides a
secret and no marker tears one; lines that hold no record it reads as they stand.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from core.injection.marks import HIDDEN_CLASS
from core.lessons.log import MemoryLog
from core.lessons.record import DECODER, Record, normalise_topic, too_deep
from core.lessons.upkeep.health import as_written
from core.sanitizer import MARKER, Secret, find, replaced, values_in

WINDOW_CHARS = 16_384
MARGIN_CHARS = 6_144  # the longest key block in use has about 6,000 characters
META, OTHERS, WHOLE = "meta", "other_keys", "whole_line"

# An id, a token, a fingerprint or a date as a program writes them holds no secret.
_HARMLESS = re.compile(r"[0-9a-f]{16}(?:@[0-9a-f]{6})?|[0-9a-f]{6}|[0-9]{4}-[0-9T:.+Z-]{6,30}|")
_HIDDEN = re.compile(f"[{HIDDEN_CLASS}]+")
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


def secrets_in(text: str, known: Mapping[str, str] | None = None) -> list[Secret]:
    """Every secret of a text of any length, in the order of place; none overlaps another.

    Hidden characters hide none: the text is also read without them, and a secret then reaches over
    those inside it. known: values found in other texts, with their kinds.
    """
    found = _in_windows(text, known)
    if _HIDDEN.search(text):
        bare, places = _bare(text)
        seen = _in_windows(bare, known)
        found += [Secret(places[it.start], places[it.end - 1] + 1, it.kind) for it in seen]
    return _united(found)


def redacted(text: str, known: Mapping[str, str] | None = None) -> tuple[str, list[str]]:
    """The text with a marker for every secret of `secrets_in`, and their kinds."""
    secrets = secrets_in(text, known)
    return replaced(text, secrets), [it.kind for it in secrets]


def safe(text: str) -> str:
    """A name, or "" when it holds a secret itself."""
    return "" if has_secret(text) else text


@lru_cache(maxsize=1_024)
def has_secret(text: str) -> bool:
    """Whether a text that is about to be printed holds a secret."""
    return bool(secrets_in(text))


def _bare(text: str) -> tuple[str, list[int]]:
    """The text without hidden characters, and where each of the others stands."""
    places, at = list[int](), 0
    for run in _HIDDEN.finditer(text):
        places += range(at, run.start())
        at = run.end()
    places += range(at, len(text))
    return "".join(text[at] for at in places), places


def _in_windows(text: str, known: Mapping[str, str] | None = None) -> list[Secret]:
    """Every secret, also those that overlap.

    A long text is read in windows that share some lines: what reaches over the end of one window
    is whole in the next.
    """
    found: list[Secret] = []
    for start, end in _windows(text):
        seen = find(text[start:end], known)
        found += [Secret(start + it.start, start + it.end, it.kind) for it in seen]
    return found


def _windows(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    while at + WINDOW_CHARS < len(text):
        end = at + WINDOW_CHARS
        end = text.rfind("\n", at + WINDOW_CHARS // 2, end) + 1 or end
        yield at, end
        at = text.find("\n", end - MARGIN_CHARS, end) + 1 or end - MARGIN_CHARS
    if at < len(text):
        yield at, len(text)


def _united(found: Iterable[Secret]) -> list[Secret]:
    """One for those that overlap, under the name of the longest."""
    out: list[Secret] = []
    for it in sorted(found, key=lambda secret: (secret.start, -secret.end)):
        if not out or it.start >= out[-1].end:
            out.append(it)
            continue
        last = out[-1]
        longer = max(last, it, key=lambda secret: secret.end - secret.start)
        out[-1] = Secret(last.start, max(last.end, it.end), longer.kind)
    return out


def look(log: MemoryLog) -> Iterator[Looked]:
    """Every line of a log, records and others, with the secrets that stand there."""
    at, count = 0, len(log.lines)
    while at < count:
        record = log.record_in(at)
        value = _value_in(log.content(at)) if record is None else None
        if record:
            yield _looked_record(record, log.content(at), at)
        elif value is not None:
            yield _looked_value(value, log.content(at), at)
        else:
            end = at + 1
            while end < count and log.entries[end] is None and not _value_in(log.content(end)):
                end += 1
            lines = [log.content(line) for line in range(at, end)]
            yield _looked_text(b"".join(lines), at, end - at)
            at = end - 1
        at += 1


def _looked_record(record: Record, content: bytes, at: int) -> Looked:
    clean, found = clean_record(record)
    if as_written(content)[1]:  # a key stands there twice, and only one of its values is read
        kinds = redacted(content.decode("utf-8"))[1]
        found = found or [(WHOLE, kind) for kind in kinds]
    spots = tuple(Spot(at, field, kind) for field, kind in found)
    return Looked(at, 1, record, spots, clean)


def clean_record(record: Record) -> tuple[Record, list[tuple[str, str]]]:
    """The record without secrets, and the field and kind of each one."""
    found: list[tuple[str, str]] = []
    known = values_in(record.texts)  # what one field calls a password, another may only use

    def cleaned(name: str, text: str) -> str:
        clean, kinds = redacted(text, known)
        found.extend((name, kind) for kind in kinds)
        return clean

    def odd(text: str) -> str:
        return text if _HARMLESS.fullmatch(text) else cleaned(META, text)

    meta_extra, meta_kinds = _clean_members(record.meta_extra)
    extra, kinds = _clean_members(record.extra)
    clean = replace(
        record,
        topic=normalise_topic(cleaned("topic", record.topic)),
        missing_context=cleaned("missing_context", record.missing_context),
        lesson=cleaned("lesson", record.lesson),
        ask_next_time=cleaned("ask_next_time", record.ask_next_time),
        id=odd(record.id),
        created=odd(record.created),
        updated=odd(record.updated),
        compacted_at=odd(record.compacted_at),
        source_ids=tuple(map(odd, record.source_ids)),
        former=tuple(map(odd, record.former)),
        marks=tuple(map(odd, record.marks)),
        paths=tuple(map(odd, record.paths)),
        meta_extra=meta_extra,
        extra=extra,
    )
    found += [(META, kind) for kind in meta_kinds] + [(OTHERS, kind) for kind in kinds]
    return clean, found


def _clean_members(members: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Keys that we do not know, each looked at as text and then, with its name, as JSON.

    Where the JSON would not be any more (a number that is a password), the whole value goes.
    """
    out: dict[str, Any] = {}
    found: list[str] = []
    for name, value in members.items():
        member, kinds = _clean_value({name: value})
        text, more = redacted(json.dumps(member, ensure_ascii=False))
        if more:
            parsed = _value_in(text.encode("utf-8", "surrogatepass"))
            member = parsed if isinstance(parsed, dict) else dict.fromkeys(member, MARKER)
        for key, kept in member.items():
            out[_free(key, out)] = kept
        found += kinds + more
    return out, found


def _clean_value(value: Any) -> tuple[Any, list[str]]:
    """A JSON value without the secrets in its texts, names of members among them."""
    found: list[str] = []
    if isinstance(value, str):
        return redacted(value)
    if isinstance(value, list):
        cleaned = [_clean_value(item) for item in value]
        return [item for item, _ in cleaned], [kind for _, kinds in cleaned for kind in kinds]
    if isinstance(value, dict):
        out: dict[str, Any] = {}
        for name, item in value.items():
            (name, kinds), (item, more) = redacted(name), _clean_value(item)
            out[_free(name, out)] = item
            found += kinds + more
        return out, found
    return value, found


def _free(name: str, taken: Mapping[str, Any]) -> str:
    while name in taken:
        name += "_"
    return name


def _value_in(content: bytes) -> Any:
    """The JSON object or list of a line; None for any other line."""
    if content.lstrip()[:1] not in (b"{", b"["):
        return None
    try:
        value = DECODER.decode(content.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return None
    return None if too_deep(content, value) else value


def _looked_value(value: Any, content: bytes, at: int) -> Looked:
    """A line of JSON that is no record: half of one, or one that only git's markers hide."""
    if isinstance(value, dict):
        clean, kinds = _clean_members(value)
    else:
        clean, kinds = _clean_value(value)
    if not kinds:
        return _looked_text(content, at, 1)
    raw = json.dumps(clean).encode("ascii") if b"\\u" in content else _utf_8(clean)
    end = content[len(content.rstrip(b"\r\n")) :]
    return Looked(at, 1, None, tuple(Spot(at, "", kind) for kind in kinds), raw=raw + end)


def _utf_8(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8")


def _looked_text(data: bytes, at: int, count: int) -> Looked:
    r"""Lines that are no JSON; what stands behind an escape such as `\n` is found all the same."""
    text = data.decode("utf-8", "surrogateescape")
    secrets = secrets_in(text)
    if "\\" in text:
        read, places = _unescaped(text)
        hidden = [Secret(places[it.start], places[it.end], it.kind) for it in secrets_in(read)]
        secrets = _united([*secrets, *hidden])
    if not secrets:
        return Looked(at, count, None, raw=data)
    spots = tuple(Spot(at + text.count("\n", 0, it.start), "", it.kind) for it in secrets)
    raw = replaced(text, secrets).encode("utf-8", "surrogateescape")
    if data.endswith(b"\n") and not raw.endswith(b"\n"):
        raw += b"\n"
    return Looked(at, count, None, spots, raw=raw)


def _unescaped(text: str) -> tuple[str, list[int]]:
    """The text with characters for its escapes, and where each of them stands, the end included."""
    parts, places, at = list[str](), list[int](), 0
    for escape in _ESCAPE.finditer(text):
        parts += [text[at : escape.start()], json.loads(f'"{escape[0]}"')]
        places += range(at, escape.start() + 1)
        at = escape.end()
    return "".join([*parts, text[at:]]), [*places, *range(at, len(text) + 1)]
