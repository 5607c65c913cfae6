"""Turns fragments and entries into rows of PostgreSQL."""

from typing import Any

from rooms.fragments.fragment import Entry, Fragment
from rooms.fragments.postgres.conditions import bound
from rooms.fragments.postgres.values import moment
from rooms.fragments.storage.columns import (
    ENTRIES,
    FRAGMENTS,
    UNKNOWN_MOMENT,
    is_moment,
    spelled,
)

_NULL_FOR_NONE = frozenset(
    ("content_hash", "source", "session", "last_session", "deletion", "amended_by", "promoted")
)


def stored(name: str, value: Any) -> Any:
    """Return the value of a field as it is stored."""
    if isinstance(value, tuple):
        return list(value)
    if name == "created_at":
        return moment(value) or UNKNOWN_MOMENT
    if is_moment(name):
        return moment(value)
    if name in _NULL_FOR_NONE:
        return value or None
    return bound(value) if type(value) is int else value


def values_of(fragment: Fragment) -> dict[str, Any]:
    """Return the values of a fragment by column, but for its number."""
    values = {
        column: stored(name, getattr(fragment, name))
        for name, column in FRAGMENTS.columns.items()
        if name != "number"
    }
    keywords = [*dict.fromkeys(map(spelled, fragment.keywords))]
    return {**values, "plain_topic": spelled(fragment.topic), "plain_keywords": keywords}


def entry_values(entry: Entry) -> list[Any]:
    """Return the values of an entry in the order of the columns of its table."""
    return [stored(name, getattr(entry, name)) for name in ENTRIES[type(entry)].columns]
