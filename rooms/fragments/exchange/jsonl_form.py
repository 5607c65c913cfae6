"""Writes the room whole, one JSON object a line, to be imported again."""

from collections.abc import Iterator

from core.exchange.json_text import as_json
from rooms.fragments.exchange.document import MARK, VERSION, Form, Head
from rooms.fragments.exchange.lines import Row, line_of

_BEGINS = f'{{"format": "{MARK}", "version": '


def _pieces(head: Head, rows: Iterator[Row]) -> Iterator[str]:
    facts = {"exported": head.exported, "fragments": head.count, "private": head.private}
    yield f"{_BEGINS}{VERSION}, {as_json(facts)[1:]}\n"
    for row in rows:
        yield as_json(line_of(row)) + "\n"


JSONL = Form((".jsonl", ".ndjson"), _BEGINS, rows=_pieces)
