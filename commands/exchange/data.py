"""The memory as one JSON document that `cli.py import` takes back without loss."""

from collections.abc import Sequence

from commands.terminal.safe_text import plain_json
from core.lessons.record import Record
from core.messages import Language

FORMAT, VERSION = "sentinel-memory-export", 1


def as_json(records: Sequence[Record], project: str, lang: Language, *, now: str) -> str:
    r"""The records as they are stored; characters that nobody would see stand as `\u` escapes.

    lang: has no say, since data and field names are never translated.
    """
    document = {
        "format": FORMAT,
        "version": VERSION,
        "project": project,
        "exported": now,
        "records": [record.as_json() for record in records],
    }
    return plain_json(document) + "\n"
