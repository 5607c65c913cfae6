"""Writes the memory as one document: Markdown for people, or JSON for `cli.py import`."""

from collections.abc import Iterable, Sequence

from commands.documents.facts import facts, labelled
from commands.terminal.safe_text import plain_json
from core.lessons.record import Record
from core.lessons.record_text import by_topic, day_of, warning
from core.messages import say
from core.text.plain import as_code, escaped_lines, heading, inline, listed, one_line

FORMAT, VERSION = "sentinel-memory-export", 1

# Tells an import that this document lacks parts of the records.
MARKER = "<!-- sentinel-memory export: to import the records again, use --format json -->"


def markdown(records: Sequence[Record], project: str, *, now: str) -> str:
    """Return a heading for each type and topic and an item for each record, principles first."""
    lines = [f"# {heading(say('export.title', project=project))}", ""]
    lines.append(_introduction(records, now) if records else say("export.empty"))
    for kind in ("principle", "log"):
        members = [record for record in records if record.type == kind]
        lines += ["", f"## {say(f'export.{kind}')}"] if members else []
        for topic, its_records in by_topic(members).items():
            lines += ["", f"### {heading(topic)}", ""]
            for record in its_records:
                lines += _item(record)
    return "\n".join([*lines, "", MARKER]) + "\n"


def as_json(records: Sequence[Record], project: str, *, now: str) -> str:
    r"""Return the records as they are stored; invisible characters become `\u` escapes."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "project": project,
        "exported": now,
        "records": [record.as_json() for record in records],
    }
    return plain_json(document) + "\n"


def lessons(records: Iterable[Record]) -> list[str]:
    """Return items for a model: the lesson, the question, files and triggers of each record."""
    lines: list[str] = []
    for record in records:
        lines += listed("- ", escaped_lines(record.lesson))
        if record.ask_next_time.strip():
            label = say("documents.ask")
            lines += listed(f"  - {label}: ", escaped_lines(record.ask_next_time))
        lines += _anchors(record)
    return lines


def _introduction(records: Sequence[Record], now: str) -> str:
    """Say how many records of each type there are, and the date."""
    principles = sum(record.type == "principle" for record in records)
    counts = {"principles": principles, "logs": len(records) - principles}
    return say("export.intro", date=day_of(now), **counts)


def _item(record: Record) -> list[str]:
    lines = listed("- ", escaped_lines(record.lesson))
    if notice := warning(record):
        lines.append(f"  - **{inline(one_line(notice))}**")
    for label, text in labelled(record):
        lines += listed(f"  - {label}: ", escaped_lines(text))
    lines += _anchors(record)
    details = "; ".join(inline(one_line(fact)) for fact in facts(record))
    return [*lines, f"  - {details}"]


def _anchors(record: Record) -> list[str]:
    """Return a line for the files of a record, and one for its triggers, where it has any."""
    given = {"paths": record.paths, "when": record.when}
    return [
        f"  - {say(f'documents.{name}')}: {', '.join(as_code(one_line(it)) for it in texts)}"
        for name, texts in given.items()
        if texts
    ]
