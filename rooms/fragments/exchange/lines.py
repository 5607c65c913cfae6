"""Turns fragments, links and notes into objects of JSON lines, and back, by the specified names.

What comes from outside is read field by field: a value of another type counts as none, a number is
brought within its bounds, a moment into ISO 8601 in UTC. The texts are not checked here.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from datetime import UTC, datetime
from typing import Any, TypeVar

from core.room.documents import texts_in
from core.text.plain import moment_of
from rooms.fragments.fragment import (
    KINDS,
    LIFETIMES,
    PRIVACIES,
    RELATIONS,
    TIERS,
    Activity,
    Fragment,
    Link,
    Suspicion,
    TaskFeedback,
    ToolFeedback,
    Version,
    column_of,
)

Row = Fragment | Link | Version | ToolFeedback | TaskFeedback | Activity | Suspicion
RowType = TypeVar("RowType", bound=Row)

# The word of the field `kind` in each line.
KIND_OF: dict[type[Any], str] = {
    Fragment: "fragment",
    Link: "link",
    Version: "version",
    ToolFeedback: "tool_feedback",
    TaskFeedback: "task_feedback",
    Activity: "activity",
    Suspicion: "suspicion",
}
TYPE_OF: dict[str, type[Any]] = {word: kind for kind, word in KIND_OF.items()}

# Dates, words and ids of ours, in which no secret is looked for.
HARMLESS = re.compile(r"[0-9TZ:+. -]*|[a-z_]{1,16}|[a-hj-km-np-z2-9]{8}")

_MOST = 2**53 - 1
_MOST_MOMENT_S = 1e11  # a number above it is one of milliseconds
_NAMES = {"relation": "relation_type"}
_WORDS = {
    "kind": KINDS,
    "lifetime": LIFETIMES,
    "tier": TIERS,
    "privacy": PRIVACIES,
    "relation": RELATIONS,
}
_REQUIRED = {"relevant": False, "sufficient": False, "similarity": 0.0}  # of those without default
# In the first line of an export by an older version, which may be imported.
MARK = "sentinel-memory-fragments"
VERSION = 1


def line_of(row: Row) -> dict[str, Any]:
    """Return the object of a row, with every column but the number, which is of one database."""
    values = {_name(it.name): getattr(row, it.name) for it in fields(row) if it.name != "number"}
    listed = {key: list(it) if isinstance(it, tuple) else it for key, it in values.items()}
    return {"kind": KIND_OF[type(row)], **listed}


def row_of_line(kind: type[RowType], data: Mapping[str, Any]) -> RowType:
    """Return the row of an object; a field that is missing or of another type gets its default."""
    values = {it.name: _value(it, data.get(_name(it.name))) for it in fields(kind)}
    values.pop("number", None)
    return kind(**values)


def moment_in(value: object) -> str:
    """Return a moment in ISO 8601: of a text, or of seconds or milliseconds; "" for neither."""
    if isinstance(value, str):
        return moment_of(value.strip())
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    seconds = value / 1_000 if value > _MOST_MOMENT_S else value
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return ""


def share_in(value: object, most: float = 1.0) -> float | None:
    """Return a number from 0 to most; None for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        return None
    return float(min(max(value, 0), most))


def _name(field: str) -> str:
    return _NAMES.get(field) or column_of(field)


def _value(field: "Field[Any]", given: object) -> Any:
    name = field.name
    default = _REQUIRED.get(name, "") if field.default is MISSING else field.default
    if name.endswith("_at"):
        return moment_in(given)
    if name in _WORDS:
        return given if given in _WORDS[name] else default
    if isinstance(default, bool):
        return given is True or given == 1
    if isinstance(default, int):
        return min(max(given, 0), _MOST) if type(given) is int else default
    if isinstance(default, float):
        most = float(_MOST) if name == "utility" else 1.0
        return default if (share := share_in(given, most)) is None else share
    if isinstance(default, tuple):
        return texts_in(given)
    return given if isinstance(given, str) else default
