"""Tests what a call reads: few rows however many there are, and all of them after a cut."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

import pytest

from core.config import DEFAULT_AGENT
from core.postgres.errors import ConnectionCutError
from core.postgres.pool import Pool
from rooms.fragments.context import restore_context
from rooms.fragments.draft import remember
from rooms.fragments.fragment import Wanted
from rooms.fragments.links import explore
from rooms.fragments.postgres.adapter import PostgresEngine
from rooms.fragments.postgres.reading import PostgresReading
from rooms.fragments.postgres.terms import EVERY
from rooms.fragments.recall import Query, recall
from rooms.fragments.room import Room
from rooms.fragments.storage.engine import Engine
from rooms.fragments.storage.rows import Rows
from rooms.fragments.upkeep.statistics import statistics_of
from tests.core.postgres.test_postgres_pool import end_others
from tests.support.team_crowd import draft, stored, team_room
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


class Cut:
    """An engine whose connections end in its next transaction, before its first question."""

    def __init__(self, engine: Engine, dsn: str, *, times: int) -> None:
        self._engine, self._dsn, self._left = engine, dsn, times

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    @contextmanager
    def reading(self) -> Iterator[Rows]:
        with self._engine.reading() as reading:
            self._cut()
            yield reading

    @contextmanager
    def writing(self, *, wait_s: float | None = None) -> Iterator[Rows]:
        with self._engine.writing(wait_s=wait_s) as writing:
            self._cut()
            yield writing

    def _cut(self) -> None:
        if self._left:
            self._left -= 1
            end_others(self._dsn)


@pytest.fixture
def dsn(team_server: TeamServer) -> str:
    return team_server.emptied_dsn()


def cut(room: Room, dsn: str, *, times: int = 1) -> Room:
    return replace(room, engine=cast(Engine, Cut(room.engine, dsn, times=times)))


@pytest.mark.long  # it costs much
def test_every_tool_that_reads_answers_all_the_same(dsn: str) -> None:
    room = team_room(dsn).for_agent("alice")
    one = remember(room, draft("one")).fragment
    calls: list[Callable[[Room], Any]] = [
        lambda it: [found.id for found in recall(it, Query(text="zebra tax")).fragments],
        lambda it: restore_context(it, types=("fact",)),
        lambda it: explore(it, one.id),
        lambda it: statistics_of(it),
    ]
    for call in calls:
        # Of recalling, an answer depends on what was counted before: the same question each time.
        assert call(cut(room, dsn)) == call(room)
    with pytest.raises(ConnectionCutError):
        explore(cut(room, dsn, times=2), one.id)
    room.engine.close()


def test_a_change_that_is_cut_is_refused_and_not_made_again(dsn: str) -> None:
    room = team_room(dsn).for_agent("alice")
    with pytest.raises(ConnectionCutError, match="Make the same call again"):
        remember(cut(room, dsn), draft("one"))
    assert not stored(dsn)
    remember(room, draft("one"))
    assert list(stored(dsn).values()) == [1]
    room.engine.close()
