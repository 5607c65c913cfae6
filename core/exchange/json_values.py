"""Reads texts and lists out of JSON that came from outside."""

from collections.abc import Mapping, Sequence
from typing import Any


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
