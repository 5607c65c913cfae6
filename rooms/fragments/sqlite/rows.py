"""Turns rows of the database into fragments, links and entries, and back."""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
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
)

# The columns whose names are the specification's, by ours.
_COLUMN_OF = {
    "kind": "type",
    "agent": "agent_id",
    "session": "session_id",
    "privacy": "privacy_scope",
    "tier": "ttl_tier",
    "utility": "utility_score",
}
_LISTS = frozenset(("keywords", "tool_highlights", "tool_pain_points"))
_FLAGS = frozenset(("is_anchor", "relevant", "sufficient", "overall_success"))

FIELDS = tuple(it.name for it in fields(Fragment))
COLUMNS = tuple(_COLUMN_OF.get(name, name) for name in FIELDS)
SELECTED = ", ".join(COLUMNS)


class Table(NamedTuple):
    """A table of entries. about: the column of what an entry is of; key: the columns of its key."""

    name: str
    fields: tuple[str, ...]
    about: str
    moment: str
    order: str
    replaces: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns in the order of the fields."""
        return tuple(_COLUMN_OF.get(name, name) for name in self.fields)


def _fields(kind: type[Any]) -> tuple[str, ...]:
    return tuple(it.name for it in fields(kind))


TABLES: dict[type[Any], Table] = {
    Version: Table("fragment_versions", _fields(Version), "fragment_id", "amended_at", "id"),
    ToolFeedback: Table("tool_feedback", _fields(ToolFeedback), "session_id", "created_at", "id"),
    TaskFeedback: Table("task_feedback", _fields(TaskFeedback), "session_id", "created_at", "id"),
    Activity: Table(
        "activities", _fields(Activity), "session_id", "last_at", "started_at, session_id", True
    ),
    Suspicion: Table(
        "suspicions", _fields(Suspicion), "first_id", "found_at", "found_at, first_id", True
    ),
}


def column_of(name: str) -> str:
    """Return the column of a field."""
    return _COLUMN_OF.get(name, name)


def stored(name: str, value: Any) -> Any:
    """Return the value of a field as it is stored."""
    if name in _LISTS:
        return json.dumps(list(value), ensure_ascii=False)
    return int(value) if name in _FLAGS else value


def fragment_of(row: Sequence[Any]) -> Fragment:
    """Return the fragment of a row of SELECTED."""
    return Fragment(**_values(FIELDS, row))


def values_of(fragment: Fragment) -> dict[str, Any]:
    """Return the values of a fragment by column, but for its number."""
    return {
        column: stored(name, getattr(fragment, name))
        for name, column in zip(FIELDS, COLUMNS, strict=True)
        if name != "number"
    }


def entry_of(kind: type[Entry], row: Sequence[Any]) -> Entry:
    """Return the entry of a row of the columns of its table."""
    return kind(**_values(TABLES[kind].fields, row))


def entry_values(entry: Entry) -> list[Any]:
    """Return the values of an entry in the order of the columns of its table."""
    return [stored(name, getattr(entry, name)) for name in TABLES[type(entry)].fields]


def link_of(row: Sequence[Any]) -> Link:
    """Return the link of a row of `from_id, to_id, relation_type, created_at`."""
    from_id, to_id, relation, created_at = row
    return Link(from_id=from_id, to_id=to_id, relation=relation, created_at=created_at)


def texts_of(connection: sqlite3.Connection, numbers: Iterable[int]) -> Iterator[tuple[int, str]]:
    """Yield the texts of fragments by their numbers, ascending: what `Fragment.text` has."""
    condition = f"number IN ({', '.join(map(str, numbers))}) ORDER BY number"
    rows = connection.execute(f"SELECT {SELECTED} FROM fragments WHERE {condition}")
    for fragment in map(fragment_of, rows):
        yield fragment.number, fragment.text


def _values(names: Sequence[str], row: Sequence[Any]) -> dict[str, Any]:
    values = dict(zip(names, row, strict=True))
    for name in names:
        reader = _READERS.get(name)
        if reader:
            values[name] = reader(values[name])
        elif isinstance(values[name], bytes):  # another program may have put them there
            values[name] = values[name].decode("utf-8", "replace")
    return values


def _listed(text: object) -> tuple[str, ...]:
    """Return the texts of a list in JSON; what another program broke counts as none."""
    if text == "[]":
        return ()
    try:
        given = json.loads(text if isinstance(text, str | bytes) else "[]")
    except (ValueError, RecursionError):
        return ()
    return tuple(it for it in given if isinstance(it, str)) if isinstance(given, list) else ()


_READERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(_LISTS, _listed),
    **dict.fromkeys(_FLAGS, bool),
}
