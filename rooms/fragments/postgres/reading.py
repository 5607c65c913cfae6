"""Reads fragments from a transaction on a PostgreSQL server."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from core.config import DEFAULT_AGENT
from core.room.full_text import holding_of
from core.text.ranking import Holding
from rooms.fragments.fragment import By, Embedding, Entry, Fragment, Link, Order, Wanted, column_of
from rooms.fragments.postgres import vectors
from rooms.fragments.postgres.conditions import (
    Condition,
    bound,
    conditions_of,
    entries_where,
    numbers_of,
)
from rooms.fragments.postgres.terms import LIVE, PostgresTerms, agents_of, keyword_terms
from rooms.fragments.postgres.values import MOST_NUMBER, speaking
from rooms.fragments.storage.columns import ENTRIES, FRAGMENTS, LINKS, is_moment

if TYPE_CHECKING:
    from psycopg import Connection

_SELECTED = FRAGMENTS.selected
INDEX = "index"  # in the state: which version of `indexed` the terms are of; nobody else asks
_ORDERS: dict[Order, str] = {
    "number": "number",
    "newest": "created_at DESC, number DESC",
    "worth": "is_anchor DESC, importance DESC, created_at DESC, number DESC",
}
# None for fragments without a revision: somebody has put them there beside the tables' triggers.
_REVISIONS = """SELECT a.agent, coalesce(r.revision::text,
    CASE WHEN NOT EXISTS (SELECT FROM fragments f WHERE f.agent_id = a.agent) THEN '' END)
  FROM unnest(%s::text[]) AS a(agent) LEFT JOIN revisions r ON r.agent_id = a.agent"""


class PostgresFinding:
    """Finds fragments; see `Reading`. agent: whose transaction it is, "" for that of all."""

    def __init__(self, connection: "Connection[Any]", agent: str, *, has_vectors: bool) -> None:
        self._connection, self._agent, self._has_vectors = connection, agent, has_vectors
        self._cursor = speaking(connection.cursor())

    def by_ids(self, ids: Iterable[str]) -> list[Fragment]:
        """See `Reading`."""
        keys = list(ids)
        return self._by("id", keys, keys)

    def by_numbers(self, numbers: Iterable[int]) -> list[Fragment]:
        """See `Reading`."""
        keys = list(numbers)
        return self._by("number", keys, numbers_of(keys))

    def find(
        self, wanted: Wanted, *, order: Order = "number", limit: int = 0, offset: int = 0
    ) -> list[Fragment]:
        """See `Reading`."""
        some, agents = limit or MOST_NUMBER, agents_of(self._agent, wanted.agents)
        by, last = _ORDERS[order], (bound(some), bound(offset))
        if limit and agents.values:  # the first of each, in the order of an index
            condition, values = conditions_of(wanted)
            each = (*agents.values, *values, bound(limit + offset))
            statement = (
                f"SELECT {_SELECTED} FROM {agents.table} AS a(agent) CROSS JOIN LATERAL (SELECT *"
                f" FROM fragments WHERE agent_id = a.agent AND {condition} ORDER BY {by} LIMIT %s)"
                f" AS fragments ORDER BY {by} LIMIT %s OFFSET %s"
            )
            return list(map(FRAGMENTS.read, self._rows(statement, (*each, *last))))
        condition, values = self._meant(wanted)
        statement = (
            f"SELECT {_SELECTED} FROM fragments WHERE {condition} ORDER BY {by} LIMIT %s OFFSET %s"
        )
        return list(map(FRAGMENTS.read, self._rows(statement, (*values, *last))))

    def count(self, wanted: Wanted, by: By = "", *, least: int = 0) -> dict[str, int]:
        """See `Reading`."""
        condition, values = self._meant(wanted)
        column = f"coalesce({column_of(by)}, '')" if by else "''"
        group = f" GROUP BY 1 HAVING count(*) >= {least:d}" if by else ""
        statement = f"SELECT {column}, count(*) FROM fragments WHERE {condition}{group}"
        return dict(sorted(self._rows(statement, values)))

    def has(self, wanted: Wanted, count: int = 1) -> bool:
        """See `Reading`."""
        agents = agents_of(self._agent, wanted.agents)
        condition, values = conditions_of(wanted)
        some = f"SELECT FROM fragments WHERE {condition} LIMIT %s"
        if agents.values:  # of each by itself, as in `find`
            each = f"SELECT FROM fragments WHERE agent_id = a.agent AND {condition} LIMIT %s"
            some = f"SELECT FROM {agents.table} AS a(agent) CROSS JOIN LATERAL ({each}) AS each"
        given = (*agents.values, *values, bound(count))
        [(found,)] = self._rows(f"SELECT count(*) FROM ({some}) AS its", given)
        return bool(found >= count)

    def with_keywords(
        self, keywords: Sequence[str], wanted: Wanted, most: int
    ) -> list[tuple[int, int]]:
        """See `Reading`."""
        agents = agents_of(self._agent, wanted.agents)
        terms, meant, values = keyword_terms(keywords, (LIVE,)), "true", tuple[Any, ...]()
        if wanted != Wanted():  # else the keywords alone tell it
            terms = keyword_terms(keywords)
            condition, values = conditions_of(wanted)
            meant = (
                "EXISTS (SELECT FROM fragments WHERE fragments.number = t.number"
                f" AND fragments.agent_id = t.agent_id AND {condition})"
            )
        statement = (
            f"SELECT t.number, count(*) FROM {agents.table} AS a(agent) JOIN fragment_terms t"
            f" ON t.agent_id = a.agent WHERE t.term = ANY (%s::text[]) AND {meant}"
            " GROUP BY 1 ORDER BY 2 DESC, 1 DESC LIMIT %s"
        )
        return self._rows(statement, (*agents.values, terms, *values, bound(most)))

    def holding(self, query: str, most: int) -> Holding:
        """See `Reading`."""
        return holding_of(PostgresTerms(self._cursor, self._agent), query, most)

    def near(self, vector: bytes, wanted: Wanted, most: int) -> list[tuple[int, float]]:
        """See `Reading`."""
        if not self._has_vectors:
            return []
        return vectors.near(self._cursor, self._agent, vector, wanted, most)

    def vectors(self, numbers: Iterable[int]) -> list[Embedding]:
        """See `Reading`."""
        return vectors.stored(self._cursor, numbers) if self._has_vectors else []

    def _meant(self, wanted: Wanted) -> Condition:
        """Return the condition for the fragments that are meant, and whose they are."""
        condition, values = conditions_of(wanted)
        agents = agents_of(self._agent, wanted.agents)
        if not agents.values:
            return condition, values
        return f"agent_id = ANY (%s::text[]) AND {condition}", (*agents.values, *values)

    def _by(self, column: str, keys: Sequence[Any], known: Sequence[Any]) -> list[Fragment]:
        kind = "bigint" if column == "number" else "text"
        statement = f"SELECT {_SELECTED} FROM fragments WHERE {column} = ANY (%s::{kind}[])"
        rows = self._rows(statement, (list(known),)) if known else []
        found = {getattr(it, column): it for it in map(FRAGMENTS.read, rows)}
        return [found[key] for key in dict.fromkeys(keys) if key in found]

    def _rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        return self._cursor.execute(statement, values).fetchall()


class PostgresReading(PostgresFinding):
    """See `Reading`: what is kept beside the fragments, too."""

    def links(self, ids: Iterable[str], relations: Sequence[str] = ()) -> list[Link]:
        """See `Reading`."""
        wanted = list(ids)
        kinds = " AND relation_type = ANY (%s::text[])" if relations else ""
        each = (
            f"SELECT * FROM fragment_links WHERE {end} = ANY (%s::text[]){kinds}"
            for end in ("from_id", "to_id")  # by the index of each
        )
        statement = (
            "SELECT from_id, to_id, relation_type, created_at"
            f" FROM ({' UNION '.join(each)}) AS its ORDER BY id"
        )
        given = (wanted, *([list(relations)] if relations else [])) * 2
        return list(map(LINKS.read, self._rows(statement, given)))

    def count_links(self, wanted: Wanted) -> dict[str, int]:
        """See `Reading`."""
        condition, values = self._meant(wanted)
        statement = (
            "SELECT relation_type, count(*) FROM fragment_links WHERE from_id IN"
            f" (SELECT id FROM fragments WHERE {condition}) GROUP BY 1"
        )
        return dict(sorted(self._rows(statement, values)))

    def entries(
        self, kind: type[Entry], *, of: str = "", since: str = "", limit: int = 0
    ) -> list[Any]:
        """See `Reading`."""
        table = ENTRIES[kind]
        condition, values = entries_where(table, of=of, since=since)
        order = ", ".join(map(_in_order, table.order))
        statement = (
            f"SELECT {table.selected} FROM {table.name} WHERE {condition} ORDER BY {order} LIMIT %s"
        )
        rows = self._rows(statement, (*values, bound(limit or MOST_NUMBER)))
        return [table.read(row) for row in rows]

    def count_entries(self, kind: type[Entry]) -> int:
        """See `Reading`."""
        [(count,)] = self._rows(f"SELECT count(*) FROM {ENTRIES[kind].name}")
        return int(count)

    def state(self) -> dict[str, str]:
        """See `Reading`. Figures that agents have counted are added up."""
        kept, statement = dict[str, str](), "SELECT name, value FROM state WHERE name <> %s"
        rows = self._rows(f'{statement} ORDER BY name COLLATE "C"', (INDEX,))
        for name, value in rows:
            before = kept.get(name, "0")
            is_figure = before.isdecimal() and value.isdecimal()
            kept[name] = str(int(before) + int(value)) if is_figure else value
        return kept

    def revisions(self) -> Mapping[str, str]:
        """See `Reading`. {} for all agents: nobody asks for these what others have asked."""
        agents = list(dict.fromkeys((self._agent, DEFAULT_AGENT)))
        rows = self._rows(_REVISIONS, (agents,)) if self._agent else []
        return dict(rows) if all(it is not None for _, it in rows) else {}


def _in_order(column: str) -> str:
    if is_moment(column):
        return f"{column} NULLS FIRST"
    return column if column == "id" else f'{column} COLLATE "C"'
