"""Finds secrets in everything that is kept of the fragments, and takes them out.

A save redacts already; what is found here was saved before a rule knew it, or by another program.
Columns are read and written as they are, also those that hold what the room reads as nothing.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from core.room.redaction import Held, Redaction, Row, cleaned
from core.sanitizer import safe
from rooms.fragments.fragment import hash_of
from rooms.fragments.storage.columns import spelled
from rooms.fragments.storage.sqlite import SqliteEngine, SqliteRows

LISTS = "keywords", "tool_highlights", "tool_pain_points"  # of texts, to be cleaned one by one


class Table(NamedTuple):
    """A table, the column that names its rows, and those that hold texts."""

    name: str
    key: str
    columns: Sequence[str]


FRAGMENTS = Table(
    *("fragments", "number"),
    ("content", "topic", "keywords", "source", "agent_id", "session_id", "last_session"),
)
VERSIONS = Table("fragment_versions", "id", ("content", "topic", "keywords", "amended_by"))
BESIDE = (
    Table(
        *("tool_feedback", "id"), ("agent_id", "tool_name", "suggestion", "context", "session_id")
    ),
    Table(
        *("task_feedback", "id"), ("agent_id", "tool_highlights", "tool_pain_points", "session_id")
    ),
    Table("activities", "rowid", ("agent_id", "session_id")),
)
_STATE = Table("state", "name", ("value",))
_LEFT_BEHIND = "fragment_id NOT IN (SELECT id FROM fragments)"


class Place(NamedTuple):
    """A row of a table, and what tells it from the others as long as nobody else writes."""

    table: Table
    key: Any


class Group(NamedTuple):
    """A fragment with its versions, or rows of none: what one of them gives away, all hide.

    name: the id of the fragment. number: its own. rows: cleaned.
    """

    name: str
    number: int
    kinds: tuple[str, ...]
    places: Sequence[Place]
    rows: Sequence[Row]


def secrets_held(engine: SqliteEngine) -> list[Held]:
    """Return each fragment with a secret, and each table beside them. Raises DatabaseError."""
    with engine.database.reading() as connection:
        if connection is None:
            return []
        return [Held(engine.path, safe(it.name), it.kinds) for it in _groups(connection)]


def redact_held(engine: SqliteEngine) -> Redaction:
    """Take the secrets out wherever they are, from the bytes as well.

    The bytes go also where nothing is found any more, since a run before may not have come so far.
    Raises DatabaseError.
    """
    held = secrets_held(engine)
    if not engine.exists():
        return Redaction(held, held, [])
    if held:
        with engine.database.writing() as connection:
            SqliteRows(connection).keep_index()
            for group in list(_groups(connection)):
                _write(connection, group)
    is_purged = engine.database.purge()
    return Redaction(held, secrets_held(engine), [] if is_purged else [engine.path])


def _groups(connection: sqlite3.Connection) -> Iterator[Group]:
    """Yield what holds secrets in the database."""
    ids = dict(connection.execute("SELECT number, id FROM fragments ORDER BY number"))
    for number, id_ in ids.items():
        found = [*_rows(connection, FRAGMENTS, "number = ?", number)]
        found += _rows(connection, VERSIONS, "fragment_id = ?", id_)
        yield from group_of(found, str(id_), number)
    yield from group_of([*_rows(connection, VERSIONS, _LEFT_BEHIND)])
    for table in (*BESIDE, _STATE):
        yield from group_of([*_rows(connection, table, "1")])


def group_of(
    found: Sequence[tuple[Place, Row]], name: str = "", number: int = 0
) -> Iterator[Group]:
    """Yield these rows as a group, if they hold secrets."""
    rows, kinds = cleaned([row for _, row in found], LISTS)
    if kinds:
        yield Group(name, number, kinds, [place for place, _ in found], rows)


def _rows(
    connection: sqlite3.Connection, table: Table, condition: str, *values: object
) -> Iterator[tuple[Place, Row]]:
    columns = ", ".join((table.key, *table.columns))
    statement = f"SELECT {columns} FROM {table.name} WHERE {condition}"
    for key, *texts in connection.execute(statement, values):
        told = [it.decode("utf-8", "replace") if isinstance(it, bytes) else it for it in texts]
        yield Place(table, key), dict(zip(table.columns, told, strict=True))


def _write(connection: sqlite3.Connection, group: Group) -> None:
    """Store the cleaned rows; what is made of a fragment's texts follows them."""
    for (table, key), row in zip(group.places, group.rows, strict=True):
        values = dict(row)
        if table is FRAGMENTS:
            values["content_hash"] = hash_of(str(row["content"]))
            values["plain_topic"] = spelled(str(row["topic"]))
        setting = ", ".join(f"{name} = ?" for name in values)
        connection.execute(
            f"UPDATE OR REPLACE {table.name} SET {setting} WHERE {table.key} = ?",
            (*values.values(), key),
        )
        if table is FRAGMENTS:
            rows = SqliteRows(connection)
            [fragment] = rows.by_numbers([key])
            rows.index(fragment, fragment)
            rows.drop_vectors([key])
