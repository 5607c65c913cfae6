"""Turns rows of the database into fragments, links and entries, and back."""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
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
)
from rooms.fragments.kinds import KINDS, LIFETIMES, PRIVACIES, RELATIONS, TIERS
from rooms.fragments.sqlite.conditions import ANY_OF, listed, spelled

_LISTS = frozenset(("keywords", "tool_highlights", "tool_pain_points"))
_FLAGS = frozenset(("is_anchor", "relevant", "sufficient", "overall_success"))
_MOMENTS = (
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

    def condition(
        self, *, of: str = "", since: str = "", before: str = ""
    ) -> tuple[str, list[str]]:
        """Return the condition for entries, with its values; what is left empty does not count."""
        about = " OR ".join(f"{column} = ?" for column in self.about)
        given = {
            f"({about})": (of,) * len(self.about) if of else (),
            f"{self.moment} >= ?": (since,) if since else (),
            f"{self.moment} < ?": (before,) if before else (),
        }
        parts = [part for part, values in given.items() if values]
        return " AND ".join(parts or ["1"]), [it for values in given.values() for it in values]


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
        *("started_at, session_id", True),
    ),
    Suspicion: Table(
        *("suspicions", _fields(Suspicion), ("first_id", "second_id"), "found_at"),
        *("found_at, first_id, second_id", True),
    ),
}


def stored(name: str, value: Any) -> Any:
    """Return the value of a field as it is stored."""
    if name in _LISTS:
        return json.dumps(list(value), ensure_ascii=False)
    return int(value) if name in _FLAGS else value


def fragment_of(row: Sequence[Any]) -> Fragment:
    """Return the fragment of a row of SELECTED."""
    columns = zip(FIELDS, _OF_FRAGMENT, row, strict=True)
    return Fragment(**{name: read(value) for name, read, value in columns})


def values_of(fragment: Fragment) -> dict[str, Any]:
    """Return the values of a fragment by column, but for its number."""
    values = {
        column: stored(name, getattr(fragment, name))
        for name, column in zip(FIELDS, COLUMNS, strict=True)
        if name != "number"
    }
    return {**values, "plain_topic": spelled(fragment.topic)}


def entry_of(kind: type[Entry], row: Sequence[Any]) -> Entry:
    """Return the entry of a row of the columns of its table."""
    return kind(**_values(TABLES[kind].fields, row))


def entry_values(entry: Entry) -> list[Any]:
    """Return the values of an entry in the order of the columns of its table."""
    return [stored(name, getattr(entry, name)) for name in TABLES[type(entry)].fields]


def link_of(row: Sequence[Any]) -> Link:
    """Return the link of a row of `from_id, to_id, relation_type, created_at`."""
    return Link(**_values(("from_id", "to_id", "relation", "created_at"), row))


def texts_of(connection: sqlite3.Connection, numbers: Iterable[int]) -> Iterator[tuple[int, str]]:
    """Yield the texts of fragments by their numbers, ascending: what `Fragment.text` has."""
    rows = connection.execute(
        f"SELECT {SELECTED} FROM fragments WHERE number {ANY_OF} ORDER BY number",
        (listed(numbers),),
    )
    for fragment in map(fragment_of, rows):
        yield fragment.number, fragment.text


# What another program has put there is read as something that the room can work with.


def _values(names: Sequence[str], row: Sequence[Any]) -> dict[str, Any]:
    return {name: _READERS.get(name, _text)(value) for name, value in zip(names, row, strict=True)}


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _listed(text: object) -> tuple[str, ...]:
    """Return the texts of a list in JSON; what is none has no texts."""
    if text == "[]":
        return ()
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
    **dict.fromkeys(_LISTS, _listed),
    **dict.fromkeys(_FLAGS, bool),
    **dict.fromkeys(_MOMENTS, _moment),
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
