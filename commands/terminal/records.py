"""Prints a record for a person: one field below the other, safe to print.

A hand may have put a secret into the log: what a person reads has a marker in its place. Only what
is printed is looked through.
"""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, fields

from commands.terminal.safe_text import plain, plain_lines
from core.lessons.draft import clean_record
from core.lessons.record import Record
from core.lessons.record_text import token_text, topic_text, warning
from core.messages import Facts
from core.sanitizer import redact

LABELS = {"missing_context": "missing", "lesson": "lesson", "ask_next_time": "ask"}
INDENT = "  "


@dataclass(slots=True, kw_only=True)
class _Readable(Record):
    """A record without its secrets; its token still names the version that the log has."""

    stored_fingerprint: str

    def fingerprint(self) -> str:
        return self.stored_fingerprint


def readable(record: Record) -> Record:
    """Return a record as a person may read it, without its secrets, under the token it has."""
    if isinstance(record, _Readable):
        return record
    clean, found = clean_record(record)
    if not found:
        return record
    values = {field.name: getattr(clean, field.name) for field in fields(Record)}
    return _Readable(**values, stored_fingerprint=record.fingerprint())


def topic_name(topic: str) -> str:
    """Return a topic as a person may read it, safe to print."""
    return plain(topic_text(redact(topic)[0]))


def named_record(record: Record, *, token: bool = True) -> str:
    """Return one line: the token (or only the id), the type and the topic."""
    shown = readable(record)
    name = token_text(shown) if token else shown.id
    return f"{plain(name)}  {shown.type} [{plain(topic_text(shown.topic))}]"


def replacing(record: Record) -> str:
    """Name a record that replaced others: a principle, or a log whose text was changed."""
    return f"{record.type} {plain(readable(record).token)}"


def text_lines(record: Record) -> list[str]:
    """Return the texts of a record, indented, each under its label."""
    shown = readable(record)
    texts = [(label, getattr(shown, name)) for name, label in LABELS.items()]
    return [line for label, text in texts if text.strip() for line in _labelled(label, text)]


def block(record: Record, *, token: bool = True) -> list[str]:
    """Return a whole record: its name, its texts, and whether they read like an order."""
    shown = readable(record)
    lines = [INDENT + named_record(shown, token=token), *text_lines(shown)]
    return [*lines, INDENT + plain(text)] if (text := warning(shown)) else lines


def counted_kinds(kinds: Iterable[str]) -> Facts:
    """Return the facts `count` and `kinds` of a sentence about redacted secrets."""
    counts = Counter(kinds)
    listed = ", ".join(f"{kind} {count:,}" for kind, count in counts.items())
    return {"count": counts.total(), "kinds": listed}


def joined(tokens: Iterable[str]) -> str:
    """Join tokens for a sentence."""
    return ", ".join(map(plain, tokens))


def text_of(value: object) -> str:
    """Return a value of a record as text, `-` for None."""
    if value is None:
        return "-"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _labelled(label: str, text: str) -> list[str]:
    first, *rest = plain_lines(text.strip("\r\n")) or [""]
    return [f"{INDENT}{label}: {first}", *(INDENT * 2 + line for line in rest)]
