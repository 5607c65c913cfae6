"""What is wrong with a memory log, line by line. Pure: bytes in, findings out."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from core.flaws import flaw_of
from core.lines import BOM
from core.memory_log import MemoryLog
from core.messages import Facts
from core.record import (
    LIMITS_BYTES,
    Record,
    has_surrogate,
    is_token,
    parse_line,
    reidentified,
    seconds_of,
)
from core.settings import DEFAULT_THRESHOLD

Severity = Literal["error", "warning", "note"]

FAR_ABOVE = 2  # thresholds
CLOCK_SKEW_S = 24 * 3600
_BETWEEN = re.compile(r"[ \t\r\n,]*")
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that somebody should know about a memory log.

    kind names the sentence that says it. severity: an `error` keeps records from being read or
    sent back, a `warning` is a flaw that nobody notices, a `note` is harmless. lines: counted from
    1, () for the file as a whole. fixable: a repair takes it away.
    """

    kind: str
    severity: Severity
    lines: tuple[int, ...] = ()
    facts: Mapping[str, str | int] = field(default_factory=dict)
    fixable: bool = False


def examine(data: bytes, *, now: str, threshold: int = DEFAULT_THRESHOLD) -> list[Finding]:
    """Everything worth knowing about these bytes, in the order of the first line concerned.

    now: ISO 8601, to notice dates that lie ahead. threshold: records above which to compact.
    """
    if data.startswith(UTF_16_MARKS):
        whole = is_utf_16(data)
        return [Finding(kind="utf_16" if whole else "utf_16_torn", severity="error", fixable=whole)]
    log = MemoryLog.parse(data)
    findings = [*_about_lines(log), *_about_records(log, now), *_about_size(log, threshold)]
    return sorted(findings, key=lambda finding: finding.lines[:1])


def is_utf_16(data: bytes) -> bool:
    try:
        data.decode("utf-16")
    except UnicodeDecodeError:
        return False
    return True


def _about_lines(log: MemoryLog) -> Iterator[Finding]:
    lines = list(enumerate(log.lines, start=1))
    entries = log.entries
    if log.lines and log.lines[0].startswith(BOM):
        yield Finding(kind="bom", severity="note", lines=(1,), fixable=True)
    forms = {
        "line_ends": [at for at, line in lines if line.endswith(b"\r\n")],
        "blank": [at for at, line in lines if not line.removeprefix(BOM).strip()],
        "unended": [at for at, line in lines[-1:] if not line.endswith(b"\n")],
    }
    for kind, numbers in forms.items():
        if numbers:
            yield Finding(kind=kind, severity="note", lines=tuple(numbers), fixable=True)
    if log.conflict:
        numbers = [at + 1 for at in sorted(log.conflict)]
        yield Finding(kind="conflict", severity="error", lines=tuple(numbers), fixable=True)
    for at, line in lines:
        content = line.removeprefix(BOM) if at == 1 else line
        if entries[at - 1] is None and at - 1 not in log.conflict and content.strip():
            reason, key = flaw_of(content)
            kind = "mendable" if mended(content) else "unreadable"
            facts: Facts = {"reason": reason, "key": key}
            yield Finding(kind=kind, severity="error", lines=(at,), facts=facts, fixable=True)


def _about_records(log: MemoryLog, now: str) -> Iterator[Finding]:
    seen = {record.id for record in log.records}
    yield from _about_pairs(log)
    for at in range(len(log.lines)):
        record = log.record_in(at)
        if record and at in log.leftovers:
            kind = "older_version" if record.id in seen else "replaced_original"
            facts: Facts = {"id": record.id}
            yield Finding(kind=kind, severity="note", lines=(at + 1,), facts=facts, fixable=True)
        elif record:
            yield from _about_record(record, log.lines[at], at + 1, now)


