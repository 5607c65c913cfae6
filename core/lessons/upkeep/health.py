"""Finds what is wrong with a memory log, line by line. Pure: lines in, findings out."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal

from core.config import CONTEXT_DIRECTORY, DEFAULTS, LOG_NAME
from core.lessons.answers import is_required
from core.lessons.encodings import BOM, UTF_16_MARKS, begins_like_utf_16, mark_of, utf_16_name
from core.lessons.log import MemoryLog
from core.lessons.record import (
    DECODER,
    LIMITS_BYTES,
    META_KEYS,
    MOST_LINE_BYTES,
    Record,
    has_surrogate,
    is_token,
    parse_line,
    reidentified,
    seconds_of,
    too_deep,
    well_typed,
)
from core.messages import Facts

Severity = Literal["error", "warning", "note"]

FAR_ABOVE = 2  # thresholds
CLOCK_SKEW_S = 24 * 3600
_OLDER: tuple[str, Severity] = ("older_version", "note")
_HIDDEN: tuple[str, Severity] = ("hidden", "warning")
_BETWEEN = re.compile(r"[ \t\r\n,]*")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that somebody should know about a memory log.

    kind: names the sentence that says it. severity: an `error` keeps records from being read or
    sent back, a `warning` is a flaw that nobody notices, a `note` is harmless. lines: counted from
    1, () for the file as a whole. fixable: a repair takes it away.
    """

    kind: str
    severity: Severity
    _: KW_ONLY
    lines: tuple[int, ...] = ()
    facts: Mapping[str, str | int] = field(default_factory=dict)
    fixable: bool = False


def examine(log: MemoryLog, *, now: str, threshold: int = DEFAULTS.threshold) -> list[Finding]:
    """Return everything that somebody should know about these lines, in their order.

    now: ISO 8601, to notice dates that lie ahead. threshold: records above which to compact.
    """
    data = log.to_bytes()
    if encoding := utf_16_name(data):
        return [Finding("utf_16", "error", facts={"command": _as_utf_8(encoding)})]
    if begins_like_utf_16(data):
        return [Finding("utf_16_torn", "error")]
    findings = [*_about_lines(log), *_about_records(log, now), *_about_size(log, threshold)]
    return sorted(findings, key=lambda finding: finding.lines[:1])


def _as_utf_8(encoding: str) -> str:
    """Return the command that saves the log of the current directory as UTF-8."""
    path = f"pathlib.Path('{CONTEXT_DIRECTORY}', '{LOG_NAME}')"
    code = f"p.write_bytes(p.read_bytes().decode('{encoding}').encode())"
    return f'python3 -c "import pathlib; p = {path}; {code}"'


def _about_lines(log: MemoryLog) -> Iterator[Finding]:
    lines = list(enumerate(log.lines, start=1))
    forms = {
        "bom": [at for at, line in lines[:1] if mark_of(line)],
        "line_ends": [at for at, line in lines if line.endswith(b"\r\n")],
        "blank": [at for at, line in lines if not line.removeprefix(BOM).strip()],
        "unended": [at for at, line in lines[-1:] if not line.endswith(b"\n")],
    }
    for kind, numbers in forms.items():
        if numbers:
            yield Finding(kind, "note", lines=tuple(numbers), fixable=True)
    if log.conflict:
        numbers = [at + 1 for at in sorted(log.conflict)]
        yield Finding("conflict", "error", lines=tuple(numbers), fixable=True)
    for at, entry in enumerate(log.entries):
        content = log.content(at)
        if entry is None and at not in log.conflict and content.strip():
            reason, key = flaw_of(content)
            kind = "mendable" if mended(content) else "unreadable"
            facts: Facts = {"reason": reason, "key": key}
            yield Finding(kind, "error", lines=(at + 1,), facts=facts, fixable=True)


def _about_records(log: MemoryLog, now: str) -> Iterator[Finding]:
    hidden = {(record.id, record.gap): hider for record, hider in log.hidden}
    yield from _about_pairs(log)
    for at, record in log.all_records():
        if at in log.leftovers:
            hider = hidden.get((record.id, record.gap))
            facts: Facts = {"id": record.id, "by": hider.id if hider else ""}
            kind, severity = _HIDDEN if hider else _OLDER
            yield Finding(kind, severity, lines=(at + 1,), facts=facts, fixable=True)
        else:
            yield from _about_record(record, log.content(at), at + 1, now)


def _about_pairs(log: MemoryLog) -> Iterator[Finding]:
    """Yield findings on records that are one if their ids fit, and different ones with one id."""
    gaps: dict[tuple[str, str, str], tuple[int, str]] = {}
    ids: dict[str, tuple[int, Record]] = {}
    for at, record in log.all_records():
        if at in log.leftovers:
            continue
        facts: Facts = {"id": record.id}
        other, id_there = gaps.setdefault(record.gap, (at, record.id))
        if other != at:
            both = (other + 1, at + 1)
            is_version = id_there == record.id
            kind = "unsettled" if is_version else "same_gap"
            yield Finding(kind, "warning", lines=both, facts=facts, fixable=not is_version)
        first, holder = ids.setdefault(record.id, (at, record))
        if holder.gap != record.gap and id_fits(record) and id_fits(holder):
            yield Finding("shared_id", "warning", lines=(first + 1, at + 1), facts=facts)


def id_fits(record: Record) -> bool:
    """Return whether the record has the id that its text gives it."""
    return reidentified(record) == record


