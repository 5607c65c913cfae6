"""Turns rows of a database into fragments, links and entries, whatever keeps them."""

import json
from collections.abc import Callable, Sequence
from dataclasses import fields
from datetime import datetime
from functools import lru_cache
from math import isfinite
from typing import Any, NamedTuple

from rooms.fragments.engine import Entry
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
from rooms.fragments.kinds import KINDS, LIFETIMES, PRIVACIES, RELATIONS, TIERS

LISTS = frozenset(("keywords", "tool_highlights", "tool_pain_points"))
FLAGS = frozenset(("is_anchor", "relevant", "sufficient", "overall_success"))
MOMENTS = (
    *("accessed_at", "updated_at", "verified_at", "checked_at", "decayed_at", "expires_at"),
    *("deleted_at", "superseded_at", "amended_at", "started_at", "last_at", "reflected_at"),
    *("ended_at", "found_at"),
)
_COUNTS = (
    *("number", "access_count", "sessions_count", "estimated_tokens", "stale_days"),
    *("calls", "written"),
)
UNKNOWN_MOMENT = "1970-01-01T00:00:00+00:00"  # of a fragment whose creation nobody can read
MOST_UTILITY = 1e9

FIELDS = tuple(it.name for it in fields(Fragment))
COLUMNS = tuple(column_of(name) for name in FIELDS)
SELECTED = ", ".join(COLUMNS)


class Table(NamedTuple):
    """A table of entries. about: the columns of what an entry is of, moment: that of when it was.

    replaces: whether an entry takes the place of the one with its key.
    """

    name: str
    fields: tuple[str, ...]
    about: tuple[str, ...]
    moment: str
    order: str
    replaces: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns in the order of the fields."""
        return tuple(column_of(name) for name in self.fields)


def _fields(kind: type[Any]) -> tuple[str, ...]:
    return tuple(it.name for it in fields(kind))


TABLES: dict[type[Any], Table] = {
    Version: Table("fragment_versions", _fields(Version), ("fragment_id",), "amended_at", "id"),
    ToolFeedback: Table(
        "tool_feedback", _fields(ToolFeedback), ("session_id",), "created_at", "id"
    ),
    TaskFeedback: Table(
        "task_feedback", _fields(TaskFeedback), ("session_id",), "created_at", "id"
    ),
    Activity: Table(
        *("activities", _fields(Activity), ("session_id",), "last_at"),
        *("started_at, session_id, agent_id", True),
    ),
    Suspicion: Table(
        *("suspicions", _fields(Suspicion), ("first_id", "second_id"), "found_at"),
        *("found_at, first_id, second_id", True),
    ),
}


def spelled(word: str) -> str:
    """Return a keyword or a topic as two are compared. SQLite's JSON ends a text at NUL."""
    return plain_keyword(word).replace("\0", " ")


def fragment_of(row: Sequence[Any]) -> Fragment:
    """Return the fragment of a row of SELECTED."""
    columns = zip(FIELDS, _OF_FRAGMENT, row, strict=True)
    return Fragment(**{name: read(value) for name, read, value in columns})


def entry_of(kind: type[Entry], row: Sequence[Any]) -> Entry:
    """Return the entry of a row of the columns of its table."""
    return kind(**_values(TABLES[kind].fields, row))


def link_of(row: Sequence[Any]) -> Link:
    """Return the link of a row of `from_id, to_id, relation_type, created_at`."""
    return Link(**_values(("from_id", "to_id", "relation", "created_at"), row))


# What another program has put there is read as something that the room can work with.


def _values(names: Sequence[str], row: Sequence[Any]) -> dict[str, Any]:
    return {name: _READERS.get(name, _text)(value) for name, value in zip(names, row, strict=True)}


def _text(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _listed(text: object) -> tuple[str, ...]:
    """Return the texts of a list, or of one in JSON; what is none has no texts."""
    if text == "[]":
        return ()
    if isinstance(text, list):
        return tuple(it for it in text if isinstance(it, str))
    try:
        given = json.loads(text if isinstance(text, str | bytes) else "[]")
    except (ValueError, RecursionError):
        return ()
    return tuple(it for it in given if isinstance(it, str)) if isinstance(given, list) else ()


@lru_cache(maxsize=4_096)  # many rows are of the same moment
def _moment(value: object) -> str:
    """Return a moment in UTC or with its zone; "" for what is none."""
    if not value:
        return ""
    text = _text(value)
    try:
        return text if datetime.fromisoformat(text).tzinfo else ""
    except ValueError:
        return ""


def _created(value: object) -> str:
    return _moment(value) or UNKNOWN_MOMENT


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0


def _number_of(least: float, most: float, default: float) -> Callable[[object], float]:
    def read(value: object) -> float:
        is_one = isinstance(value, int | float) and isfinite(value)
        return min(max(float(value), least), most) if is_one else default  # type: ignore[arg-type]

    return read


def _word_of(words: Sequence[str], default: str) -> Callable[[object], str]:
    def read(value: object) -> str:
        return value if isinstance(value, str) and value in words else default

    return read


_READERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(LISTS, _listed),
    **dict.fromkeys(FLAGS, bool),
    **dict.fromkeys(MOMENTS, _moment),
    **dict.fromkeys(_COUNTS, _count),
    "created_at": _created,
    "importance": _number_of(0.0, 1.0, 0.5),
    "utility": _number_of(0.0, MOST_UTILITY, 1.0),
    "similarity": _number_of(0.0, 1.0, 0.0),
    "kind": _word_of(KINDS, "fact"),
    "lifetime": _word_of(LIFETIMES, "semantic"),
    "tier": _word_of(TIERS, "warm"),
    "privacy": _word_of(PRIVACIES, "private"),
    "relation": _word_of(RELATIONS, "related"),
}
_OF_FRAGMENT = [_READERS.get(name, _text) for name in FIELDS]
