"""Puts a memory log right: finds its flaws, repairs it, takes its secrets out.

Pure: lines or bytes of a log in, findings or bytes of the next log out.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal, NamedTuple

from core.config import CONTEXT_DIRECTORY, DEFAULTS, LOG_NAME
from core.lessons.answers import need_of
from core.lessons.changes import join_by_gap, renew_record
from core.lessons.draft import redact_fields
from core.lessons.log import BOM, UTF_16_BOMS, MemoryLog, bom_of, obstacle_in, utf_16_name
from core.lessons.record import (
    DECODER,
    LIMITS_BYTES,
    MOST_LINE_BYTES,
    Record,
    find_wrong_key,
    has_surrogate,
    is_too_deep,
    is_version_id,
    parse_line,
    too_long_fields_in,
    with_own_id,
)
from core.messages import Facts
from core.sanitizer import Secret, find_secrets, merge_secrets, redact, replace_secrets
from core.text.plain import seconds_of

OVERDUE_FACTOR = 2  # thresholds
CLOCK_SKEW_S = 24 * 3600
MOST_LOOKED_BYTES = 4_194_304  # of one line; more takes longer than anybody waits

_SEPARATORS = re.compile(r"[ \t\r\n,]*")
_ESCAPE = re.compile(r'\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])')
_AS_UTF_8 = (
    f"python3 -c \"import pathlib; p = pathlib.Path('{CONTEXT_DIRECTORY}', '{LOG_NAME}'); "
    "p.write_bytes(p.read_bytes().decode('{encoding}').encode())\""
)

# An `error` keeps records from being read or sent back, a `warning` is a flaw that nobody notices,
# a `note` is harmless, `ok` is good news.
Severity = Literal["error", "warning", "note", "ok"]
_WARNING: Severity = "warning"
_NOTE: Severity = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that somebody should know about a memory; `kind` names its sentence."""

    kind: str
    severity: Severity
    _: KW_ONLY
    lines: tuple[int, ...] = ()  # from 1; () for the whole
    facts: Mapping[str, str | int] = field(default_factory=dict)
    fixable: bool = False  # by a repair
    # Mends the flaw, maybe others with it, and returns further facts.
    fix: Callable[[], Mapping[str, str | int] | None] | None = field(
        default=None, compare=False, repr=False
    )


def examine(log: MemoryLog, *, now: str, threshold: int = DEFAULTS.threshold) -> list[Finding]:
    """Return the findings in the order of lines.

    now: ISO 8601, to notice future dates. threshold: records above which to compact.
    """
    data = log.to_bytes()
    if encoding := utf_16_name(data):
        return [Finding("utf_16", "error", facts={"command": _AS_UTF_8.format(encoding=encoding)})]
    if obstacle := obstacle_in(data):
        return [Finding("pointer" if obstacle == "log_filtered" else "utf_16_torn", "error")]
    pairs, findings = list[Finding](), list[Finding]()
    hiders = {(record.id, record.gap): hider for record, hider in log.hidden_pairs}
    gaps: dict[tuple[str, str, str], tuple[int, str]] = {}
    ids: dict[str, tuple[int, Record]] = {}
    for at, record in log.all_records():
        lines, facts = (at + 1,), Facts(id=record.id)
        if at in log.leftover_lines:
            hider = hiders.get((record.id, record.gap))
            facts["by"] = hider.id if hider else ""
            kind, severity = ("hidden", _WARNING) if hider else ("older_version", _NOTE)
            findings.append(Finding(kind, severity, lines=lines, facts=facts, fixable=True))
            continue
        findings += _find_record_flaws(record, log.line_content(at), at + 1, now)
        other, id_there = gaps.setdefault(record.gap, (at, record.id))
        if other != at:
            is_version = id_there == record.id
            kind, pair = "unsettled" if is_version else "same_gap", (other + 1, at + 1)
            pairs.append(Finding(kind, _WARNING, lines=pair, facts=facts, fixable=not is_version))
        first, owner = ids.setdefault(record.id, (at, record))
        if owner.gap != record.gap and (with_own_id(owner), with_own_id(record)) == (owner, record):
            pairs.append(Finding("shared_id", _WARNING, lines=(first + 1, at + 1), facts=facts))
    if need_of(log.records, log.count, threshold) == "required":
        severity = _WARNING if log.count > OVERDUE_FACTOR * threshold else _NOTE
        facts = Facts(count=log.count, threshold=threshold)
        findings.append(Finding("overdue", severity, facts=facts))
    all_findings = [*_find_line_flaws(log), *pairs, *findings]
    return sorted(all_findings, key=lambda finding: finding.lines[:1])


