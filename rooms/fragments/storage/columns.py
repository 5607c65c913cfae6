"""Maps fields to columns, and reads values that another program may have put there."""

import json
from collections.abc import Callable, Sequence
from dataclasses import Field, dataclass, fields
from datetime import datetime
from functools import lru_cache
from math import isfinite
from typing import Any, Literal, get_args, get_origin

from rooms.fragments.fragment import (
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

UNKNOWN_MOMENT = "1970-01-01T00:00:00+00:00"  # of an unreadable creation
_UNKNOWN_TIER = "warm"
_MOST_UTILITY = 1e9  # other shares end at 1


@dataclass(eq=False)  # each is one of its kind
class Table:
    """A table, the class of its rows, and its columns by field.

    about: columns of the subject. moment: column of the time. order: oldest first. key: columns by
    which a new row replaces an old one; () if rows are only added.
    """

    name: str
    row: type[Any]
    about: tuple[str, ...] = ()
    moment: str = "created_at"
    order: tuple[str, ...] = ("id",)
    key: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.columns = {field.name: column_of(field.name) for field in fields(self.row)}
        self.selected = ", ".join(self.columns.values())
        self._readers = [(field.name, _reader_of(field)) for field in fields(self.row)]

    def read(self, values: Sequence[Any]) -> Any:
        """Return a row from column values; a wrong value becomes a default."""
        readers = zip(self._readers, values, strict=True)
        return self.row(**{field: read(value) for (field, read), value in readers})


def spelled(word: str) -> str:
    """Return a keyword or topic for comparison, without NUL, which ends a text in SQLite's JSON.

    >>> spelled(" Ｃafé")
    'café'
    """
    return plain_keyword(word).replace("\0", " ")


def is_moment(field: str) -> bool:
    return field.endswith("_at")


# Values of another program are read as values that the room can work with.


def _reader_of(field: Field[Any]) -> Callable[[Any], Any]:
    if get_origin(field.type) is Literal:
        words = get_args(field.type)
        word = _UNKNOWN_TIER if field.name == "tier" else field.default
        return lambda value: value if value in words else word
    if field.type is float:
        most = _MOST_UTILITY if field.name == "utility" else 1.0
        number = field.default if isinstance(field.default, float) else 0.0
        return lambda value: _number(value, most, number)
    if field.type is int:
        return lambda value: value if isinstance(value, int) else 0
    if field.type is bool:
        return bool
    if field.type is not str:
        return _texts
    if field.name == "created_at":
        return lambda value: _moment(value) or UNKNOWN_MOMENT
    return _moment if is_moment(field.name) else _text


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def _texts(value: object) -> tuple[str, ...]:
    """Return the texts of a list, plain or in JSON."""
    if value == "[]":
        return ()
    try:
        texts = json.loads(value) if isinstance(value, str | bytes) else value
    except (ValueError, RecursionError):
        return ()
    return tuple(text for text in texts if isinstance(text, str)) if isinstance(texts, list) else ()


@lru_cache(maxsize=4_096)  # many rows are of the same moment
def _moment(value: object) -> str:
    """Return a moment with a zone; "" for another text."""
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
LINKS = Table("fragment_links", Link, key=("from_id", "to_id"))
VERSIONS = Table("fragment_versions", Version, ("fragment_id",), moment="amended_at")
_ENDS = ("first_id", "second_id")
SUSPICIONS = Table(
    "suspicions", Suspicion, _ENDS, moment="found_at", order=("found_at", *_ENDS), key=_ENDS
)
_SESSION, _STARTED = ("session_id",), ("started_at", "session_id", "agent_id")
ENTRIES: dict[type[Any], Table] = {
    Version: VERSIONS,
    ToolFeedback: Table("tool_feedback", ToolFeedback, _SESSION),
    TaskFeedback: Table("task_feedback", TaskFeedback, _SESSION),
    Activity: Table(
        "activities", Activity, _SESSION, moment="last_at", order=_STARTED, key=_STARTED[1:]
    ),
    Suspicion: SUSPICIONS,
}
