"""Says what is wrong with a memory log, line by line, and repairs it.

Pure: the lines or the bytes of a log in, findings or the bytes of the next log out.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal, NamedTuple

from core.config import CONTEXT_DIRECTORY, DEFAULTS, LOG_NAME
from core.lessons.answers import need_of
from core.lessons.log import BOM, UTF_16_MARKS, MemoryLog, begins_like_utf_16, mark_of, utf_16_name
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

FAR_ABOVE = 2  # thresholds
CLOCK_SKEW_S = 24 * 3600

_BETWEEN = re.compile(r"[ \t\r\n,]*")
_AS_UTF_8 = (
    f"python3 -c \"import pathlib; p = pathlib.Path('{CONTEXT_DIRECTORY}', '{LOG_NAME}'); "
    "p.write_bytes(p.read_bytes().decode('{encoding}').encode())\""
)

Severity = Literal["error", "warning", "note"]


# What is wrong.


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that somebody should know about a memory.

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
        return [Finding("utf_16", "error", facts={"command": _AS_UTF_8.format(encoding=encoding)})]
    if begins_like_utf_16(data):
        return [Finding("utf_16_torn", "error")]
    findings = [*_on_lines(log), *_on_pairs(log)]
    hidden = {(record.id, record.gap): hider for record, hider in log.hidden}
    for at, record in log.all_records():
        hider = hidden.get((record.id, record.gap))
        if at not in log.leftovers:
            findings += _on_record(record, log.content(at), at + 1, now)
        else:
            kind = "hidden" if hider else "older_version"
            severity: Severity = "warning" if hider else "note"
            about: Facts = {"id": record.id, "by": hider.id if hider else ""}
            findings.append(Finding(kind, severity, lines=(at + 1,), facts=about, fixable=True))
    if need_of(log.records, log.count, threshold) == "required":
        severity = "warning" if log.count > FAR_ABOVE * threshold else "note"
        facts: Facts = {"count": log.count, "threshold": threshold}
        findings.append(Finding("overdue", severity, facts=facts))
    return sorted(findings, key=lambda finding: finding.lines[:1])


def _on_lines(log: MemoryLog) -> Iterator[Finding]:
    """Yield what editors and git have left, and the lines that hold no record."""
    lines = list(enumerate(log.lines, start=1))
    forms = {
        "bom": [at for at, line in lines[:1] if mark_of(line)],
        "line_ends": [at for at, line in lines if line.endswith(b"\r\n")],
        "blank": [at for at, line in lines if not line.removeprefix(BOM).strip()],
        "unended": [at for at, line in lines[-1:] if not line.endswith(b"\n")],
        "conflict": [at + 1 for at in sorted(log.conflict)],
    }
    for kind, numbers in forms.items():
        if numbers:
            severity: Severity = "error" if kind == "conflict" else "note"
            yield Finding(kind, severity, lines=tuple(numbers), fixable=True)
    for at, entry in enumerate(log.entries):
        content = log.content(at)
        if entry is None and at not in log.conflict and content.strip():
            reason, key = flaw_of(content)
            kind = "mendable" if _mended(content) else "unreadable"
            facts: Facts = {"reason": reason, "key": key}
            yield Finding(kind, "error", lines=(at + 1,), facts=facts, fixable=True)


def _on_pairs(log: MemoryLog) -> Iterator[Finding]:
    """Yield records that are one if their ids fit, and different ones with one id."""
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
        if holder.gap != record.gap and _id_fits(record) and _id_fits(holder):
            yield Finding("shared_id", "warning", lines=(first + 1, at + 1), facts=facts)


def _on_record(record: Record, raw: bytes, number: int, now: str) -> Iterator[Finding]:
    lines, facts = (number,), {"id": record.id}
    topic, repeated = as_written(raw)
    moments = [record.created, record.updated, record.compacted_at]
    has_odd_date = any(seconds_of(it) == float("-inf") for it in moments if it)
    ahead_s = seconds_of(record.updated or record.created) - seconds_of(now)
    if not _id_fits(record):
        yield Finding("id_misfit", "warning", lines=lines, facts=facts, fixable=True)
    if topic != record.topic:
        yield Finding("odd_topic", "note", lines=lines, facts=facts, fixable=True)
    for key in repeated:
        about: Facts = {**facts, "key": key}
        yield Finding("key_twice", "warning", lines=lines, facts=about, fixable=True)
    flaws = {
        "half_character": has_surrogate(record),
        "odd_date": has_odd_date,
        "date_ahead": ahead_s > CLOCK_SKEW_S,
        "odd_source": not all(map(is_token, record.source_ids)),
    }
    for kind, is_there in flaws.items():
        if is_there:
            yield Finding(kind, "warning", lines=lines, facts=facts)
    needed = ("topic", "lesson", "missing_context" if record.type == "log" else "lesson")
    for name, used_bytes in bytes_of(record).items():
        about = {**facts, "field": name}
        if name in needed and not str(getattr(record, name)).strip():
            yield Finding("blank_text", "warning", lines=lines, facts=about)
        if used_bytes > LIMITS_BYTES[name]:
            about |= {"used_bytes": used_bytes, "limit_bytes": LIMITS_BYTES[name]}
            yield Finding("too_long", "warning", lines=lines, facts=about)


def bytes_of(record: Record) -> dict[str, int]:
    """Return the size of each text that has a limit."""
    texts = {name: str(getattr(record, name)) for name in LIMITS_BYTES}
    return {name: len(text.encode("utf-8", "surrogatepass")) for name, text in texts.items()}


def _id_fits(record: Record) -> bool:
    """Return whether the record has the id that its text gives it."""
    return reidentified(record) == record


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
    return ("too_deep", "") if too_deep(raw, value) else _flaw_of_object(value)


def _flaw_of_object(value: dict[str, Any]) -> tuple[str, str]:
    """Return the reason and the key, as `flaw_of`, for the object of a line."""
    good = {"id": "x", "type": "log", "topic": "", "missing_context": "", "lesson": ""}
    for key in (*good, "meta"):
        if key not in value:
            return "missing", key
    meta = value["meta"]
    if not isinstance(meta, dict):
        return "wrong_type", "meta"
    if "created" not in meta:
        return "missing", "meta.created"
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


def _mended(content: bytes) -> list[Record]:
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
        records: list[Record] = []
        at = 0
        while at < len(text):
            try:
                _, end = DECODER.raw_decode(text, at)
            except (ValueError, RecursionError):
                return []
            record = parse_line(text[at:end].encode("utf-8", "surrogatepass"))
            if not record:
                return []
            records.append(record)
            between = _BETWEEN.match(text, end)
            at = between.end() if between else len(text)
        return records
    return []


# Repair.


class Repair(NamedTuple):
    """A repaired log: its bytes, and the lines that left it, each below a line that says why."""

    data: bytes
    aside: bytes


class _Line(NamedTuple):
    """A line of the repaired log. number, original: of the line in the file that it came from."""

    number: int
    original: bytes
    record: Record
    raw: bytes


def repair(data: bytes) -> Repair:
    """Return the log as `examine` would like it; repairing twice changes nothing more.

    Of a record only the id, the encoding and the blanks around it change.
    """
    aside: list[bytes] = []
    if begins_like_utf_16(data):  # what its lines are, nobody can say
        return Repair(data=data, aside=b"")
    lines = _without_leftovers(_readable(MemoryLog.parse(data), aside), aside)
    for at, line in enumerate(lines):
        if not _id_fits(line.record):
            record = reidentified(line.record)
            lines[at] = line._replace(record=record, raw=record.to_line())
    lines = _without_leftovers(lines, aside)
    return Repair(data=b"".join(line.raw for line in lines), aside=b"".join(aside))


def _readable(log: MemoryLog, aside: list[bytes]) -> list[_Line]:
    """Return the lines that hold records, mended where that is possible; the others go aside."""
    lines: list[_Line] = []
    for at, record in enumerate(log.entries):
        original = log.content(at).removesuffix(b"\n") + b"\n"
        content = original.strip(b" \t\r\n") + b"\n"
        if record:
            topic, repeated = as_written(content)
            if repeated:  # a rewrite keeps the value that counts, which is the last one
                aside.append(b"# line %d: key_twice\n" % (at + 1) + original)
            if repeated or topic != record.topic:
                content = record.to_line()
            lines.append(_Line(at + 1, original, record, content))
        elif content.strip():
            is_conflict = at in log.conflict
            records = [] if is_conflict else _mended(content)
            why = b"conflict" if is_conflict else b"mended" if records else b"unreadable"
            aside.append(b"# line %d: %b\n" % (at + 1, why) + original)
            lines += [_Line(at + 1, it.to_line(), it, it.to_line()) for it in records]
    return lines


def _without_leftovers(lines: list[_Line], aside: list[bytes]) -> list[_Line]:
    """Return what a reader sees; the older versions and the originals of principles go aside."""
    while True:
        log = MemoryLog([line.raw for line in lines], [line.record for line in lines])
        for at in sorted(log.leftovers):
            aside.append(b"# line %d: leftover\n" % lines[at].number + lines[at].original)
        clean = log.rewritten()
        left = [line for at, line in enumerate(lines) if at not in log.leftovers]
        lines = [
            line._replace(record=record, raw=raw)
            for line, record, raw in zip(left, clean.entries, clean.lines, strict=True)
            if record
        ]
        if not log.leftovers:  # versions that have become one may hide what neither hid
            return lines
