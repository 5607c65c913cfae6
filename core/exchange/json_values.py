"""Reads texts and lists out of JSON that came from outside, and writes JSON that people open."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from core.guard.hidden import HIDDEN_CLASS

_UNSAFE = re.compile(f"[{HIDDEN_CLASS}\ud800-\udfff\x7f-\x9f\u2028\u2029]")


def texts_in(value: object) -> tuple[str, ...]:
    """Return the texts of a list that came from outside, () where it is none."""
    return tuple(it for it in value if isinstance(it, str)) if isinstance(value, list) else ()


def objects_at(data: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
    """Return the objects of a list that came from outside, [] where there is none."""
    listed = data.get(key)
    return [it for it in listed if isinstance(it, dict)] if isinstance(listed, list) else []


def text_at(data: Mapping[str, Any], key: str) -> str:
    """Return a text that came from outside, "" where there is none."""
    value = data.get(key)
    return value if isinstance(value, str) else ""


def as_json(value: object) -> str:
    r"""Return a value as JSON, in which what nobody sees is escaped (`\u`)."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isascii() and "\x7f" not in text else _UNSAFE.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1] if found[0] > "\x9f" else f"\\u{ord(found[0]):04x}"
