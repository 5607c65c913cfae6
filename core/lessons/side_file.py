"""Records that left the log, as lines of `memory_log.replaced.jsonl`, the oldest first.

Pure. A line is the redacted record with a key `replaced`: `at` (when it left), `by` (version id of
its successor, if any), `version` (its version id before redaction, if changed).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from core.lessons.draft import clean_record
from core.lessons.log import MemoryLog, split_lines
from core.lessons.record import Record, id_in, parse_line
from core.sanitizer import MARKER, find

KEY = "replaced"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    """A record that left the log. at: ISO 8601. by: version id of its successor, or ""."""

    record: Record
    token: str
    at: str
    by: str = ""

    def to_line(self) -> bytes:
        left = {"at": self.at}
        if self.by and not find(self.by):
            left["by"] = self.by
        if self.token != self.record.token and id_in(self.token) == self.record.id:
            left["version"] = self.token
        return replace(self.record, extra={**self.record.extra, KEY: left}).to_line()


def replaced_between(before: MemoryLog, after: MemoryLog, now: Callable[[], str]) -> list[Replaced]:
    """Return the records whose words the next version of the log lacks, redacted.

    now: asked only where a line changed.
    """
    kept = set(map(id, after.entries))
    gone = [record for record in before.entries if record and id(record) not in kept]
    if not gone:
        return []
    at = now()
    known, gaps = set(map(id, before.entries)), {record.gap for record in gone}
    records = [record for record in after.entries if record]
    there = {_words(record) for record in records if record.gap in gaps}
    followers = {token: record.token for record in records for token in record.source_ids}
    followers |= {record.id: record.token for record in records if id(record) not in known}
    replaced: dict[str, Replaced] = {}
    for record in gone:
        if _words(record) in there:
            continue
        clean, _ = clean_record(record)
        if _words(clean) not in there:
            by = followers.get(record.id) or followers.get(record.token, "")
            replaced[record.token] = Replaced(record=clean, token=record.token, at=at, by=by)
    return list(replaced.values())


def _words(record: Record) -> tuple[object, ...]:
    return (record.type, record.texts, record.paths, record.when, repr(record.extra))


def replaced_in(data: bytes) -> Iterator[Replaced]:
    """Yield the records of the side file, the newest first, each version once.

    A repeated save has left lines twice, a killed writer a torn one.
    """
    tokens: set[str] = set()
    for line in reversed(split_lines(data)):
        record = parse_line(line)
        if not record:
            continue
        extra = dict(record.extra)
        facts: Any = extra.pop(KEY, {})
        texts = facts if isinstance(facts, dict) else {}
        texts = {key: text for key, text in texts.items() if isinstance(text, str)}
        record = replace(record, extra=extra)
        token = texts.get("version", "")
        if id_in(token) != record.id or MARKER.encode() not in line:
            token = record.token
        if token not in tokens:
            tokens.add(token)
            at, by = texts.get("at", ""), texts.get("by", "")
            yield Replaced(record=record, token=token, at=at, by=by)


def cleaned(data: bytes) -> bytes:
    """Return the file with no secret in any record; lines without a record go."""
    clean = [replace(it, record=clean_record(it.record)[0]) for it in replaced_in(data)]
    return b"".join(it.to_line() for it in reversed(clean))