def _about_record(record: Record, raw: bytes, number: int, now: str) -> Iterator[Finding]:
    lines, facts = (number,), {"id": record.id}
    topic, repeated = as_written(raw)
    ahead = seconds_of(record.updated or record.created) - seconds_of(now) > CLOCK_SKEW_S
    kinds: dict[str, tuple[Severity, bool, bool]] = {
        "id_misfit": ("warning", not id_fits(record), True),
        "odd_topic": ("note", topic != record.topic, True),
        "half_character": ("warning", has_surrogate(record), False),
        "odd_date": ("warning", not _dates_readable(record), False),
        "date_ahead": ("warning", ahead, False),
        "odd_source": ("warning", not all(map(is_token, record.source_ids)), False),
    }
    for kind, (severity, found, fixable) in kinds.items():
        if found:
            yield Finding(kind, severity, lines=lines, facts=facts, fixable=fixable)
    for key in repeated:
        yield Finding(
            "key_twice", "warning", lines=lines, facts={**facts, "key": key}, fixable=True
        )
    for name, limit_bytes in LIMITS_BYTES.items():
        text = str(getattr(record, name))
        used_bytes = len(text.encode("utf-8", "surrogatepass"))
        about: Facts = {**facts, "field": name}
        if used_bytes > limit_bytes:
            about |= {"used_bytes": used_bytes, "limit_bytes": limit_bytes}
            yield Finding("too_long", "warning", lines=lines, facts=about)
        required = name in ("topic", "lesson") or (name, record.type) == ("missing_context", "log")
        if required and not text.strip():
            yield Finding("blank_text", "warning", lines=lines, facts=about)


def _about_size(log: MemoryLog, threshold: int) -> Iterator[Finding]:
    count = log.count
    if is_required(log.records, threshold):
        severity: Severity = "warning" if count > FAR_ABOVE * threshold else "note"
        facts: Facts = {"count": count, "threshold": threshold}
        yield Finding("overdue", severity, facts=facts)


def _dates_readable(record: Record) -> bool:
    moments = [record.created, record.updated, record.compacted_at]
    return all(seconds_of(moment) > float("-inf") for moment in moments if moment)


def flaw_of(raw: bytes) -> tuple[str, str]:
    """Return why a line is no record: a reason and the key that it is about, ("", "") for a record.

    Reasons: too_long_line, not_utf8, not_json, too_deep, not_object, missing (a key), wrong_type
    (of a key).
    """
    if len(raw) > MOST_LINE_BYTES:
        return "too_long_line", ""
    try:
        value = DECODER.decode(raw.decode("utf-8"))
    except UnicodeDecodeError:
        return "not_utf8", ""
    except RecursionError:
        return "too_deep", ""
    except ValueError:
        return "not_json", ""
    if not isinstance(value, dict):
        return "not_object", ""
    if too_deep(raw, value):
        return "too_deep", ""
    for key in ("id", "type", "topic", "missing_context", "lesson", "meta"):
        if key not in value:
            return "missing", key
    meta = value["meta"] if isinstance(value["meta"], dict) else None
    if meta is not None and "created" not in meta:
        return "missing", "meta.created"
    return _wrong_type(value, meta)


def _wrong_type(value: dict[str, Any], meta: dict[str, Any] | None) -> tuple[str, str]:
    """Return the key with a value that no record can have: without it the rest would be one."""
    if meta is None:
        return "wrong_type", "meta"
    good = {"id": "x", "type": "log", "topic": "", "missing_context": "", "lesson": ""}
    for key in (*good, "ask_next_time"):
        if key in value and not well_typed({**good, key: value[key]}, {"created": ""}):
            return "wrong_type", key
    for key in sorted(META_KEYS & meta.keys()):
        if not well_typed(good, {"created": "", key: meta[key]}):
            return "wrong_type", f"meta.{key}"
    return "", ""


def as_written(raw: bytes) -> tuple[str, list[str]]:
    """Return the topic as it stands in a record's line, and the keys that an object has twice."""
    repeated: list[str] = []

    def noted(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        counted = Counter(key for key, _ in pairs)
        repeated.extend(key for key, count in counted.items() if count > 1)
        return dict(pairs)

    value = json.loads(raw, object_pairs_hook=noted)
    return str(value["topic"]), repeated


def mended(content: bytes) -> list[Record]:
    """Return the records of an unreadable line that only needs other punctuation or encoding.

    Several records on one line, a comma or plus sign of a list or a diff, the mark of another
    encoding, or Korean text that an editor saved in EUC-KR. [] when a part of the line would be
    lost.
    """
    for mark in UTF_16_MARKS:
        content = content.removeprefix(mark)
    for encoding in ("utf-8", "euc-kr") if len(content) <= MOST_LINE_BYTES else ():
        try:
            text = content.decode(encoding).strip(" \t\r\n\ufeff").removeprefix("+")
        except UnicodeDecodeError:
            continue
        records = list(_records_in(text))
        return [] if None in records else [record for record in records if record]
    return []


def _records_in(text: str) -> Iterator[Record | None]:
    """Yield each record of a text in which records follow each other; None for anything else."""
    decoder = json.JSONDecoder()
    at = 0
    while at < len(text):
        try:
            _, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            yield None
            return
        yield parse_line(text[at:end].encode("utf-8", "surrogatepass"))
        between = _BETWEEN.match(text, end)
        at = between.end() if between else len(text)
