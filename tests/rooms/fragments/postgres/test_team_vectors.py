"""Tests that vectors of a team are found exactly by few, and by an index among many."""

import json
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from core.postgres.pool import Pool
from rooms.fragments.fragment import Embedding, Fragment, Wanted
from rooms.fragments.postgres import tables, vectors
from rooms.fragments.postgres.adapter import PostgresEngine
from rooms.fragments.postgres.schema import Schema
from rooms.fragments.postgres.terms import EVERY
from rooms.fragments.postgres.values import speaking
from tests.support.team_engines import TeamServer, a_server
from tests.support.team_engines import team_server as team_server

DIMENSIONS, CLUSTERS, SMALL = 384, 50, 50
QUESTIONS = 10
RECALL = 0.9  # the least share of the ten nearest that the index finds

# Vectors lie about some centres, as those of texts about some subjects do.
# By Box and Muller: PostgreSQL 15 has no random_normal().
_NORMAL = "sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())"
_CENTRES = f"""CREATE TEMP TABLE centres ON COMMIT DROP AS
SELECT i, (SELECT array_agg({_NORMAL}) FROM generate_series(1, {DIMENSIONS}) WHERE i = i)
  ::vector AS centre FROM generate_series(0, {CLUSTERS - 1}) i"""
_ROWS = f"""INSERT INTO fragments (id, content, topic, type, importance, agent_id, embedding)
SELECT 'f' || n, 'text', 'topic', 'fact', 0.5,
  CASE WHEN mod(n, %s) = 0 THEN 'small' WHEN mod(n, 5) = 1 THEN 'other' || mod(n, 97)
    ELSE 'big' END,
  l2_normalize(centre + (SELECT array_agg({_NORMAL})
    FROM generate_series(1, {DIMENSIONS}) WHERE n = n)::vector)
FROM generate_series(1, %s) n JOIN centres ON i = mod(n, {CLUSTERS})"""


class Explained:
    """A cursor that notes the plan of each question before it asks it."""

    def __init__(self, cursor: Any) -> None:
        self._cursor, self.plans = cursor, list[str]()

    def execute(self, statement: str, values: Sequence[Any] = (), **how: Any) -> Any:
        if statement.startswith("SELECT number"):
            explained = self._cursor.execute(f"EXPLAIN (FORMAT JSON) {statement}", values)
            self.plans.append(json.dumps(explained.fetchone()[0]))
        return self._cursor.execute(statement, values, **how)


@dataclass(slots=True)
class Crowd:
    """Vectors of agents, as many as there are."""

    pool: Pool
    count: int

    def asked(self, of: str) -> list[bytes]:
        """Vectors to be asked for: those of some fragments of an agent."""
        with self.pool.transaction(changes=False) as connection:
            rows = connection.execute(
                "SELECT number FROM fragments WHERE agent_id = %s ORDER BY number LIMIT %s",
                (of, QUESTIONS),
            ).fetchall()
            cursor = speaking(connection.cursor())
            return [it.vector for it in vectors.stored(cursor, [at for (at,) in rows])]

    def near(self, agent: str, vector: bytes) -> tuple[list[tuple[int, float]], str]:
        """The nearest ten, and the plans by which they were found."""
        with self.pool.transaction(agent=agent, changes=False) as connection:
            cursor = speaking(connection.cursor())
            watched = Explained(cursor)
            found = vectors.near(watched, agent, vector, Wanted(), 10)
            assert vectors.near(cursor, agent, vector, Wanted(), 10) == found
            return found, " ".join(watched.plans)

    def nearest(self, agent: str, vector: bytes) -> list[int]:
        """The nearest ten, by looking at all that the agent has."""
        text = vectors.text_of(array("f", vector))
        with self.pool.transaction(changes=False) as connection:
            connection.execute("SET LOCAL enable_indexscan = off")
            rows = connection.execute(
                "SELECT number FROM fragments WHERE agent_id = %s"
                " ORDER BY embedding <#> %s::vector, number DESC LIMIT 10",
                (agent, text),
            ).fetchall()
        return [number for (number,) in rows]


