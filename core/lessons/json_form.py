"""Tells whether the JSON of a line has the form of a record, whoever wrote it. Pure."""

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any

MOST_COUNTED = 999_999_999
MOST_NESTED = 100


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):  # 1e999 would be written back as Infinity, which is no JSON
        raise ValueError(text)
    return number


DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_finite)


def too_deep(raw: bytes, value: object) -> bool:
    """Return whether an object is nested deeper than some part of the program can follow."""
    if raw.count(b"[") + raw.count(b"{") <= MOST_NESTED:
        return False
    level = [value]
    for _ in range(MOST_NESTED):
        inner = [it for it in level if isinstance(it, dict | list)]
        level = [it for one in inner for it in (one.values() if isinstance(one, dict) else one)]
    return bool(level)


def well_typed(value: Mapping[str, Any], meta: Mapping[str, Any]) -> bool:
    """Return whether every known key has its type; spelled out, since it runs for every line."""
    return (
        isinstance(value.get("id"), str)
        and bool(value["id"].strip())
        and value.get("type") in ("log", "principle")
        and isinstance(value.get("topic"), str)
        and isinstance(value.get("missing_context"), str)
        and isinstance(value.get("lesson"), str)
        and isinstance(value.get("ask_next_time", ""), str | None)
        and isinstance(meta.get("created"), str)
        and (len(meta) == 1 or _meta_well_typed(meta))
    )


def _meta_well_typed(meta: Mapping[str, Any]) -> bool:
    return (
        isinstance(meta.get("updated", ""), str)
        and isinstance(meta.get("compacted_at", ""), str)
        and _is_count(meta.get("seen", 1))
        and _is_count(meta.get("source_count", 1))
        and _is_texts(meta.get("source_ids", []))
        and _is_texts(meta.get("former", []))
        and _is_texts(meta.get("marks", []))
        and _is_texts(meta.get("paths", []))
        and _is_texts(meta.get("when", []))
    )


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value <= MOST_COUNTED
