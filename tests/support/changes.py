"""Changes a log in one line: each returns its results in the order in which tests read them."""

from typing import Any

from core.lessons import changes
from core.lessons.changes import Outcome
from core.lessons.log import MemoryLog
from core.lessons.record import Record


def log_of(*parts: bytes | Record) -> MemoryLog:
    lines = (part.to_line() if isinstance(part, Record) else part for part in parts)
    return MemoryLog.parse(b"".join(lines))


def upsert(log: MemoryLog, *given: Any, **more: Any) -> tuple[MemoryLog, Record, Outcome]:
    """The log afterwards, the saved record, and the rest."""
    outcome = changes.upsert(log, *given, **more)
    return outcome.log, outcome.record, outcome


def delete(log: MemoryLog, *given: Any) -> tuple[MemoryLog, Outcome]:
    """The log afterwards, and the outcome of the deletion."""
    outcome = changes.delete(log, *given)
    return outcome.log, outcome


def bring_back(log: MemoryLog, *given: Any, **more: Any) -> tuple[MemoryLog, list[Record], Outcome]:
    """The log afterwards, the records that came back, and the rest."""
    outcome = changes.bring_back(log, *given, **more)
    return outcome.log, [*outcome.records], outcome
