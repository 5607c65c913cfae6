"""Finds secrets in all that a server keeps of the fragments of every agent, and takes them out.

Rows are read and written as they are, also those that another program has made. What the server
keeps for itself, such as its log, its replicas and its backups, is out of reach.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from core.room.redaction import Held, Redaction, Row
from core.sanitizer import has_secret, safe
from rooms.fragments.fragment import hash_of
from rooms.fragments.storage.postgres import PostgresEngine, PostgresRows
from rooms.fragments.upkeep.secrets import (
    BESIDE,
    FRAGMENTS,
    LISTS,
    VERSIONS,
    Group,
    Place,
    Table,
    group_of,
)

if TYPE_CHECKING:
    from psycopg import Connection

_AT_ONCE = 500
_STATE = Table("state", "name", ("agent_id", "value"))
_LEFT_BEHIND = "NOT EXISTS (SELECT FROM fragments f WHERE f.id = fragment_id)"


def secrets_on_server(engine: PostgresEngine) -> list[Held]:
    """Return each fragment with a secret, and each table beside them. Raises DatabaseError."""
    if not engine.exists():
        return []
    with engine.pool.transaction(changes=False) as connection:
        return [Held(engine.name, safe(it.name), it.kinds) for it in _groups(connection)]


def redact_on_server(engine: PostgresEngine) -> Redaction:
    """Take the secrets out in one transaction, and let the tables go of the rows before.

    Raises DatabaseError.
    """
    held = secrets_on_server(engine)
    if not held:
        return Redaction([], [], [])
    with engine.pool.transaction() as connection:
        writing = PostgresRows(connection, keeps_vectors=engine.schema.has_vectors)
        for group in list(_groups(connection)):
            _write(connection, writing, group)
        writing.mend_index()
    with engine.pool.transaction() as connection:  # the rows that told of agents by their old names
        names = [it for (it,) in connection.execute("SELECT agent_id FROM revisions")]
        gone = [it for it in names if has_secret(it)]
        connection.execute("DELETE FROM revisions WHERE agent_id = ANY (%s)", (gone,))
    engine.purge()
    return Redaction(held, secrets_on_server(engine), [])


def _groups(connection: "Connection[Any]") -> Iterator[Group]:
    """Yield what holds secrets."""
    after = 0
    while some := connection.execute(
        "SELECT number, id FROM fragments WHERE number > %s ORDER BY number LIMIT %s",
        (after, _AT_ONCE),
    ).fetchall():
        after = some[-1][0]
        numbers, ids = [it[0] for it in some], [it[1] for it in some]
        own = _by(connection, FRAGMENTS, "id", "number = ANY (%s)", numbers)
        versions = _by(connection, VERSIONS, "fragment_id", "fragment_id = ANY (%s)", ids)
        for number, id_ in some:
            yield from group_of([*own.get(id_, ()), *versions.get(id_, ())], id_, number)
    left = _by(connection, VERSIONS, "''", _LEFT_BEHIND)
    yield from group_of(left.get("", ()))
    for table in (*BESIDE, _STATE):
        yield from group_of(_by(connection, table, "''", "true").get("", ()))


def _by(
    connection: "Connection[Any]", table: Table, name: str, condition: str, *values: object
) -> dict[str, list[tuple[Place, Row]]]:
    """Return the rows of a table by a name of theirs; a list of texts stands in them as JSON."""
    columns = [f"to_json({it})::text" if it in LISTS else it for it in table.columns]
    statement = (
        f"SELECT {name}, ctid::text, {', '.join(columns)} FROM {table.name}"
        f" WHERE {condition} ORDER BY 1, 2"
    )
    rows = connection.execute(statement, values)
    return {
        key: [(Place(table, at), dict(zip(table.columns, row, strict=True))) for _, at, *row in of]
        for key, of in groupby(rows, key=itemgetter(0))
    }


def _write(connection: "Connection[Any]", writing: PostgresRows, group: Group) -> None:
    """Store the cleaned rows; what is made of a fragment's texts follows them."""
    for (table, at), row in zip(group.places, group.rows, strict=True):
        values = {name: _stored(name, it) for name, it in row.items()}
        if table is FRAGMENTS:
            _replace(writing, group.number, values)
        else:
            _update(connection, table, at, values)


def _stored(name: str, value: Any) -> Any:
    return json.loads(value) if name in LISTS and value is not None else value


def _replace(writing: PostgresRows, number: int, values: Row) -> None:
    [before] = writing.by_numbers([number])
    after = replace(
        before,
        content=values["content"],
        topic=values["topic"],
        keywords=tuple(values["keywords"]),
        source=values["source"] or "",
        agent=values["agent_id"],
        session=values["session_id"] or "",
        last_session=values["last_session"] or "",
        content_hash=hash_of(values["content"]),
    )
    writing.replace([after])
    writing.drop_vectors([number])


def _update(connection: "Connection[Any]", table: Table, at: str, values: Row) -> None:
    """Change a row; one that would become like another one goes."""
    from psycopg.errors import UniqueViolation

    setting = ", ".join(f"{name} = %s" for name in values)
    try:
        with connection.transaction():  # a savepoint
            connection.execute(
                f"UPDATE {table.name} SET {setting} WHERE ctid = %s::tid", (*values.values(), at)
            )
    except UniqueViolation:
        connection.execute(f"DELETE FROM {table.name} WHERE ctid = %s::tid", (at,))
