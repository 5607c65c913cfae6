"""What the commands that show records have in common: filters, and records as data."""

import argparse
from collections.abc import Iterable, Sequence

from commands.terminal.ask import (
    add_json,
    add_topics,
    explain,
    moment,
    positive,
)
from commands.terminal.records import readable, topic_name
from commands.terminal.safe_text import plain_json
from core.guard.injection import shown_marks
from core.lessons.log import MemoryLog
from core.lessons.record import Record, normalise_topic, seconds_of
from core.messages import say
from rooms.room import Opened


def add_filters(parser: argparse.ArgumentParser) -> None:
    """Add the options that narrow down which records a command shows."""
    add_topics(parser)
    parser.add_argument("--type", choices=("log", "principle"), help=explain("type"))
    parser.add_argument("--since", type=moment, metavar="WHEN", help=explain("since"))
    parser.add_argument("--questions", action="store_true", help=explain("questions"))
    parser.add_argument("--limit", type=positive, metavar="N", help=explain("limit"))
    add_json(parser)


def filtered(log: MemoryLog, arguments: argparse.Namespace) -> list[Record]:
    """Return the records that pass all given filters, in the same order; the limit is no filter."""
    topics = {normalise_topic(topic) for topic in arguments.topic or ()}
    since = arguments.since
    return [
        record
        for record in log.records
        if (not topics or record.topic in topics)
        and arguments.type in (None, record.type)
        and (since is None or seconds_of(last_of(record)) >= since)
        and (not arguments.questions or record.ask_next_time.strip())
    ]


def nothing_lines(opened: Opened, log: MemoryLog, arguments: argparse.Namespace) -> list[str]:
    """Say why no record is shown, and which topics resemble one that is not there."""
    if not log.count:
        return [say("records.empty")]
    lines = [say("records.none_fits", count=log.count)]
    for topic in map(normalise_topic, arguments.topic or ()):
        if topic not in log.topics:
            lines.append(unknown_topic(topic, log, opened))
    return lines


def unknown_topic(topic: str, log: MemoryLog, opened: Opened) -> str:
    """Say that there is no such topic, and name those that resemble it."""
    from core.text.wording import similar_to

    near = similar_to(topic, list(log.topics))
    shown = topic_name(topic)
    if not near:
        return say("records.no_topic", topic=shown)
    similar = ", ".join(map(topic_name, near))
    return say("records.no_topic_but", topic=shown, similar=similar)


def last_of(record: Record) -> str:
    """Return when a record was last saved."""
    return record.updated or record.created


def newest_first(records: Sequence[Record]) -> list[Record]:
    """Sort by last date; within a second the record further down in the file comes first."""
    return sorted(reversed(records), key=lambda record: seconds_of(last_of(record)), reverse=True)


def print_json(opened: Opened, records: Iterable[Record], **facts: object) -> None:
    """Print the records as data for scripts."""
    print(plain_json(as_data(opened, records, **facts)))


def as_data(opened: Opened, records: Iterable[Record], **facts: object) -> dict[str, object]:
    """Return the records as data for scripts; docs/commands.md describes the keys."""
    project = str(opened.project.root)
    return {"project": project, **facts, "records": [*map(as_json, records)]}


def as_json(record: Record) -> dict[str, object]:
    """Return everything about one record; every key is always there, null for what it lacks."""
    record = readable(record)
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
        "marks": list(shown_marks(record.marks, record.texts)),
        "paths": list(record.paths),
        "when": list(record.when),
    }
