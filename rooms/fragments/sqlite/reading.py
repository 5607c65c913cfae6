"""Reads fragments from one connection."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from core.room.full_text import IndexTerms, holding_of
from core.text.ranking import Holding
from rooms.fragments.engine import By, Entry, Order, Wanted
from rooms.fragments.fragment import Embedding, Fragment, Link, column_of
from rooms.fragments.sqlite.conditions import (
    ANY_OF,
    MOST_NUMBER,
    bound,
    conditions_of,
    listed,
)
from rooms.fragments.sqlite.index import INDEX
from rooms.fragments.sqlite.rows import condition_of
from rooms.fragments.sqlite.vectors import Vectors
from rooms.fragments.stored.rows import SELECTED, TABLES, entry_of, fragment_of, link_of, spelled

_ORDERS: dict[Order, str] = {
    "number": "number",
    "newest": "created_at DESC, number DESC",
    "worth": "is_anchor DESC, importance DESC, created_at DESC, number DESC",
}
_HAS_VECTOR = "number IN (SELECT number FROM fragment_vectors)"
_SPARE, _LEAST_NEAR = 4, 100  # nearest that are looked at, before it is asked who is meant


class SqliteReading:
    """See `Reading`. file: what tells the file of the connection from another, None for none."""

    def __init__(
        self, connection: sqlite3.Connection, vectors: Vectors, file: object = None
    ) -> None:
        self._connection, self._vectors, self._file = connection, vectors, file

    def by_ids(self, ids: Iterable[str]) -> list[Fragment]:
        """See `Reading`."""
        return self._by("id", list(ids))

    def by_numbers(self, numbers: Iterable[int]) -> list[Fragment]:
        """See `Reading`."""
        return self._by("number", list(numbers))

    def find(
        self, wanted: Wanted, *, order: Order = "number", limit: int = 0, offset: int = 0
    ) -> list[Fragment]:
        """See `Reading`."""
        condition, values = conditions_of(wanted)
        rows = self._connection.execute(
            f"SELECT {SELECTED} FROM fragments WHERE {condition}"
            f" ORDER BY {_ORDERS[order]} LIMIT ? OFFSET ?",
            (*values, bound(limit or MOST_NUMBER), bound(offset)),
        )
        return [fragment_of(row) for row in rows]

    def count(self, wanted: Wanted, by: By = "", *, least: int = 0) -> dict[str, int]:
        """See `Reading`."""
        condition, values = conditions_of(wanted)
        column = column_of(by) if by else "''"
        group = f" GROUP BY 1 HAVING count(*) >= {least:d} ORDER BY 1" if by else ""
        statement = f"SELECT {column}, count(*) FROM fragments WHERE {condition}{group}"
        return dict(self._connection.execute(statement, values).fetchall())

    def has(self, wanted: Wanted, count: int = 1) -> bool:
        """See `Reading`."""
        condition, values = conditions_of(wanted)
        some = f"SELECT 1 FROM fragments WHERE {condition} LIMIT ?"
        row = self._connection.execute(
            f"SELECT count(*) FROM ({some})", (*values, bound(count))
        ).fetchone()
        return bool(row[0] >= count)

    def with_keywords(
        self, keywords: Sequence[str], wanted: Wanted, most: int
    ) -> list[tuple[int, int]]:
        """See `Reading`."""
        plain = dict.fromkeys(map(spelled, keywords))
        meant, values = "is_live", tuple[Any, ...]()
        if wanted != Wanted():  # else the keywords alone tell it
            condition, values = conditions_of(wanted)
            meant = (
                "EXISTS (SELECT 1 FROM fragments"
                f" WHERE fragments.number = fragment_keywords.number AND {condition})"
            )
        rows = self._connection.execute(
            f"SELECT number, count(*) FROM fragment_keywords WHERE keyword {ANY_OF} AND {meant}"
            " GROUP BY number ORDER BY 2 DESC, 1 DESC LIMIT ?",
            (listed(plain), *values, bound(most)),
        )
        return rows.fetchall()

    def holding(self, query: str, most: int) -> Holding:
        """See `Reading`."""
        return holding_of(IndexTerms(self._connection, INDEX), query, most)

    def near(self, vector: bytes, wanted: Wanted, most: int) -> list[tuple[int, float]]:
        """See `Reading`."""
        # Nearly always all are meant, or most of them: a few of the nearest are asked for first.
        some = max(most * _SPARE, _LEAST_NEAR)
        nearest = self._vectors.near(self._connection, vector, some, file=self._file)
        condition, values = conditions_of(wanted)
        meant = f"SELECT number FROM fragments WHERE {condition} AND {_HAS_VECTOR}"
        given = listed(number for number, _ in nearest)
        rows = self._connection.execute(f"{meant} AND number {ANY_OF}", (*values, given))
        allowed = {number for (number,) in rows}
        found = [it for it in nearest if it[0] in allowed]
        if len(found) < most and len(nearest) == some:
            allowed = {number for (number,) in self._connection.execute(meant, values)}
            found = self._vectors.near(
                self._connection, vector, most, file=self._file, allowed=allowed
            )
        return found[:most]

    def vectors(self, numbers: Iterable[int]) -> list[Embedding]:
        """See `Reading`."""
        rows = self._connection.execute(
            f"SELECT number, embedding FROM fragment_vectors WHERE number {ANY_OF} ORDER BY number",
            (listed(numbers),),
        )
        return [Embedding(number, vector) for number, vector in rows if isinstance(vector, bytes)]

    def links(self, ids: Iterable[str], relations: Sequence[str] = ()) -> list[Link]:
        """See `Reading`."""
        wanted = listed(ids)
        kinds = f" AND relation_type {ANY_OF}" if relations else ""
        rows = self._connection.execute(
            "SELECT from_id, to_id, relation_type, created_at FROM fragment_links"
            f" WHERE (from_id {ANY_OF} OR to_id {ANY_OF}){kinds} ORDER BY id",
            (wanted, wanted, *([listed(relations)] if relations else [])),
        )
        return [link_of(row) for row in rows]

    def count_links(self, wanted: Wanted) -> dict[str, int]:
        """See `Reading`."""
        condition, values = conditions_of(wanted)
        rows = self._connection.execute(
            "SELECT relation_type, count(*) FROM fragment_links"
            f" WHERE from_id IN (SELECT id FROM fragments WHERE {condition}) GROUP BY 1 ORDER BY 1",
            values,
        )
        return dict(rows.fetchall())

    def entries(
        self, kind: type[Entry], *, of: str = "", since: str = "", limit: int = 0
    ) -> list[Any]:
        """See `Reading`."""
        table = TABLES[kind]
        condition, values = condition_of(table, of=of, since=since)
        rows = self._connection.execute(
            f"SELECT {', '.join(table.columns)} FROM {table.name} WHERE {condition}"
            f" ORDER BY {table.order} LIMIT ?",
            (*map(bound, values), bound(limit or MOST_NUMBER)),
        )
        return [entry_of(kind, row) for row in rows]

    def count_entries(self, kind: type[Entry]) -> int:
        """See `Reading`."""
        [count] = self._connection.execute(f"SELECT count(*) FROM {TABLES[kind].name}").fetchone()
        return int(count)

    def state(self) -> dict[str, str]:
        """See `Reading`."""
        rows = self._connection.execute("SELECT name, value FROM state ORDER BY name")
        return {name: value for name, value in rows if name != "index"}

    def revisions(self) -> Mapping[str, str]:
        """See `Reading`: a file is read as fast as what another server would keep of it."""
        return {}

    def _by(self, column: str, keys: Sequence[Any]) -> list[Fragment]:
        rows = self._connection.execute(
            f"SELECT {SELECTED} FROM fragments WHERE {column} {ANY_OF}", (listed(keys),)
        )
        found = {getattr(it, column): it for it in map(fragment_of, rows)}
        return [found[key] for key in dict.fromkeys(keys) if key in found]
