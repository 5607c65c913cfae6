"""Finds what may be a secret in the lines of a file, and what reads like an order in its records.

A suspicion says where and of what kind. Its own text is never printed: a name that holds a secret
itself (a topic, an id, a path) is left out as well.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from commands.terminal.safe_text import plain
from core.guard.injection import marks_of
from core.lessons.history import Commit
from core.lessons.log import BOM, IN_UTF_16, UTF_16_MARKS, MemoryLog, split_lines, utf_16_name
from core.lessons.record import LIMITS_BYTES, Record, parse_line
from core.lessons.record_text import token_text, topic_text
from core.lessons.upkeep import MOST_LOOKED_BYTES, Looked, look
from core.messages import say
from core.sanitizer import find, has_secret, safe

Lines = list[tuple[int, bytes]]  # numbered from 1, without their ends

_BEGINNING_BYTES = 8_192  # of a file, which say whether it is a text
_ODD_SHARE = 1 / 32  # of the characters of a text
_OF_RECORDS = b'"missing_context"'
_IN_UTF_8 = re.compile(rb"[\t -~]{16}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """A possible secret, or with `is_order` a text that reads like instructions to a model.

    line: counted from 1. record, field: what stands there, if it is a record. commit: the first
    one that has it, where the history was looked at.
    """

    path: str
    line: int
    kind: str
    field: str = ""
    record: Record | None = None
    is_order: bool = False
    commit: Commit | None = None


# Files.


def readings(data: bytes) -> list[bytes]:
    """Return a file as UTF-8 in every encoding that it may be, one at least.

    Somebody may have put a mark or a stray byte before it, or joined parts of two encodings: what
    one program cannot read, another one shows.
    """
    if b"\0" not in data and not data.startswith(UTF_16_MARKS):
        return [data.removeprefix(BOM)]
    found = [data.removeprefix(BOM)] if _IN_UTF_8.search(data) else []
    if name := utf_16_name(data):
        return [data.decode(name).encode("utf-8").removeprefix(BOM), *found]
    for name in ("utf-16-le", "utf-16-be"):
        for start in (0, 1):
            text = data[start:].decode(name, "replace").removeprefix("\ufeff")
            if IN_UTF_16.search(text):
                found.append(text.encode("utf-8", "replace"))
    return found or [data]


def is_text(data: bytes) -> bool:
    """Return whether a file is a text in one of its encodings; its beginning is enough."""
    return any(_reads_as_text(reading[:_BEGINNING_BYTES]) for reading in readings(data))


def _reads_as_text(beginning: bytes) -> bool:
    """Return whether there is no NUL, or so few odd bytes that it may be put there to mislead."""
    if b"\0" not in beginning:
        return True
    text = beginning.decode("utf-8", "replace")
    odd = sum((char < " " and char not in "\t\n\r\f") or char == "\ufffd" for char in text)
    return odd <= len(text) * _ODD_SHARE


def in_file(path: str, data: bytes, *, is_log: bool = False) -> list[Suspicion]:
    """Return what is found in a file in each encoding that it may be, each place once.

    A memory log is known by its records, or is said to be one. Only records are looked at for
    orders: a model reads nothing else.
    """
    found: dict[tuple[object, ...], Suspicion] = {}
    for reading in readings(data):
        for it in _in_reading(path, reading, is_log=is_log):
            found.setdefault((it.line, it.kind, it.field, it.is_order), it)
    return list(found.values())


def unread_parts(data: bytes) -> Iterator[str]:
    """Yield why a part of a file was not looked at: nobody may take it for clean."""
    if _OF_RECORDS in data and len(data) > MOST_LOOKED_BYTES:
        for number, line in enumerate(split_lines(data), start=1):
            if len(line) > MOST_LOOKED_BYTES:
                yield f"line {number}: only its first {MOST_LOOKED_BYTES:,} bytes were looked at"


def _in_reading(path: str, data: bytes, *, is_log: bool) -> Iterator[Suspicion]:
    if is_log or _OF_RECORDS in data:
        log = MemoryLog.parse(data)
        if is_log or any(entry is not None for entry in log.entries):
            return _in_log(path, log)
    return _in_text(path, data.decode("utf-8", "replace"))


def _in_text(path: str, text: str) -> Iterator[Suspicion]:
    line, at = 1, 0
    for secret in find(text):
        line, at = line + text.count("\n", at, secret.start), secret.start
        yield Suspicion(path=path, line=line, kind=secret.kind)


def _in_log(path: str, log: MemoryLog) -> Iterator[Suspicion]:
    for looked in look(log):
        yield from _secrets_of(looked, path, 1)
        if looked.record:
            yield from orders_in(path, looked.first + 1, looked.record)


# Lines and records.


def fresh_lines(data: bytes, known: set[bytes]) -> Lines:
    """Return the lines of a file that are not known yet, and make them known."""
    fresh: Lines = []
    for reading in readings(data):
        for number, line in enumerate(split_lines(reading), start=1):
            content = line.rstrip(b"\r\n")
            if content not in known:
                known.add(content)
                fresh.append((number, content))
    return fresh


def in_lines(
    path: str, numbered: Iterable[tuple[int, bytes]], commit: Commit | None = None
) -> Iterator[Suspicion]:
    """Yield the secrets in some lines of a log; neighbours are looked at together."""
    for _, run in groupby(enumerate(numbered), key=lambda pair: pair[1][0] - pair[0]):
        neighbours = [line for _, line in run]
        first, lines = neighbours[0][0], [content + b"\n" for _, content in neighbours]
        for looked in look(MemoryLog(lines, [parse_line(line) for line in lines])):
            yield from _secrets_of(looked, path, first, commit)


def orders_in(path: str, line: int, record: Record) -> Iterator[Suspicion]:
    """Yield what reads like instructions to a model in the texts of a record."""
    place = Suspicion(path=path, line=line, kind="", record=record, is_order=True)
    for name in LIMITS_BYTES:
        for mark in dict.fromkeys(marks_of(getattr(record, name))):
            yield replace(place, kind=mark, field=name)


def _secrets_of(
    looked: Looked, path: str, first: int, commit: Commit | None = None
) -> Iterator[Suspicion]:
    """Yield the secrets of some lines. first: the number of line 0."""
    place = Suspicion(path=path, line=first, kind="", record=looked.record, commit=commit)
    for line, name, kind in looked.spots:
        yield replace(place, line=first + line, kind=kind, field=name)


# What is said of them.


def suspicion_line(found: Suspicion, where: str) -> str:
    """Return one suspicion as a line without any secret."""
    if not found.record:
        return say("scan.in_file", where=where, kind=found.kind)
    token, topic = _names_of(found.record)
    record = say("scan.record", token=token) if token else say("scan.unnamed")
    record = f"{record} [{topic}]" if topic else record
    key = "scan.mark" if found.is_order else "scan.in_record"
    return say(key, where=where, kind=found.kind, field=field_name(found), record=record)


def suspicion_json(found: Suspicion) -> dict[str, object]:
    """Return one suspicion as data, without any secret."""
    value: dict[str, object] = {
        "path": shown_path(found.path),
        "line": found.line,
        "severity": "warning" if found.is_order else "error",
        "kind": found.kind,
    }
    if found.record:
        token, topic = _names_of(found.record)
        value |= {"field": found.field, "token": token, "topic": topic}
    if found.commit:
        commit = found.commit
        value |= {"commit": commit.id, "date": commit.date, "author": safe(commit.author)}
    return value


def field_name(found: Suspicion) -> str:
    """Return what people call the field of a record: its own name, or ours for other keys."""
    return found.field if found.field in LIMITS_BYTES else say(f"scan.{found.field}")


def token_of(record: Record) -> str:
    """Return the version id of a record as it may be printed, "" for one that holds a secret."""
    return safe(plain(token_text(record)))


def _names_of(record: Record) -> tuple[str, str]:
    """Return the version id and the topic of a record, "" for one that holds a secret."""
    topic = plain(topic_text(record.topic))
    return token_of(record), "" if has_secret(record.topic) else topic


def shown_path(path: str) -> str:
    """Return a path for a line of ours that no CI runner can take for a command (`::error …`)."""
    shown = plain(safe(path) or say("scan.hidden_name"))
    return f"./{shown}" if shown.lstrip().startswith("::") else shown
