"""Writes the declared objects as JSON that shows all its characters."""

import json
from typing import Any

from core.lessons.answers.rendering import visible_json


def as_json(value: Any) -> str:
    """Return compact JSON; a character that nobody sees is an escape, half of one is U+FFFD."""
    return visible_json(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
