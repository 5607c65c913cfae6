"""What the commands that show records have in common: filters, the screen, records as data."""

import argparse
import re
from collections.abc import Iterable, Sequence
from datetime import date

from commands.records.words import word
from commands.terminal.console import Opened, positive
from commands.terminal.safe_text import plain, plain_json
from core.lessons.answers.rendering import topic_text
from core.lessons.log import MemoryLog
from core.lessons.record import Record, normalise_topic, seconds_of


def add_filters(parser: argparse.ArgumentParser) -> None:
    """Add the options that narrow down which records a command shows."""
    parser.add_argument(
        "--topic", action="append", metavar="T", help="only this topic; may be given several times"
    )
    parser.add_argument("--type", choices=("log", "principle"), help="only records of this type")
    parser.add_argument(
        "--since",
        type=_day,
        metavar="YYYY-MM-DD",
        help="only what was saved or updated since (UTC)",
    )
    parser.add_argument("--open", action="store_true", help="only records with an open question")
    parser.add_argument("--limit", type=positive, metavar="N", help="no more than N records")
    parser.add_argument("--json", action="store_true", help="print the records as JSON")


def filtered(records: Iterable[Record], arguments: argparse.Namespace) -> list[Record]:
    """Return the records that pass all given filters, in the same order; the limit is no filter."""
    topics = {normalise_topic(topic) for topic in arguments.topic or ()}
    since = seconds_of(arguments.since) if arguments.since else None
    return [
        record
        for record in records
        if (not topics or record.topic in topics)
        and arguments.type in (None, record.type)
        and (since is None or seconds_of(last_of(record)) >= since)
        and (not arguments.open or record.ask_next_time.strip())
    ]


def nothing_lines(opened: Opened, log: MemoryLog, arguments: argparse.Namespace) -> list[str]:
    """Say why no record is shown, and which topics resemble one that is not there."""
    lang = opened.lang
    if not log.count:
        return [word(lang, "empty")]
    lines = [word(lang, "none_fits", count=log.count)]
    for topic in map(normalise_topic, arguments.topic or ()):
        if topic not in log.topics:
            lines.append(unknown_topic(topic, log, opened))
    return lines


def unknown_topic(topic: str, log: MemoryLog, opened: Opened) -> str:
    """Say that there is no such topic, and name those that resemble it."""
    from core.lessons.compaction import similar_to

    near = similar_to(topic, list(log.topics))
    shown = plain(topic_text(topic))
    if not near:
        return word(opened.lang, "no_topic", topic=shown)
    similar = plain(", ".join(map(topic_text, near)))
    return word(opened.lang, "no_topic_but", topic=shown, similar=similar)


def last_of(record: Record) -> str:
    """Return when a record was last saved."""
    return record.updated or record.created


def newest_first(records: Sequence[Record]) -> list[Record]:
    """Sort by last date; within a second the record further down in the file comes first."""
    return sorted(reversed(records), key=lambda record: seconds_of(last_of(record)), reverse=True)


def print_json(opened: Opened, records: Iterable[Record], **facts: object) -> None:
    """Print the records as data for scripts; docs/commands.md describes the keys."""
    project = str(opened.project.root)
    print(plain_json({"project": project, **facts, "records": [*map(as_json, records)]}))


def as_json(record: Record) -> dict[str, object]:
    """Return everything about one record; every key is always there, null for what it lacks."""
    return {
        "id": record.id,
        "token": record.token,
        "type": record.type,
        "topic": record.topic,
        "missing_context": record.missing_context,
        "lesson": record.lesson,
        "ask_next_time": record.ask_next_time or None,
        "created": record.created,
        "updated": record.updated or None,
        "seen": record.seen,
        "compacted_at": record.compacted_at or None,
        "source_count": record.source_count,
        "source_ids": list(record.source_ids),
        "marks": list(record.marks),
        "paths": list(record.paths),
        "when": list(record.when),
    }


def _day(text: str) -> str:
    try:
        if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
            return date.fromisoformat(text).isoformat()
    except ValueError:  # such as the 30th of February
        pass
    raise argparse.ArgumentTypeError("it must be a date such as 2026-03-01")
