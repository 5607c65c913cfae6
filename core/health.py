"""What is wrong with a memory log, line by line, and the same log repaired.

Pure: bytes in, findings or bytes out. A repair loses no byte of meaning: a record is changed only
in its id, its encoding and the blanks around it, and every line that leaves the log is handed over
as it was, to be kept elsewhere.
"""

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
    1, () for the file as a whole. fixable: `repair` takes it away.
    """

    kind: str
    severity: Severity
    lines: tuple[int, ...] = ()
    facts: Mapping[str, str | int] = field(default_factory=dict)
    fixable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """A repaired log: its bytes, and the lines that left it, each below a line that says why."""

    data: bytes
    aside: bytes


@dataclass(frozen=True, slots=True)
class _Kept:
    """A line of the repaired log: where it came from, what it holds, and how it is written."""

    number: int
    record: Record
    raw: bytes


def examine(data: bytes, *, now: str, threshold: int = DEFAULT_THRESHOLD) -> list[Finding]:
    """Everything worth knowing about these bytes, in the order of the first line concerned.

    now: ISO 8601, to notice dates that lie ahead. threshold: records above which to compact.
    """
    if data.startswith(UTF_16_MARKS):
        return [Finding(kind="utf_16", severity="error", fixable=_is_utf_16(data))]
    log = MemoryLog.parse(data)
    findings = [*_about_lines(log), *_about_records(log, now), *_about_size(log, threshold)]
    return sorted(findings, key=lambda finding: finding.lines[:1])


def repair(data: bytes) -> Repair:
    """The log as `examine` would like it; repairing twice changes nothing more."""
    aside: list[bytes] = []
    if data.startswith(UTF_16_MARKS) and _is_utf_16(data):
        data = data.decode("utf-16").encode("utf-8")
    log = MemoryLog.parse(data)
    kept = _without_leftovers(_readable(log, aside), aside)
    renamed = [_with_fitting_id(line) for line in kept]
    final = _without_leftovers(renamed, aside)
    return Repair(data=b"".join(line.raw for line in final), aside=b"".join(aside))


def _is_utf_16(data: bytes) -> bool:
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
        "blank": [at for at, line in lines if not line.strip()],
        "unended": [at for at, line in lines[-1:] if not line.endswith(b"\n")],
    }
    for kind, numbers in forms.items():
        if numbers:
            yield Finding(kind=kind, severity="note", lines=tuple(numbers), fixable=True)
    if log.conflict:
        numbers = [at + 1 for at in sorted(log.conflict)]
        yield Finding(kind="conflict", severity="error", lines=tuple(numbers), fixable=True)
    for at, line in lines:
        if entries[at - 1] is None and at - 1 not in log.conflict and line.strip():
            content = line.removeprefix(BOM) if at == 1 else line
            reason, key = flaw_of(content)
            kind = "mendable" if _mended(content) else "unreadable"
            facts: Facts = {"reason": reason, "key": key}
            yield Finding(kind=kind, severity="error", lines=(at,), facts=facts, fixable=True)


def _about_records(log: MemoryLog, now: str) -> Iterator[Finding]:
    seen = {record.id for record in log.records}
    for at in range(len(log.lines)):
        record = log.record_in(at)
        if record and at in log.leftovers:
            kind = "older_version" if record.id in seen else "replaced_original"
            facts: Facts = {"id": record.id}
            yield Finding(kind=kind, severity="note", lines=(at + 1,), facts=facts, fixable=True)
        elif record:
            yield from _about_record(record, log.lines[at], at + 1, now)


def _about_record(record: Record, raw: bytes, number: int, now: str) -> Iterator[Finding]:
    lines, facts = (number,), {"id": record.id}
    ahead = seconds_of(record.updated or record.created) - seconds_of(now) > CLOCK_SKEW_S
    kinds: dict[str, tuple[Severity, bool, bool]] = {
        "id_misfit": ("warning", reidentified(record) != record, True),
        "odd_topic": ("note", _topic_as_written(raw) != record.topic, True),
        "half_character": ("warning", has_surrogate(record), False),
        "odd_date": ("warning", not _dates_readable(record), False),
        "date_ahead": ("warning", ahead, False),
        "odd_source": ("warning", not all(map(is_token, record.source_ids)), False),
    }
    for kind, (severity, found, fixable) in kinds.items():
        if found:
            yield Finding(kind=kind, severity=severity, lines=lines, facts=facts, fixable=fixable)
    for key in _repeated_keys(raw):
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


def _topic_as_written(raw: bytes) -> str:
    return str(json.loads(raw.removeprefix(BOM))["topic"])


def _repeated_keys(raw: bytes) -> list[str]:
    repeated: list[str] = []

    def noted(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        counted = Counter(key for key, _ in pairs)
        repeated.extend(key for key, count in counted.items() if count > 1)
        return dict(pairs)

    json.loads(raw.removeprefix(BOM), object_pairs_hook=noted)
    return repeated


def _readable(log: MemoryLog, aside: list[bytes]) -> list[_Kept]:
    """The lines that hold records, mended where that can be done; the others go aside."""
    kept: list[_Kept] = []
    for number, line in enumerate(log.lines, start=1):
        entry = log.record_in(number - 1)
        content = (line.removeprefix(BOM) if number == 1 else line).rstrip(b"\r\n") + b"\n"
        if entry:
            ambiguous = bool(_repeated_keys(content))
            if ambiguous:  # a rewrite keeps the value that counts, which is the last one
                aside.append(_heading(number, "key_twice") + content)
            rewritten = ambiguous or _topic_as_written(content) != entry.topic
            raw = entry.to_line() if rewritten else content.strip() + b"\n"
            kept.append(_Kept(number, entry, raw))
            continue
        if not content.strip():
            continue
        records = [] if number - 1 in log.conflict else _mended(content)
        why = "conflict" if number - 1 in log.conflict else "mended" if records else "unreadable"
        aside.append(_heading(number, why) + content)
        kept += [_Kept(number, record, record.to_line()) for record in records]
    return kept


def _without_leftovers(kept: list[_Kept], aside: list[bytes]) -> list[_Kept]:
    """What a reader sees; the older versions and the originals of principles go aside."""
    log = MemoryLog([line.raw for line in kept], [line.record for line in kept])
    aside += [_heading(kept[at].number, "leftover") + kept[at].raw for at in sorted(log.leftovers)]
    clean = log.without_leftovers()
    left = [line for at, line in enumerate(kept) if at not in log.leftovers]
    return [
        _Kept(line.number, record, raw)
        for line, record, raw in zip(left, clean.records, clean.lines, strict=True)
    ]


def _with_fitting_id(line: _Kept) -> _Kept:
    record = reidentified(line.record)
    return line if record == line.record else _Kept(line.number, record, record.to_line())


def _mended(content: bytes) -> list[Record]:
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


def _heading(number: int, why: str) -> bytes:
    return f"# line {number}: {why}\n".encode("ascii")
