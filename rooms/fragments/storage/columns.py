"""Says which column each field of a row stands in, and reads whatever a program has put there."""

import json
from collections.abc import Callable, Sequence
from dataclasses import fields
from datetime import datetime
from functools import lru_cache
from math import isfinite
from typing import Any

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
    plain_keyword,
)

LISTS = frozenset(("keywords", "tool_highlights", "tool_pain_points"))
FLAGS = frozenset(("is_anchor", "relevant", "sufficient", "overall_success"))
UNKNOWN_MOMENT = "1970-01-01T00:00:00+00:00"  # of a fragment whose creation nobody can read
_COUNTS = frozenset(
    "number access_count sessions_count estimated_tokens stale_days calls written".split()
)
# Of a field the words that it may have, or the greatest number, and what it is read as otherwise.
_WORDS = {
    "kind": (KINDS, "fact"),
    "lifetime": (LIFETIMES, "semantic"),
    "tier": (TIERS, "warm"),
    "privacy": (PRIVACIES, "private"),
    "relation": (RELATIONS, "related"),
}
_NUMBERS = {"importance": (1.0, 0.5), "utility": (1e9, 1.0), "similarity": (1.0, 0.0)}


class Table:
    """A table, and the class of its rows: each field has a column.

    about: the columns that name what a row is of. moment: the column of when it was. order: oldest
    first. key: the columns of which a new row takes the place of an old one, () for rows that are
    added.
    """

    def __init__(
        self,
        name: str,
        row: type[Any],
        about: tuple[str, ...] = (),
        *,
        moment: str = "created_at",
        order: tuple[str, ...] = ("id",),
        key: tuple[str, ...] = (),
    ) -> None:
        self.name, self.row = name, row
        self.about, self.moment, self.order, self.key = about, moment, order, key
        self.fields = tuple(field.name for field in fields(row))
        self.columns = tuple(map(column_of, self.fields))
        self.selected = ", ".join(self.columns)
        self._readers = tuple(map(_reader_of, self.fields))

    def read(self, row: Sequence[Any]) -> Any:
        """Return the object of a row of its columns, whatever stands in them."""
        columns = zip(self.fields, self._readers, row, strict=True)
        return self.row(**{name: read(value) for name, read, value in columns})


def spelled(word: str) -> str:
    """Return a keyword or a topic as two are compared. SQLite's JSON ends a text at NUL."""
    return plain_keyword(word).replace("\0", " ")


def is_moment(field: str) -> bool:
    """Return whether a field, or its column, holds a moment."""
    return field.endswith("_at")


# What another program has put there is read as something that the room can work with.


def _reader_of(field: str) -> Callable[[Any], Any]:
    if field in _WORDS:
        words, word = _WORDS[field]
        return lambda value: value if isinstance(value, str) and value in words else word
    if field in _NUMBERS:
        most, number = _NUMBERS[field]
        return lambda value: _number(value, most, number)
    if field in _COUNTS:
        return lambda value: value if isinstance(value, int) else 0
    if field in LISTS:
        return _texts
    if field in FLAGS:
        return bool
    if field == "created_at":
        return lambda value: _moment(value) or UNKNOWN_MOMENT
    return _moment if is_moment(field) else _text


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def _texts(value: object) -> tuple[str, ...]:
    """Return the texts of a list, or of one in JSON; anything else has no texts."""
    if value == "[]":
        return ()
    try:
        texts = json.loads(value) if isinstance(value, str | bytes) else value
    except (ValueError, RecursionError):
        return ()
    return tuple(text for text in texts if isinstance(text, str)) if isinstance(texts, list) else ()


@lru_cache(maxsize=4_096)  # many rows are of the same moment
def _moment(value: object) -> str:
    """Return a moment in UTC or with its zone; "" for anything else."""
    text = _text(value)
    try:
        return text if text and datetime.fromisoformat(text).tzinfo else ""
    except ValueError:
        return ""


def _number(value: object, most: float, otherwise: float) -> float:
    if not isinstance(value, int | float) or not isfinite(value):
        return otherwise
    return min(max(float(value), 0.0), most)


FRAGMENTS = Table("fragments", Fragment)
LINKS = Table("fragment_links", Link)
VERSIONS = Table("fragment_versions", Version, ("fragment_id",), moment="amended_at")
SUSPICIONS = Table(
    "suspicions",
    Suspicion,
    ("first_id", "second_id"),
    moment="found_at",
    order=("found_at", "first_id", "second_id"),
    key=("first_id", "second_id"),
)
ENTRIES: dict[type[Any], Table] = {
    Version: VERSIONS,
    ToolFeedback: Table("tool_feedback", ToolFeedback, ("session_id",)),
    TaskFeedback: Table("task_feedback", TaskFeedback, ("session_id",)),
    Activity: Table(
        "activities",
        Activity,
        ("session_id",),
        moment="last_at",
        order=("started_at", "session_id", "agent_id"),
        key=("agent_id", "session_id"),
    ),
    Suspicion: SUSPICIONS,
}
