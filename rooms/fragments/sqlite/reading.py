"""Reads fragments from one connection."""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from core.full_text.candidates import holding_of
from core.text.holding import Holding
from rooms.fragments.engine import By, Entry, Order, Wanted
from rooms.fragments.fragment import Embedding, Fragment, Link
from rooms.fragments.sqlite.conditions import conditions_of
from rooms.fragments.sqlite.index import INDEX, plain_keyword
from rooms.fragments.sqlite.rows import (
    SELECTED,
    TABLES,
    column_of,
    entry_of,
    fragment_of,
    link_of,
)
from rooms.fragments.sqlite.vectors import Vectors

_ORDERS: dict[Order, str] = {
    "number": "number",
    "newest": "created_at DESC, number DESC",
    "worth": "is_anchor DESC, importance DESC, created_at DESC, number DESC",
}
_AT_ONCE = 500  # values in one statement


class SqliteReading:
    """See `Reading`."""

    def __init__(self, connection: sqlite3.Connection, vectors: Vectors) -> None:
        self._connection, self._vectors = connection, vectors

    def by_ids(self, ids: Iterable[str]) -> list[Fragment]:
        """See `Reading`."""
        return self._by("id", list(ids))

    def by_numbers(self, numbers: Iterable[int]) -> list[Fragment]:
        """See `Reading`."""
        return self._by("number", list(numbers))

    def find(
        self, wanted: Wanted, *, order: Order = "number", limit: int, offset: int = 0
    ) -> list[Fragment]:
        """See `Reading`."""
        condition, values = conditions_of(wanted)
        rows = self._connection.execute(
            f"SELECT {SELECTED} FROM fragments WHERE {condition}"
            f" ORDER BY {_ORDERS[order]} LIMIT ? OFFSET ?",
            (*values, limit, offset),
        )
        return [fragment_of(row) for row in rows]

    def count(self, wanted: Wanted, by: By = "") -> dict[str, int]:
        """See `Reading`."""
        condition, values = conditions_of(wanted)
        column = column_of(by) if by else "''"
        rows = self._connection.execute(
            f"SELECT {column}, count(*) FROM fragments WHERE {condition} GROUP BY 1 ORDER BY 1",
            values,
        )
        return dict(rows.fetchall())

    def with_keywords(
        self, keywords: Sequence[str], wanted: Wanted, most: int
    ) -> list[tuple[int, int]]:
        """See `Reading`."""
        plain = list(dict.fromkeys(map(plain_keyword, keywords)))
        condition, values = conditions_of(wanted)
        rows = self._connection.execute(
            "SELECT number, count(*) FROM fragment_keywords"
            f" WHERE keyword IN ({', '.join('?' * len(plain))})"
            f" AND number IN (SELECT number FROM fragments WHERE {condition})"
            " GROUP BY number ORDER BY 2 DESC, 1 DESC LIMIT ?",
            (*plain, *values, most),
        )
        return [(number, having) for number, having in rows]

    def holding(self, query: str, most: int) -> Holding:
        """See `Reading`."""
        return holding_of(self._connection, INDEX, query, most)

    def near(self, vector: bytes, wanted: Wanted, most: int) -> list[tuple[int, float]]:
        """See `Reading`."""
        condition, values = conditions_of(wanted)
        rows = self._connection.execute(f"SELECT number FROM fragments WHERE {condition}", values)
        allowed = {number for (number,) in rows}
        return self._vectors.near(self._connection, vector, allowed, most)

    def vectors(self, numbers: Iterable[int]) -> list[Embedding]:
        """See `Reading`."""
        wanted = ", ".join(map(str, numbers))
        rows = self._connection.execute(
            f"SELECT number, embedding FROM fragment_vectors WHERE number IN ({wanted})"
            " ORDER BY number"
        )
        return [Embedding(number, vector) for number, vector in rows]

    def links(self, ids: Iterable[str], relations: Sequence[str] = ()) -> list[Link]:
        """See `Reading`."""
        wanted = list(ids)
        places = ", ".join("?" * len(wanted))
        kinds = f" AND relation_type IN ({', '.join('?' * len(relations))})" if relations else ""
        rows = self._connection.execute(
            "SELECT from_id, to_id, relation_type, created_at FROM fragment_links"
            f" WHERE (from_id IN ({places}) OR to_id IN ({places})){kinds} ORDER BY id",
            (*wanted, *wanted, *relations),
        )
        return [link_of(row) for row in rows]

    def entries(
        self, kind: type[Entry], *, of: str = "", since: str = "", limit: int = 0
    ) -> list[Any]:
        """See `Reading`."""
        table = TABLES[kind]
        given = {f"{table.about} = ?": of, f"{table.moment} >= ?": since}
        condition = " AND ".join([key for key, value in given.items() if value] or ["1"])
        values = [value for value in given.values() if value]
        rows = self._connection.execute(
            f"SELECT {', '.join(table.columns)} FROM {table.name} WHERE {condition}"
            f" ORDER BY {table.order} LIMIT ?",
            (*values, limit or -1),
        )
        return [entry_of(kind, row) for row in rows]

    def state(self) -> dict[str, str]:
        """See `Reading`."""
        rows = self._connection.execute("SELECT name, value FROM state ORDER BY name")
        return {name: value for name, value in rows if name != "index"}

    def _by(self, column: str, keys: Sequence[Any]) -> list[Fragment]:
        found = dict[Any, Fragment]()
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            places = ", ".join("?" * len(some))
            rows = self._connection.execute(
                f"SELECT {SELECTED} FROM fragments WHERE {column} IN ({places})", tuple(some)
            )
            found.update((getattr(it, column), it) for it in map(fragment_of, rows))
        return [found[key] for key in dict.fromkeys(keys) if key in found]
