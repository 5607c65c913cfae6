"""Reads what can be imported: Markdown, a server-memory file, our own export or log.

A foreign statement says a rule, not what was missing when somebody needed it. So it becomes a
principle, whose id comes from its words, and a second import recognises it; a log would need an
invented gap. The format of server-memory is that of `src/memory/index.ts` in
github.com/modelcontextprotocol/servers: one JSON object on a line, entities and relations.
"""

import json
import os
import re
import stat
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from commands.exchange.formats import FORMAT, MARKER, VERSION
from commands.exchange.lists import Passed, read_markdown
from commands.exchange.topics import topic_of
from core.disk import reason_of
from core.errors import RefusedError
from core.lessons.log import BOM, UTF_16_MARKS, MemoryLog, split_lines
from core.lessons.record import DECODER, Draft, Record, new_record, normalise_topic, parse_line

MOST_BYTES = 64_000_000  # fits the largest memory that is measured
MOST_TEXT_BYTES = 5_000_000
STDIN, SHOWN_STDIN = "-", "<stdin>"
EXPORT, LOG, SERVER_MEMORY, MARKDOWN = "export", "log", "server-memory", "markdown"
OURS = (EXPORT, LOG)
FORMATS = (*OURS, SERVER_MEMORY, MARKDOWN)

_SURROGATE = re.compile("[\ud800-\udfff]")


class SourceError(RefusedError):
    """A file cannot be imported; nothing was saved."""

    table = "import"


@dataclass(frozen=True, slots=True)
class Item:
    """A record, and its line in the file, counted from 1."""

    record: Record
    line: int


@dataclass(slots=True)
class Source:
    """What a file holds: records, and lines that are none.

    has_entries: `line` counts entries of a list, not lines of the file.
    """

    path: str
    format: str
    items: list[Item] = field(default_factory=list)
    passed: list[Passed] = field(default_factory=list)
    has_entries: bool = False

    @property
    def is_ours(self) -> bool:
        """Whether this program wrote the records, with dates and gaps of their own."""
        return self.format in OURS


def read_source(path: str, wanted: str | None, *, now: str) -> Source:
    """Read a file, or standard input for `-`. wanted: the format it must have, None for any.

    Raises SourceError.
    """
    shown = SHOWN_STDIN if path == STDIN else path
    data = _bytes_of(path, shown)
    if len(data) > MOST_BYTES:
        raise SourceError("too_large", path=shown, most=MOST_BYTES)
    data = _checked(shown, data).removeprefix(BOM)
    is_large = len(data) > MOST_TEXT_BYTES
    readers: dict[str, Callable[[str, bytes], Source | None]] = {
        EXPORT: _export,
        LOG: _log,
        SERVER_MEMORY: partial(_server_memory, now=now),
    }
    for name, read in readers.items():
        if wanted not in (None, name) or (is_large and name not in OURS):
            continue
        if source := read(shown, data):
            return source
    if is_large and wanted not in OURS:
        raise SourceError("text_too_large", path=shown, most=MOST_TEXT_BYTES)
    if wanted in (None, MARKDOWN) and not (wanted is None and _is_json(data)):
        return _markdown(shown, data, now)
    if wanted:
        raise SourceError("other_format", path=shown, format=wanted)
    raise SourceError("unknown_format", path=shown)


def retopiced(source: Source, topic: str) -> None:
    """Put all records of a source into one topic, and drop the ids of former versions."""
    source.items = [
        replace(it, record=replace(it.record, topic=topic, former=())) for it in source.items
    ]


def into_known_topics(source: Source, topics: Collection[str]) -> None:
    """Replace topics made from headings by topics of the memory that read the same."""
    known: dict[str, str] = {}
    for topic in topics:
        known.setdefault(topic_of(topic), topic)
    for at, it in enumerate(source.items):
        topic = it.record.topic
        if topic not in topics and topic in known:
            source.items[at] = replace(it, record=replace(it.record, topic=known[topic]))


def _bytes_of(path: str, shown: str) -> bytes:
    try:
        if path == STDIN:
            data = sys.stdin.buffer.read(MOST_BYTES + 1)
        else:
            if not stat.S_ISREG(os.stat(path).st_mode):  # opening a pipe blocks
                raise SourceError("not_regular", path=shown)
            with open(path, "rb") as file:
                data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise SourceError("unreadable", path=shown, reason=reason_of(error)) from error
    except AttributeError:  # there is no standard input
        raise SourceError("unreadable", path=shown, reason="closed") from None
    return data


