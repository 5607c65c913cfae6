"""Turns fragments and entries into rows of the database."""

import json
from typing import Any

from rooms.fragments.engine import Entry
from rooms.fragments.fragment import Fragment
from rooms.fragments.stored.rows import (
    COLUMNS,
    FIELDS,
    FLAGS,
    LISTS,
    TABLES,
    Table,
    spelled,
)


def stored(name: str, value: Any) -> Any:
    """Return the value of a field as it is stored."""
    if name in LISTS:
        return json.dumps(list(value), ensure_ascii=False)
    return int(value) if name in FLAGS else value


def values_of(fragment: Fragment) -> dict[str, Any]:
    """Return the values of a fragment by column, but for its number."""
    values = {
        column: stored(name, getattr(fragment, name))
        for name, column in zip(FIELDS, COLUMNS, strict=True)
        if name != "number"
    }
    return {**values, "plain_topic": spelled(fragment.topic)}


def entry_values(entry: Entry) -> list[Any]:
    """Return the values of an entry in the order of the columns of its table."""
    return [stored(name, getattr(entry, name)) for name in TABLES[type(entry)].fields]


def condition_of(
    table: Table, *, of: str = "", since: str = "", before: str = ""
) -> tuple[str, list[str]]:
    """Return the condition for entries, with its values; what is left empty does not count."""
    about = " OR ".join(f"{column} = ?" for column in table.about)
    given = {
        f"({about})": (of,) * len(table.about) if of else (),
        f"{table.moment} >= ?": (since,) if since else (),
        f"{table.moment} < ?": (before,) if before else (),
    }
    parts = [part for part, values in given.items() if values]
    return " AND ".join(parts or ["1"]), [it for values in given.values() for it in values]