def _find_line_flaws(log: MemoryLog) -> Iterator[Finding]:
    lines = list(enumerate(log.lines, start=1))
    forms = {
        "bom": [at for at, line in lines if (bom_of(line) if at == 1 else line.startswith(BOM))],
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
        content = log.line_content(at)
        if entry is None and at not in log.conflict and content.strip():
            reason, key = flaw_of(content)
            kind = "mendable" if _mend_line(content) else "unreadable"
            facts: Facts = {"reason": reason, "key": key}
            yield Finding(kind, "error", lines=(at + 1,), facts=facts, fixable=True)


def _find_record_flaws(record: Record, raw: bytes, number: int, now: str) -> Iterator[Finding]:
    lines, facts = (number,), {"id": record.id}
    topic, repeated = read_raw(raw)
    if with_own_id(record) != record:
        yield Finding("id_misfit", "warning", lines=lines, facts=facts, fixable=True)
    if topic != record.topic:
        yield Finding("odd_topic", "note", lines=lines, facts=facts, fixable=True)
    for key in repeated:
        yield Finding("key_twice", "warning", lines=lines, facts=facts | {"key": key}, fixable=True)
    flaws = {
        "half_character": has_surrogate(record),
        "odd_date": any(seconds_of(date) == float("-inf") for date in record.moments if date),
        "date_ahead": seconds_of(record.updated or record.created) - seconds_of(now) > CLOCK_SKEW_S,
        "odd_source": not all(map(is_version_id, record.source_ids)),
    }
    for kind, is_there in flaws.items():
        if is_there:
            yield Finding(kind, "warning", lines=lines, facts=facts)
    for name in ("topic", "missing_context", "lesson"):
        is_needed = name != "missing_context" or record.type == "log"
        if is_needed and not str(getattr(record, name)).strip():
            yield Finding("blank_text", "warning", lines=lines, facts={**facts, "field": name})
    for name, used_bytes in too_long_fields_in(record).items():
        sizes = {"used_bytes": used_bytes, "limit_bytes": LIMITS_BYTES[name]}
        yield Finding("too_long", "warning", lines=lines, facts={**facts, "field": name, **sizes})


def flaw_of(raw: bytes) -> tuple[str, str]:
    """Return why a line is no record, and the key at fault; ("", "") for a record."""
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
    if is_too_deep(raw, value):
        return "too_deep", ""
    if not (key := find_wrong_key(value)):
        return "", ""
    holder = value["meta"] if key.startswith("meta.") else value
    return ("wrong_type" if key.removeprefix("meta.") in holder else "missing"), key


def read_raw(raw: bytes) -> tuple[str, list[str]]:
    """Return the topic in a record's line, and keys that an object has twice."""
    repeated: list[str] = []

    def note_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        key_counts = Counter(key for key, _ in pairs)
        repeated.extend(key for key, count in key_counts.items() if count > 1)
        return dict(pairs)

    return str(json.loads(raw, object_pairs_hook=note_repeats)["topic"]), repeated


def _mend_line(content: bytes) -> list[Record]:
    """Return the records of a line that only needs other punctuation or encoding.

    Several records, a comma or plus sign, a mark, Korean in EUC-KR; [] where a part would be lost.
    """
    for mark in UTF_16_BOMS:
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
            separator = _SEPARATORS.match(text, end)
            at = separator.end() if separator else len(text)
        return records
    return []


class Repair(NamedTuple):
    """A repaired log, and the lines that left it, each below a line that says why."""

    data: bytes
    aside: bytes


class _Line(NamedTuple):
    number: int  # this and `original`: of the line in the file that it came from
    original: bytes
    record: Record
    raw: bytes


def repair(data: bytes) -> Repair:
    """Return the log with ids, encoding and blanks put right; a second repair changes nothing."""
    if obstacle_in(data):  # nobody knows its lines
        return Repair(data=data, aside=b"")
    log, aside, lines = MemoryLog.parse(data), list[bytes](), list[_Line]()
    for at, record in enumerate(log.entries):
        original = log.line_content(at).removesuffix(b"\n") + b"\n"
        content = original.strip(b" \t\r\n") + b"\n"
        reason = b""
        if record:
            topic, repeated = read_raw(content)
            if repeated:  # a rewrite keeps the value that counts, which is the last one
                reason = b"key_twice"
            if repeated or topic != record.topic:
                content = record.to_line()
            lines.append(_Line(at + 1, original, record, content))
        elif at in log.conflict:
            reason = b"conflict"
        elif content.strip():
            records = _mend_line(content)
            reason = b"mended" if records else b"unreadable"
            lines += [_Line(at + 1, item.to_line(), item, item.to_line()) for item in records]
        if reason:
            aside.append(b"# line %d: %b\n%b" % (at + 1, reason, original))
    lines = _without_leftovers(lines, aside)
    for at, line in enumerate(lines):
        record = with_own_id(line.record)
        if record != line.record:
            lines[at] = line._replace(record=record, raw=record.to_line())
    lines = _without_leftovers(lines, aside)
    return Repair(data=b"".join(line.raw for line in lines), aside=b"".join(aside))


def _without_leftovers(lines: list[_Line], aside: list[bytes]) -> list[_Line]:
    """Older versions and originals of principles go aside."""
    while True:
        log = MemoryLog([line.raw for line in lines], [line.record for line in lines])
        for at in sorted(log.leftover_lines):
            aside.append(b"# line %d: leftover\n%b" % (lines[at].number, lines[at].original))
        next_log = log.rewrite()
        kept_lines = [line for at, line in enumerate(lines) if at not in log.leftover_lines]
        lines = [
            line._replace(record=record, raw=raw)
            for line, record, raw in zip(kept_lines, next_log.entries, next_log.lines, strict=True)
            if record
        ]
        if not log.leftover_lines:  # versions that have become one may hide what neither hid
            return lines


class Spot(NamedTuple):
    """One secret: its line (from 0), the field of a record or "", and its kind."""

    line: int
    field: str
    kind: str


class CheckedLines(NamedTuple):
    """A record, or neighbouring lines without one, and their form without secrets."""

    first: int  # line, from 0
    length: int  # in lines
    record: Record | None
    spots: tuple[Spot, ...] = ()
    clean_copy: Record | None = None  # keeps id and versions
    raw: bytes = b""  # of lines without a record

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(spot.kind for spot in self.spots)


def check_lines(log: MemoryLog) -> Iterator[CheckedLines]:
    """Yield every line of a log with its secrets, neighbours without a record together.

    Fields are read as text, lest an escape of JSON hide a secret or a marker tear one.
    """
    at = 0
    while at < len(log.lines):
        end = at + 1
        record, content = log.entries[at], log.line_content(at)
        if record:
            clean_copy, secrets = redact_fields(record)
            if read_raw(content)[1]:  # a key stands there twice, and only one value is read
                kinds = redact(content.decode("utf-8"))[1]
                secrets = secrets or [("whole_line", kind) for kind in kinds]
            spots = tuple(Spot(at, name, kind) for name, kind in secrets)
            yield CheckedLines(at, 1, record, spots, clean_copy)
        elif len(content) > MOST_LINE_BYTES:  # the rest of a line without an end stays as it is
            part = _find_in_text(content[:MOST_LOOKED_BYTES], at, 1)
            yield part._replace(raw=part.raw + content[MOST_LOOKED_BYTES:])
        else:
            while end < len(log.lines) and not log.entries[end]:
                if len(log.lines[end]) > MOST_LINE_BYTES:
                    break
                end += 1
            yield _find_in_text(b"".join(map(log.line_content, range(at, end))), at, end - at)
        at = end


def _find_in_text(data: bytes, at: int, count: int) -> CheckedLines:
    r"""Check lines without a record; a secret behind an escape such as `\n` is found, too."""
    text = data.decode("utf-8", "surrogateescape")
    secrets = find_secrets(text)
    if "\\" in text:
        # The same text with characters for its escapes, and where each stands, the end included.
        parts, places, end = list[str](), list[int](), 0
        for escape in _ESCAPE.finditer(text):
            parts += [text[end : escape.start()], json.loads(f'"{escape[0]}"')]
            places += range(end, escape.start() + 1)
            end = escape.end()
        places += range(end, len(text) + 1)
        hidden = find_secrets("".join([*parts, text[end:]]))
        real_secrets = [Secret(places[start], places[stop], kind) for start, stop, kind in hidden]
        secrets = merge_secrets([*secrets, *real_secrets])
    if not secrets:
        return CheckedLines(at, count, None, raw=data)
    spots = tuple(Spot(at + text.count("\n", 0, start), "", kind) for start, _, kind in secrets)
    raw = replace_secrets(text, secrets).encode("utf-8", "surrogateescape")
    if data.endswith(b"\n") and not raw.endswith(b"\n"):
        raw += b"\n"
    return CheckedLines(at, count, None, spots, raw=raw)


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactedLines:
    """A line with secrets, or several that are one record now."""

    lines: tuple[int, ...]  # from 1, in the old file
    before: tuple[Record, ...]
    after: Record | None = None  # for a line without a record and a leftover
    kinds: tuple[str, ...]
    too_long_fields: tuple[str, ...] = ()  # fields above their limit now


class RedactedLog(NamedTuple):
    data: bytes
    changes: tuple[RedactedLines, ...] = ()  # () where there was nothing to redact


def redact_log(data: bytes, *, now: str) -> RedactedLog:
    """Return the log without secrets: other lines keep their bytes, leftovers go.

    A record changes texts, id and `updated` (now, ISO 8601); no merge brings the old one back.
    """
    log = MemoryLog.parse(data)
    cuts, base = sorted(log.leftover_lines), log.rewrite()
    leftovers = MemoryLog([log.line_content(at) for at in cuts], [log.entries[at] for at in cuts])
    changes = [
        RedactedLines(lines=(cuts[part.first] + 1,), before=(part.record,), kinds=part.kinds)
        for part in check_lines(leftovers)
        if part.record and part.spots
    ]
    parts = [part for part in check_lines(base) if part.spots]
    if not changes and not parts:
        return RedactedLog(data=data)
    numbers = [at + 1 for at in range(len(log.lines)) if at not in log.leftover_lines]
    lines, dropped_lines = list(base.lines), set[int]()
    before, kinds = dict(base.all_records()), dict[int, tuple[str, ...]]()
    after = dict(before)
    for part in parts:
        if part.clean_copy and part.record:
            # A version id that holds a secret itself is not listed.
            version_ids = [name for name in part.record.version_ids() if not find_secrets(name)]
            after[part.first] = renew_record(part.record, part.clean_copy, now, version_ids)
            kinds[part.first] = part.kinds
        else:
            bom = bom_of(lines[0]) if part.first == 0 else b""
            lines[part.first] = bom + part.raw
            dropped_lines.update(range(part.first + 1, part.first + part.length))
            places = tuple(dict.fromkeys(numbers[spot.line] for spot in part.spots))
            changes.append(RedactedLines(lines=places, before=(), kinds=part.kinds))
    placed_records = dict[int, list[Record]]()
    for versions, record in join_by_gap(before, after, now):
        members = sorted(versions)
        placed_records[versions[-1]] = [record]
        dropped_lines.update(members)
        changes.append(
            RedactedLines(
                lines=tuple(numbers[at] for at in members),
                before=tuple(before[at] for at in members),
                after=record,
                kinds=tuple(kind for at in members for kind in kinds.get(at, ())),
                too_long_fields=tuple(too_long_fields_in(record)),
            )
        )
    next_log = MemoryLog(lines, base.entries).rewrite(dropped_lines, placed_records)
    changes.sort(key=lambda change: change.lines)
    return RedactedLog(data=next_log.to_bytes(), changes=tuple(changes))
