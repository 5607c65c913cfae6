"""Prints a record and its changes for a person: one field below the other, safe to print."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence

from commands.terminal.safe_text import plain, plain_lines
from core.lessons.answers.rendering import token_text, topic_text
from core.lessons.git.comparing import BOOKKEEPING, Change
from core.lessons.record import Record
from core.messages import Facts, Language

LABELS = {"missing_context": "missing", "lesson": "lesson", "ask_next_time": "ask"}
INDENT = "  "


def named_record(record: Record, lang: Language, *, token: bool = True) -> str:
    """Return one line: the token (or only the id), the type and the topic."""
    name = token_text(record, lang) if token else record.id
    return f"{plain(name)}  {record.type} [{plain(topic_text(record.topic))}]"


def replacing(record: Record) -> str:
    """Name a record that replaced others: a principle, or a log whose text was changed."""
    return f"{record.type} {plain(record.token)}"


def text_lines(record: Record) -> list[str]:
    """Return the texts of a record, indented, each under its label."""
    texts = [(label, getattr(record, name)) for name, label in LABELS.items()]
    return [line for label, text in texts if text.strip() for line in _labelled(label, text)]


def block(record: Record, lang: Language, *, token: bool = True) -> list[str]:
    """Return a whole record: its name, then its texts."""
    return [INDENT + named_record(record, lang, token=token), *text_lines(record)]


def change_lines(found: Sequence[Change]) -> list[str]:
    """Return each key that changed: the old value, then `→` and the new one."""
    telling = [change for change in found if change[0] not in BOOKKEEPING]
    lines: list[str] = []
    for key, old, new in telling or found:
        label = LABELS.get(key, plain(key))
        if key in LABELS:
            lines += [*_labelled(label, text_of(old)), *_arrowed(text_of(new))]
        else:
            lines.append(f"{INDENT}{label}: {plain(text_of(old))} → {plain(text_of(new))}")
    return lines


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


def _arrowed(text: str) -> list[str]:
    first, *rest = plain_lines(text.strip("\r\n")) or [""]
    return [f"{INDENT}  → {first}", *(INDENT * 3 + line for line in rest)]
