"""Makes small records, lines and logs, and changes a log in one line."""

import json
from typing import Any

from core.lessons import changes
from core.lessons.changes import Outcome
from core.lessons.log import MemoryLog
from core.lessons.record import Draft, Record, new_record

NOW = "2026-03-01T09:00:00+00:00"
LATER = "2026-03-02T09:00:00+00:00"
AHEAD = "2030-01-01T00:00:00+00:00"


def a_draft(gap: str = "VAT differs by country", **changed: Any) -> Draft:
    """A log in topic payment; `gap` is its missing context."""
    fields: dict[str, Any] = {
        "topic": "payment",
        "missing_context": gap,
        "lesson": "check the tax table first",
        **changed,
    }
    return Draft(**fields)


def a_principle(lesson: str = "check tax, refunds and timeouts", **changed: Any) -> Draft:
    """A principle in topic payment."""
    return a_draft("", lesson=lesson, type="principle", **changed)


def a_record(gap: str = "VAT differs by country", *, now: str = NOW, **changed: Any) -> Record:
    """The record of `a_draft` as first saved at `now`."""
    return new_record(a_draft(gap, **changed), now=now)


def a_line(record: Record, **meta: Any) -> bytes:
    """The line of a record with further meta keys, as another program may have written it."""
    value = record.as_json()
    value["meta"] = {**value["meta"], **meta}
    return json.dumps(value, ensure_ascii=False).encode("utf-8") + b"\n"


def log_of(*parts: bytes | Record) -> MemoryLog:
    """The log of these records and lines."""
    return MemoryLog.parse(
        b"".join(part.to_line() if isinstance(part, Record) else part for part in parts)
    )


def upsert(log: MemoryLog, *given: Any, **more: Any) -> tuple[MemoryLog, Record, Outcome]:
    """The log afterwards, the saved record, and the rest."""
    outcome = changes.upsert(log, *given, **more)
    return outcome.log, outcome.record, outcome


def delete(log: MemoryLog, *given: Any) -> tuple[MemoryLog, Outcome]:
    """The log afterwards, and what went and stayed."""
    outcome = changes.delete(log, *given)
    return outcome.log, outcome


def bring_back(log: MemoryLog, *given: Any, **more: Any) -> tuple[MemoryLog, list[Record], Outcome]:
    """The log afterwards, the records that came back, and the rest."""
    outcome = changes.bring_back(log, *given, **more)
    return outcome.log, [*outcome.records], outcome
