"""Takes the secrets out of every field of a record, those of keys that are not ours included."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from core.lessons.record import DECODER, LIMITS_BYTES, Record, normalise_topic, too_deep
from core.sanitizer import MARKER, redact, values_in

META, OTHERS = "meta", "other_keys"

# An id, a version id, a fingerprint or a date as a program writes them holds no secret.
_HARMLESS = re.compile(r"[0-9a-f]{16}(?:@[0-9a-f]{6})?|[0-9a-f]{6}|[0-9]{4}-[0-9T:.+Z-]{6,30}|")


def clean_record(record: Record) -> tuple[Record, list[tuple[str, str]]]:
    """Return the record without secrets, and the field and kind of each one.

    A trigger with a secret goes as a whole: with a marker in it, it would stand nowhere.
    """
    found: list[tuple[str, str]] = []
    known = values_in(record.texts)  # what one field calls a password, another may only use

    def cleaned(name: str, text: str) -> str:
        if not known and name in LIMITS_BYTES:
            return text  # `values_in` has looked at it
        clean, kinds = redact(text, known)
        found.extend((name, kind) for kind in kinds)
        return clean

    def odd(text: str) -> str:
        return text if _HARMLESS.fullmatch(text) else cleaned(META, text)

    meta_extra, meta_kinds = clean_members(record.meta_extra)
    extra, kinds = clean_members(record.extra)
    clean = replace(
        record,
        topic=normalise_topic(cleaned("topic", record.topic)),
        missing_context=cleaned("missing_context", record.missing_context),
        lesson=cleaned("lesson", record.lesson),
        ask_next_time=cleaned("ask_next_time", record.ask_next_time),
        id=odd(record.id),
        created=odd(record.created),
        updated=odd(record.updated),
        compacted_at=odd(record.compacted_at),
        source_ids=tuple(map(odd, record.source_ids)),
        former=tuple(map(odd, record.former)),
        marks=tuple(map(odd, record.marks)),
        paths=tuple(map(odd, record.paths)),
        when=tuple(piece for piece in record.when if odd(piece) == piece),
        meta_extra=meta_extra,
        extra=extra,
    )
    found += [(META, kind) for kind in meta_kinds] + [(OTHERS, kind) for kind in kinds]
    return clean, found


def clean_members(members: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Clean keys that we do not know, each as text and then, with its name, as JSON.

    Where the JSON would not be any more (a number that is a password), the whole value goes.
    """
    out: dict[str, Any] = {}
    found: list[str] = []
    for name, value in members.items():
        member, kinds = clean_value({name: value})
        text, more = redact(json.dumps(member, ensure_ascii=False))
        if more:
            parsed = json_value_in(text.encode("utf-8", "surrogatepass"))
            member = parsed if isinstance(parsed, dict) else dict.fromkeys(member, MARKER)
        for key, kept in member.items():
            out[_free(key, out)] = kept
        found += [*kinds, *more]
    return out, found


def clean_value(value: Any) -> tuple[Any, list[str]]:
    """Return a JSON value without the secrets in its texts and names of members."""
    found: list[str] = []
    if isinstance(value, str):
        text, kinds = redact(value)
        return text, [*kinds]
    if isinstance(value, list):
        cleaned = [clean_value(item) for item in value]
        return [item for item, _ in cleaned], [kind for _, kinds in cleaned for kind in kinds]
    if isinstance(value, dict):
        out: dict[str, Any] = {}
        for name, item in value.items():
            (name, kinds), (item, more) = redact(name), clean_value(item)
            out[_free(name, out)] = item
            found += [*kinds, *more]
        return out, found
    return value, found


def _free(name: str, taken: Mapping[str, Any]) -> str:
    while name in taken:
        name += "_"
    return name


def json_value_in(content: bytes) -> Any:
    """Return the JSON object or list of a line, None for any other line."""
    if content.lstrip()[:1] not in (b"{", b"["):
        return None
    try:
        value = DECODER.decode(content.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return None
    return None if too_deep(content, value) else value
