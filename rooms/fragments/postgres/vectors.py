"""Finds the vectors that are nearest to another, by the server, and says how near they are.

The server looks at all vectors of an agent that has few fragments, and asks its index about those
of one with many. What it finds is compared once more, as exactly as SQLite's engine does it.
"""

import sys
from array import array
from collections.abc import Iterable
from math import isfinite
from operator import mul
from typing import Any

from rooms.fragments.fragment import Embedding, Wanted
from rooms.fragments.postgres import tables
from rooms.fragments.postgres.conditions import conditions_of, numbers_of
from rooms.fragments.postgres.terms import EVERY, agents_of

FEW = 20_000  # fragments, all of which are looked at
DIGITS = 6  # of a cosine
_SPARE = 40  # more of the nearest than are wanted: the server adds up less exactly
_FEWEST_HELD, _MOST_HELD = 400, 1_000  # vectors that the index holds while it looks (`ef_search`)
_FLOAT_BYTES, _HEAD_BYTES = 4, 4


def floats_of(vector: bytes) -> "array[float] | None":
    """Return the numbers of a vector, None for what is none."""
    if not vector or len(vector) % _FLOAT_BYTES:
        return None
    floats = array("f", vector)
    if sys.byteorder == "big":
        floats.byteswap()
    return floats if all(map(isfinite, floats)) else None


def text_of(floats: Iterable[float]) -> str:
    """Return a vector as a statement takes it."""
    return f"[{','.join(map(repr, floats))}]"


def stored(cursor: Any, numbers: Iterable[int]) -> list[Embedding]:
    """Return the embeddings of fragments by number."""
    rows = cursor.execute(
        "SELECT number, embedding FROM fragments WHERE number = ANY (%s::bigint[])"
        " AND embedding IS NOT NULL ORDER BY number",
        (numbers_of(numbers),),
        binary=True,
    ).fetchall()
    return [Embedding(number, _bytes_of(given)) for number, given in rows]


def near(
    cursor: Any, agent: str, vector: bytes, wanted: Wanted, most: int
) -> list[tuple[int, float]]:
    """See `Reading`."""
    floats = floats_of(vector)
    if not floats or most < 1:
        return []
    some, rows = min(most, 2**31) + _SPARE, list[Any]()
    if _is_indexed(cursor, agent, wanted, len(floats)):
        rows = _nearest(cursor, agent, floats, wanted, some, by_index=True)
    if len(rows) < some:
        rows = _nearest(cursor, agent, floats, wanted, some, by_index=False)
    found = [
        (number, round(sum(map(mul, floats, floats_of(_bytes_of(it)) or ())), DIGITS))
        for number, it in rows
    ]
    return sorted(found, key=lambda it: (-it[1], -it[0]))[:most]


def put_index(cursor: Any, dimensions: int) -> None:
    """Make the index of vectors of a length where it is missing, for which it is asked as upkeep.

    It is made with the first vector of its length, when there is nothing yet to go into it, however
    long that may take where it was lost.
    """
    if dimensions > tables.MOST_INDEXED or _has_index(cursor, dimensions):
        return
    [limit] = cursor.execute("SELECT current_setting('statement_timeout')").fetchone()
    cursor.execute("SET LOCAL statement_timeout = 0")
    cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # no index is made with a trigger waiting
    cursor.execute(tables.vector_index(dimensions))
    cursor.execute("SET CONSTRAINTS ALL DEFERRED")
    cursor.execute("SELECT set_config('statement_timeout', %s, true)", (limit,))


def _has_index(cursor: Any, dimensions: int) -> bool:
    name = f"{tables.SCHEMA}.{tables.index_name(dimensions)}"
    return bool(cursor.execute("SELECT to_regclass(%s) IS NOT NULL", (name,)).fetchone()[0])


def _is_indexed(cursor: Any, agent: str, wanted: Wanted, dimensions: int) -> bool:
    """Return whether there is an index, and so many fragments that it is of use."""
    if dimensions > tables.MOST_INDEXED or not _has_index(cursor, dimensions):
        return False
    agents = agents_of(agent, wanted.agents)
    row = cursor.execute(
        f"SELECT EXISTS (SELECT FROM {agents.table} AS a(agent)"
        " CROSS JOIN LATERAL (SELECT FROM fragment_terms WHERE agent_id = a.agent AND term = %s"
        " OFFSET %s LIMIT 1) many)",
        (*agents.values, EVERY, FEW),
    ).fetchone()
    return bool(row[0])


def _nearest(
    cursor: Any, agent: str, floats: "array[float]", wanted: Wanted, some: int, *, by_index: bool
) -> list[Any]:
    condition, values = conditions_of(wanted)
    agents, size = agents_of(agent, wanted.agents), len(floats)
    whose = "agent_id = ANY (%s::text[]) AND" if agents.values else ""
    if by_index:
        cursor.execute(
            "SELECT set_config('hnsw.iterative_scan', 'strict_order', true),"
            " set_config('hnsw.ef_search', %s, true)",
            (str(min(max(some * 2, _FEWEST_HELD), _MOST_HELD)),),
        )
        order = f"{tables.indexed(size)} <=> {tables.indexed(size).replace('embedding', '%s')}"
    else:
        order = "embedding <#> %s::vector, number DESC"
    rows: list[Any] = cursor.execute(
        f"SELECT number, embedding FROM fragments WHERE {whose} {condition}"
        f" AND embedding IS NOT NULL AND vector_dims(embedding) = {size}"
        f" ORDER BY {order} LIMIT %s",
        (*agents.values, *values, text_of(floats), some),
        binary=True,
    ).fetchall()
    return rows


def _bytes_of(given: bytes) -> bytes:
    """Return a vector as the room has it, of what the server sends."""
    floats = array("f", bytes(given)[_HEAD_BYTES:])
    if sys.byteorder == "little":
        floats.byteswap()
    return _little(floats)


def _little(floats: "array[float]") -> bytes:
    if sys.byteorder == "big":
        floats.byteswap()
    return floats.tobytes()