def _checked(path: str, data: bytes) -> bytes:
    """Return the bytes of a sound UTF-8 text. Raises SourceError."""
    if data.startswith(UTF_16_MARKS):
        raise SourceError("utf_16", path=path)
    if b"\0" in data:
        raise SourceError("binary", path=path)
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SourceError("not_utf_8", path=path, line=line) from None
    begun = 0
    for number, raw in enumerate(split_lines(data.removeprefix(BOM)), start=1):
        content = raw.rstrip(b"\r\n")
        if content == b"<<<<<<<" or content.startswith(b"<<<<<<< "):
            begun = number
        elif begun and (content == b">>>>>>>" or content.startswith(b">>>>>>> ")):
            raise SourceError("conflict", path=path, line=begun)
    return data


def _export(path: str, data: bytes) -> Source | None:
    document = _json(data)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        return None
    if document.get("version") != VERSION:
        raise SourceError("newer", path=path, version=str(document.get("version"))[:20])
    records = document.get("records")
    if not isinstance(records, list):
        return None
    lines = list(map(_line_of, records))
    source = _of_log(path, EXPORT, MemoryLog(lines, [parse_line(line) for line in lines]))
    source.has_entries = True
    return source


def _line_of(value: object) -> bytes:
    try:
        return json.dumps(value).encode("ascii") + b"\n"
    except RecursionError:
        return b"?\n"


def _log(path: str, data: bytes) -> Source | None:
    log = MemoryLog.parse(data)
    lines = sum(bool(line.strip()) for line in log.lines)
    known = sum(entry is not None for entry in log.entries)
    return _of_log(path, LOG, log) if known and 2 * known >= lines else None


def _of_log(path: str, kind: str, log: MemoryLog) -> Source:
    """Return the records that a reader sees, without older versions and replaced originals."""
    source = Source(path, kind)
    places = (at for at, _ in log.all_records() if at not in log.leftovers)
    source.items += [Item(it, at + 1) for at, it in zip(places, log.records, strict=True)]
    source.passed += [
        Passed(at + 1, "not_a_record")
        for at, entry in enumerate(log.entries)
        if entry is None and log.content(at).strip()
    ]
    return source


def _server_memory(path: str, data: bytes, now: str) -> Source | None:
    source, known, lines = Source(path, SERVER_MEMORY), 0, 0
    for number, line in enumerate(split_lines(data), start=1):
        if not line.strip():
            continue
        value, lines = _json(line), lines + 1
        kind = value.get("type") if isinstance(value, dict) else None
        if kind not in ("entity", "relation"):
            source.passed.append(Passed(number, "not_readable"))
            continue
        known += 1
        if kind == "relation":
            source.passed.append(Passed(number, "relation"))
        else:
            _add_entity(value, number, source, now)
    return source if known and 2 * known >= lines else None


def _add_entity(entity: dict[str, Any], line: int, source: Source, now: str) -> None:
    name, texts = entity.get("name"), entity.get("observations")
    if not texts or not isinstance(texts, list) or not isinstance(name, str):
        source.passed.append(Passed(line, "no_observations"))
        return
    topic = topic_of(name)
    for text in texts:
        if not isinstance(text, str) or not text.strip():
            source.passed.append(Passed(line, "no_text"))
        elif _SURROGATE.search(text):
            source.passed.append(Passed(line, "half_character"))
        else:
            source.items.append(Item(_principle(topic, text.strip(), now), line))


def _markdown(path: str, data: bytes, now: str) -> Source:
    text = data.decode("utf-8")
    if MARKER in text:
        raise SourceError("exported_markdown", path=path)
    lessons, passed = read_markdown(text)
    items = [Item(_principle(it.topic, it.text, now), it.line) for it in lessons]
    return Source(path, MARKDOWN, items, passed)


def _principle(topic: str, lesson: str, now: str) -> Record:
    """Make the record of a statement."""
    draft = Draft(topic=normalise_topic(topic), lesson=lesson, type="principle")
    return new_record(draft, now=now)


def _json(data: bytes) -> Any:
    """Return the value of a JSON text, None for any other text."""
    if data.lstrip()[:1] not in (b"{", b"["):
        return None
    try:
        return DECODER.decode(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return None


def _is_json(data: bytes) -> bool:
    if _json(data) is not None:
        return True
    lines = [line for line in split_lines(data) if line.strip()]
    return bool(lines) and all(_json(line) is not None for line in lines)
