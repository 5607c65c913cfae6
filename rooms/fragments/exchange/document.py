"""Writes the room whole, one JSON object a line, to be imported again."""

from collections.abc import Iterator
from dataclasses import dataclass

from core.exchange.json_text import as_json
from rooms.fragments.exchange.lines import Row, line_of

MARK = "sentinel-memory-fragments"  # in the first line: an export may replace it
VERSION = 1
SUFFIXES = (".jsonl", ".ndjson")
BEGINS = f'{{"format": "{MARK}", "version": '  # every export, also after years


@dataclass(frozen=True, slots=True)
class Head:
    """What a document says of itself. exported: the moment, in ISO 8601.

    count: of its fragments; private: how many of these are private.
    """

    count: int
    private: int
    exported: str


def pieces_of(head: Head, rows: Iterator[Row]) -> Iterator[str]:
    """Yield the lines of a document."""
    facts = {"exported": head.exported, "fragments": head.count, "private": head.private}
    yield f"{BEGINS}{VERSION}, {as_json(facts)[1:]}\n"
    for row in rows:
        yield as_json(line_of(row)) + "\n"
