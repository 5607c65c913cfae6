"""Tells what a document says of a record beside its lesson: other texts, dates, counts."""

from core.lessons.record import Record
from core.lessons.record_text import day_of, token_text
from core.messages import say


def labelled(record: Record) -> list[tuple[str, str]]:
    """Return what was missing and what to ask, unless blank, each with its label."""
    texts = {"missing": record.missing_context, "ask": record.ask_next_time}
    return [(say(f"documents.{label}"), text) for label, text in texts.items() if text.strip()]


def facts(record: Record) -> list[str]:
    """Return when a record was saved, how often its gap was seen, and its token.

    A principle that counts no originals was written or imported, not compacted.
    """
    if record.type == "principle" and record.source_count:
        parts = [say("documents.compacted", date=day_of(record.compacted_at or record.created))]
        parts.append(say("answers.merged", count=record.source_count))
    else:
        parts = [say("documents.saved", date=day_of(record.created))]
    if record.seen > 1:
        last = day_of(record.updated or record.created)
        parts.append(say("answers.seen", seen=record.seen, date=last))
    return [*parts, token_text(record)]
