"""Why a line of the file is no record, for the people who have to repair it."""

from typing import Any

from core.lessons.record import DECODER, META_KEYS, too_deep, well_typed


def flaw_of(raw: bytes) -> tuple[str, str]:
    """Why a line is no record: a reason and the key concerned, ("", "") for a record.

    Reasons: not_utf8, not_json, too_deep, not_object, missing (a key), wrong_type (of a key).
    """
    try:
        value = DECODER.decode(raw.decode("utf-8"))
    except UnicodeDecodeError:
        return "not_utf8", ""
    except RecursionError:
        return "too_deep", ""
    except ValueError:
        return "not_json", ""
    if not isinstance(value, dict):
        return "not_object", ""
    if too_deep(raw, value):
        return "too_deep", ""
    for key in ("id", "type", "topic", "missing_context", "lesson", "meta"):
        if key not in value:
            return "missing", key
    meta = value["meta"] if isinstance(value["meta"], dict) else None
    if meta is not None and "created" not in meta:
        return "missing", "meta.created"
    return _wrong_type(value, meta)


def _wrong_type(value: dict[str, Any], meta: dict[str, Any] | None) -> tuple[str, str]:
    """Which key has a value that no record can have: one that becomes right when it is left out."""
    if meta is None:
        return "wrong_type", "meta"
    good = {"id": "x", "type": "log", "topic": "", "missing_context": "", "lesson": ""}
    for key in (*good, "ask_next_time"):
        if key in value and not well_typed({**good, key: value[key]}, {"created": ""}):
            return "wrong_type", key
    for key in sorted(META_KEYS & meta.keys()):
        if not well_typed(good, {"created": "", key: meta[key]}):
            return "wrong_type", f"meta.{key}"
    return "", ""