def filled(server: TeamServer, count: int) -> Crowd:
    """A database with vectors of a small agent, a big one and others."""
    pool = Pool(a_server(server.new_dsn()))
    assert Schema(pool).is_ready()
    with pool.transaction() as connection:
        connection.execute("SET LOCAL statement_timeout = 0; SET LOCAL maintenance_work_mem='1GB'")
        connection.execute("SELECT setseed(0.5)")
        connection.execute(_CENTRES)
        connection.execute(_ROWS, (count // SMALL, count))
        connection.execute(
            "INSERT INTO fragment_terms SELECT agent_id, %s, number FROM fragments", (EVERY,)
        )
        vectors.put_index(connection.cursor(), DIMENSIONS)
    with pool.transaction() as connection:
        connection.execute("ANALYZE")
    return Crowd(pool, count)


@pytest.fixture(scope="module")
def some(team_server: TeamServer) -> Iterator[Crowd]:
    made = filled(team_server, 2_000)
    yield made
    made.pool.close()


@pytest.fixture
def crowd(some: Crowd, monkeypatch: pytest.MonkeyPatch) -> Crowd:
    monkeypatch.setattr(vectors, "FEW", 500)
    return some


@pytest.fixture
def engine(team_server: TeamServer) -> Iterator[PostgresEngine]:
    made = PostgresEngine(a_server(team_server.emptied_dsn()), timeout_s=10.0)
    yield made
    made.close()


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.14.a")
def test_an_agent_with_few_fragments_among_many_strangers_gets_its_nearest(crowd: Crowd) -> None:
    for vector in crowd.asked("big") + crowd.asked("small"):
        found, plans = crowd.near("small", vector)
        assert [number for number, _ in found] == crowd.nearest("small", vector)
        assert tables.index_name(DIMENSIONS) not in plans
        assert '"Node Type": "Seq Scan"' not in plans


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.14.a")
def test_an_agent_with_many_fragments_finds_by_the_index(crowd: Crowd) -> None:
    hits = list[int]()
    for vector in crowd.asked("big") + crowd.asked("small"):
        found, plans = crowd.near("big", vector)
        assert len(found) == 10
        assert tables.index_name(DIMENSIONS) in plans
        hits.append(len({it for it, _ in found} & set(crowd.nearest("big", vector))))
    assert sum(hits) / (10 * len(hits)) >= RECALL


@pytest.mark.row("002 2.14")
@pytest.mark.parametrize("dimensions", [3, 2_000, 2_001, 4_000])
def test_the_upkeep_makes_an_index_of_a_new_length(
    engine: PostgresEngine, monkeypatch: pytest.MonkeyPatch, dimensions: int
) -> None:
    monkeypatch.setattr(vectors, "FEW", 1)
    made = [*(Fragment(id=f"f{it}", content="x", created_at=f"2026-01-0{it}T00:00:00+00:00")
              for it in (1, 2, 3))]  # fmt: skip
    axes = [[float(at == place) for at in range(dimensions)] for place in (0, 1, 2)]
    with engine.writing() as writing:
        added = writing.add(made)
        writing.put_vectors(
            Embedding(it.number, array("f", axis).tobytes())
            for it, axis in zip(added, axes, strict=True)
        )
    for agent in ("", "default"):
        with engine.for_agent(agent).reading() as reading:
            found = reading.near(array("f", axes[1]).tobytes(), Wanted(), 1)
            assert found == [(added[1].number, 1.0)]
    assert tables.index_name(dimensions) in indexes(engine)


def test_a_vector_that_is_too_long_for_an_index_is_found(engine: PostgresEngine) -> None:
    vector = array("f", [1.0, *[0.0] * 4_000]).tobytes()
    with engine.writing() as writing:
        [added] = writing.add([Fragment(id="f1", content="x")])
        writing.put_vectors([Embedding(added.number, vector)])
    with engine.reading() as reading:
        assert reading.near(vector, Wanted(), 1) == [(added.number, 1.0)]
    assert tables.index_name(4_001) not in indexes(engine)


def test_an_agent_stores_a_vector_without_the_right_to_make_an_index(
    engine: PostgresEngine,
) -> None:
    vector = array("f", [1.0, 0.0]).tobytes()
    with engine.for_agent("alice").writing() as writing:
        [added] = writing.add([Fragment(id="f1", content="x", agent="alice")])
        writing.put_vectors([Embedding(added.number, vector)])
    with engine.for_agent("alice").reading() as reading:
        assert reading.near(vector, Wanted(), 1) == [(added.number, 1.0)]
    assert tables.index_name(2) not in indexes(engine)


def indexes(engine: PostgresEngine) -> set[str]:
    """The names of the indexes of the fragments."""
    with engine.pool.transaction(changes=False) as connection:
        rows = connection.execute("SELECT indexname FROM pg_indexes").fetchall()
    return {name for (name,) in rows}
