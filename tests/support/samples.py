"""Makes small records and lines for the tests."""

import json
from typing import Any

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
    return a_draft("", lesson=lesson, type="principle", **changed)


def a_record(gap: str = "VAT differs by country", *, now: str = NOW, **changed: Any) -> Record:
    """The record of `a_draft` as first saved at `now`."""
    return new_record(a_draft(gap, **changed), now=now)


def a_line(record: Record, **meta: Any) -> bytes:
    """The line of a record with further meta keys, as another program may have written it."""
    value = record.as_json()
    value["meta"] = {**value["meta"], **meta}
    return json.dumps(value, ensure_ascii=False).encode("utf-8") + b"\n"
