"""Tests that what a call reads does not grow with the fragments that its agent has."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from core.postgres.pool import Pool
from core.settings import DEFAULT_AGENT
from rooms.fragments.engine import Wanted
from rooms.fragments.postgres.adapter import PostgresEngine
from rooms.fragments.postgres.reading import PostgresReading
from rooms.fragments.postgres.terms import EVERY
from tests.support.team_engines import TeamServer, a_server
from tests.support.team_engines import team_server as team_server

AGENT, MANY, OTHERS = "alice", 6_000, 60
SEEN = (AGENT, DEFAULT_AGENT)
KINDS = ("preference", "error", "procedure")
# One agent has most of them: the planner takes it to have as few as the others.
FILLED = f"""
INSERT INTO agent_memory.fragments
  (id, content, topic, type, importance, created_at, agent_id, content_hash,
   embedding)
  SELECT 'f' || n, 'text ' || n, 't', CASE n % 2 WHEN 0 THEN 'fact' ELSE 'error' END,
    n % 97 / 100.0, now() - n * interval '1 minute',
    CASE WHEN n <= {MANY} THEN '{AGENT}' ELSE 'agent' || n % {OTHERS} END, n::text,
    CASE n WHEN 7 THEN NULL ELSE '[1]'::vector END
  FROM generate_series(1, {2 * MANY}) n;
INSERT INTO agent_memory.fragment_terms
  SELECT agent_id, t, number FROM agent_memory.fragments, unnest(ARRAY['{EVERY}', 'text']) t;
INSERT INTO agent_memory.revisions (agent_id, texts)
  SELECT agent_id, count(*) FROM agent_memory.fragments GROUP BY 1;
ANALYZE"""


@pytest.fixture(scope="module")
def pool(team_server: TeamServer) -> Iterator[Pool]:
    engine = PostgresEngine(a_server(team_server.new_dsn()), timeout_s=5)
    assert engine.exists()
    with engine.pool.as_login() as connection:
        for statement in FILLED.split(";"):
            connection.execute(statement)
    yield engine.pool
    engine.close()


def rows_read(pool: Pool, ask: Callable[[PostgresReading], Any], agent: str = AGENT) -> int:
    """How many rows of the fragments and entries of the index of terms are read for an answer."""
    counted = """SELECT sum(pg_stat_get_xact_tuples_returned(oid)
      + pg_stat_get_xact_tuples_fetched(oid))::int FROM pg_class
      WHERE relnamespace = 'agent_memory'::regnamespace AND relkind IN ('r', 'i')"""
    with pool.transaction(agent=agent, changes=False) as connection:
        before = connection.execute(counted).fetchone() or [0]
        ask(PostgresReading(connection, agent, has_vectors=False))
        after = connection.execute(counted).fetchone() or [0]
    return int(after[0] - before[0])


@pytest.mark.long  # it costs much
def test_reading_everything_is_counted(pool: Pool) -> None:
    assert rows_read(pool, lambda it: it.find(Wanted(agents=SEEN))) > MANY


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    "ask",
    [
        lambda it: it.find(Wanted(agents=SEEN, kinds=KINDS), order="newest", limit=100),
        lambda it: it.find(Wanted(agents=SEEN, kinds=KINDS), order="worth", limit=100),
        lambda it: it.find(Wanted(agents=SEEN, lifetimes=("working",)), order="worth", limit=100),
        lambda it: it.find(Wanted(agents=SEEN, is_anchor=True), limit=500),
        lambda it: it.find(Wanted(agents=SEEN, content_hash="7", state="all"), limit=10),
        lambda it: it.has(Wanted(agents=SEEN), 400),
        lambda it: it.holding("text 17", 400),
        lambda it: it.links(["f1"]),
    ],
)
def test_a_question_of_a_call_reads_few_rows(
    pool: Pool, ask: Callable[[PostgresReading], Any]
) -> None:
    for _ in range(7):  # the server keeps a plan for the later ones
        assert rows_read(pool, ask) < 1_500


def test_how_many_fragments_lack_a_vector_is_told_by_those_alone(pool: Pool) -> None:
    missing = Wanted(has_vector=False)
    assert rows_read(pool, lambda it: it.count(missing), agent="") < 100
    assert rows_read(pool, lambda it: it.find(missing, limit=32), agent="") < 100