def _about_pairs(log: MemoryLog) -> Iterator[Finding]:
    """Records that are one when their ids fit, and different ones that have one id."""
    gaps: dict[tuple[str, str, str], int] = {}
    ids: dict[str, int] = {}
    for at in range(len(log.lines)):
        record = log.record_in(at)
        if record is None or at in log.leftovers:
            continue
        facts: Facts = {"id": record.id}
        other = gaps.setdefault(record.gap, at)
        if other != at:
            both = (other + 1, at + 1)
            yield Finding(
                kind="same_gap", severity="warning", lines=both, facts=facts, fixable=True
            )
        first = ids.setdefault(record.id, at)
        if first != at and all(map(_id_fits, (record, log.record_in(first)))):
            both = (first + 1, at + 1)
            yield Finding(kind="shared_id", severity="warning", lines=both, facts=facts)


def _id_fits(record: Record | None) -> bool:
    return record is not None and reidentified(record) == record


def _about_record(record: Record, raw: bytes, number: int, now: str) -> Iterator[Finding]:
    lines, facts = (number,), {"id": record.id}
    ahead = seconds_of(record.updated or record.created) - seconds_of(now) > CLOCK_SKEW_S
    kinds: dict[str, tuple[Severity, bool, bool]] = {
        "id_misfit": ("warning", reidentified(record) != record, True),
        "odd_topic": ("note", topic_as_written(raw) != record.topic, True),
        "half_character": ("warning", has_surrogate(record), False),
        "odd_date": ("warning", not _dates_readable(record), False),
        "date_ahead": ("warning", ahead, False),
        "odd_source": ("warning", not all(map(is_token, record.source_ids)), False),
    }
    for kind, (severity, found, fixable) in kinds.items():
        if found:
            yield Finding(kind=kind, severity=severity, lines=lines, facts=facts, fixable=fixable)
    for key in repeated_keys(raw):
        told: Facts = {"id": record.id, "key": key}
        yield Finding(kind="key_twice", severity="warning", lines=lines, facts=told, fixable=True)
    for name, limit_bytes in LIMITS_BYTES.items():
        text = str(getattr(record, name))
        used_bytes = len(text.encode("utf-8", "surrogatepass"))
        told = {"id": record.id, "field": name}
        if used_bytes > limit_bytes:
            told |= {"used_bytes": used_bytes, "limit_bytes": limit_bytes}
            yield Finding(kind="too_long", severity="warning", lines=lines, facts=told)
        required = name in ("topic", "lesson") or (name, record.type) == ("missing_context", "log")
        if required and not text.strip():
            yield Finding(kind="blank_text", severity="warning", lines=lines, facts=told)


def _about_size(log: MemoryLog, threshold: int) -> Iterator[Finding]:
    count = len(log.records)
    if count > threshold:
        severity: Severity = "warning" if count > FAR_ABOVE * threshold else "note"
        facts: Facts = {"count": count, "threshold": threshold}
        yield Finding(kind="overdue", severity=severity, facts=facts)


def _dates_readable(record: Record) -> bool:
    moments = [record.created, record.updated, record.compacted_at]
    return all(seconds_of(moment) > float("-inf") for moment in moments if moment)


def topic_as_written(raw: bytes) -> str:
    return str(json.loads(raw.removeprefix(BOM))["topic"])


def repeated_keys(raw: bytes) -> list[str]:
    repeated: list[str] = []

    def noted(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        counted = Counter(key for key, _ in pairs)
        repeated.extend(key for key, count in counted.items() if count > 1)
        return dict(pairs)

    json.loads(raw.removeprefix(BOM), object_pairs_hook=noted)
    return repeated


def mended(content: bytes) -> list[Record]:
    """The records of an unreadable line that only needs other punctuation or another encoding.

    Several records on one line, a comma or plus sign of a list or a diff, or Korean text that an
    editor saved in EUC-KR. [] when a part of the line would be lost.
    """
    for encoding in ("utf-8", "euc-kr"):
        try:
            text = content.decode(encoding).strip(" \t\r\n\ufeff").removeprefix("+")
        except UnicodeDecodeError:
            continue
        records = list(_records_in(text))
        return [] if None in records else [record for record in records if record]
    return []


def _records_in(text: str) -> Iterator[Record | None]:
    """Each record of a text in which records follow each other; None for anything else."""
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
