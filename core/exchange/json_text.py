"""Writes JSON for files that people open: what nobody sees in a text is escaped."""

import json
import re

from core.guard.hidden import HIDDEN_CLASS

_UNSAFE = re.compile(f"[{HIDDEN_CLASS}\ud800-\udfff\x7f-\x9f\u2028\u2029]")


def as_json(value: object) -> str:
    r"""Return a value as JSON, in which what nobody sees is escaped (`\u`)."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isascii() and "\x7f" not in text else _UNSAFE.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1] if found[0] > "\x9f" else f"\\u{ord(found[0]):04x}"
