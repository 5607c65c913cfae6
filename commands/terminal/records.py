"""How a record and its changes look to a person: its fields, one below the other, safe to print."""

import json
from collections.abc import Iterable, Sequence

from commands.records.history_words import word
from commands.terminal.safe_text import plain, plain_lines
from core.lessons.answers.rendering import token_text, topic_text
from core.lessons.log import BroughtBack, MemoryLog
from core.lessons.record import Record
from core.messages import Language

LABELS = {"missing_context": "missing", "lesson": "lesson", "ask_next_time": "ask"}
BOOKKEEPING = ("meta.updated", "meta.former", "meta.compacted_at")
INDENT = "  "

Change = tuple[str, object, object]


def named_record(record: Record, lang: Language, *, token: bool = True) -> str:
    """One line: the token (or only the id), the type and the topic of a record."""
    name = token_text(record, lang) if token else record.id
    return f"{plain(name)}  {record.type} [{plain(topic_text(record.topic))}]"


def replacing(record: Record) -> str:
    """A record that took the place of others: a principle, or a log under changed texts."""
    return f"{record.type} {plain(record.token)}"


def text_lines(record: Record) -> list[str]:
    """The texts of a record, indented, each under its label."""
    texts = [(label, getattr(record, name)) for name, label in LABELS.items()]
    return [line for label, text in texts if text.strip() for line in _labelled(label, text)]


def block(record: Record, lang: Language, *, token: bool = True) -> list[str]:
    """A whole record: what it is called, then its texts."""
    return [INDENT + named_record(record, lang, token=token), *text_lines(record)]


def changes(before: Record, after: Record) -> list[Change]:
    """The keys whose values differ, with the old and the new value; None for a key not there."""
    old, new = _flat(before), _flat(after)
    return [
        (key, old.get(key), new.get(key))
        for key in dict.fromkeys([*old, *new])
        if old.get(key) != new.get(key)
    ]


def change_lines(found: Sequence[Change]) -> list[str]:
    """Each key that changed: the old value, then the new one behind an arrow."""
    telling = [change for change in found if change[0] not in BOOKKEEPING]
    lines: list[str] = []
    for key, old, new in telling or found:
        label = LABELS.get(key, plain(key))
        if key in LABELS:
            lines += [*_labelled(label, text_of(old)), *_arrowed(text_of(new))]
        else:
            lines.append(f"{INDENT}{label}: {plain(text_of(old))} → {plain(text_of(new))}")
    return lines


def redacted_lines(kinds: Iterable[str], lang: Language) -> list[str]:
    """A sentence that counts the secrets that were replaced, by kind; none for none."""
    found = list(kinds)
    if not found:
        return []
    counted = ", ".join(f"{kind} {found.count(kind)}" for kind in dict.fromkeys(found))
    return [word(lang, "redacted", count=len(found), kinds=counted)]


def closing_lines(
    outcome: BroughtBack, before: MemoryLog, lang: Language, *, dry_run: bool
) -> list[str]:
    """What else follows from bringing records back, and what to do next."""
    lines = redacted_lines(outcome.redacted, lang)
    shown = {record.id for record in (*outcome.log.records, *outcome.removal.removed)}
    hidden = [record.token for record in before.records if record.id not in shown]
    if hidden:
        lines.append(word(lang, "hides", tokens=joined(hidden)))
    return [*lines, word(lang, "dry" if dry_run else "next")]


def joined(tokens: Iterable[str]) -> str:
    """Tokens inside a sentence."""
    return ", ".join(map(plain, tokens))


def _flat(record: Record) -> dict[str, object]:
    value = record.as_json()
    meta = value.pop("meta")
    return {**value, **{f"meta.{key}": kept for key, kept in meta.items()}}


def text_of(value: object) -> str:
    """A value of a record as text; `-` for none."""
    if value is None:
        return "-"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _labelled(label: str, text: str) -> list[str]:
    first, *rest = plain_lines(text.strip("\r\n")) or [""]
    return [f"{INDENT}{label}: {first}", *(INDENT * 2 + line for line in rest)]


def _arrowed(text: str) -> list[str]:
    first, *rest = plain_lines(text.strip("\r\n")) or [""]
    return [f"{INDENT}  → {first}", *(INDENT * 3 + line for line in rest)]
