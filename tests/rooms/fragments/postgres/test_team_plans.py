"""Tests by which plans a team's fragments are found: few rows are read, however many there are."""

import random
from array import array
from collections.abc import Callable, Iterator
from functools import partial
from math import sqrt
from typing import Any, NamedTuple

import pytest

from core.config import DEFAULT_AGENT
from core.postgres.pool import Pool
from core.room.full_text import INDEXED_VERSION
from rooms.fragments.fragment import Embedding, Filter, Fragment
from rooms.fragments.storage import postgres as storage
from rooms.fragments.storage.postgres import PostgresEngine, PostgresRows
from rooms.fragments.storage.postgres_schema import index_name
from tests.support.tables import text_of
from tests.support.team_engines import TeamServer, a_server

AGENT, MANY, OTHERS, RARE = "alice", 6_000, 60, 50
SEEN = (AGENT, DEFAULT_AGENT)
KINDS = ("preference", "error", "procedure")
DIMENSIONS, CLUSTERS, FEW, QUESTIONS = 32, 20, 2_000, 10
RECALL = 0.9  # the least share of the ten nearest that the index finds
# The rows that the server has read in a transaction, those of functions too.
COUNTED = """SELECT relname::text, pg_stat_get_xact_numscans(oid) AS scans,
    pg_stat_get_xact_tuples_returned(oid) + pg_stat_get_xact_tuples_fetched(oid) AS rows
  FROM pg_class WHERE relnamespace = 'agent_memory'::regnamespace AND relkind IN ('r', 'i')"""


@pytest.fixture(scope="module")
def engine(team_server: TeamServer) -> Iterator[PostgresEngine]:
    made = PostgresEngine(a_server(team_server.new_dsn()), timeout_s=5)
    assert made.exists()
    with made.pool.login_transaction() as connection:
        facts = {"many": MANY, "agent": AGENT, "others": OTHERS, "rare": RARE}
        connection.execute(text_of("many_fragments.sql", indexed=INDEXED_VERSION, **facts))
    yield made
    made.close()


@pytest.fixture(scope="module")
def embedded(engine: PostgresEngine) -> PostgresEngine:
    """The same with vectors, about some centres, as those of texts about some subjects are."""
    chance, vectors = random.Random(5), list[Embedding]()
    centres = [[chance.gauss(0, 1) for _ in range(DIMENSIONS)] for _ in range(CLUSTERS)]
    with engine.writing() as rows:
        for number in range(2, 2 * MANY + 1):  # all but one
            floats = [it + chance.gauss(0, 1) for it in centres[number % CLUSTERS]]
            length = sqrt(sum(it * it for it in floats))
            vectors.append(Embedding(number, array("f", [it / length for it in floats]).tobytes()))
        rows.put_vectors(vectors)
    engine.purge()  # the rows without their vectors
    with engine.pool.login_transaction() as connection:
        connection.execute("ANALYZE")
    return engine


class Read(NamedTuple):
    """The reads for an answer. scanned: indexes, and tables of which every row was looked at;
    rows: of tables and entries of indexes.
    """

    answer: Any
    scanned: set[str]
    rows: int


def read(engine: PostgresEngine, ask: Callable[[PostgresRows], Any], agent: str = AGENT) -> Read:
    with engine.pool.transaction(agent=agent, changes=False) as connection:
        rows = PostgresRows(connection, agent, keeps_vectors=True)
        before = {name: tuple(it) for name, *it in rows.run(COUNTED)}
        answer = ask(rows)
        after = {name: tuple(it) for name, *it in rows.run(COUNTED)}
    scanned = {name for name in after if after[name][0] > before[name][0]}
    return Read(answer, scanned, sum(after[it][1] - before[it][1] for it in after))


ASKED_BY_CALLS: list[Callable[[PostgresRows], Any]] = [
    lambda it: it.find(Filter(agents=SEEN, kinds=KINDS), order="newest", limit=100),
    lambda it: it.find(Filter(agents=SEEN, kinds=KINDS), order="worth", limit=20),
    lambda it: it.find(Filter(), order="worth", limit=50),
    lambda it: it.find(Filter(agents=SEEN, lifetimes=("working",)), order="worth", limit=20),
    lambda it: it.find(Filter(agents=SEEN, is_anchor=True), limit=500),
    lambda it: it.find(Filter(agents=SEEN, content_hash="7", state="all"), limit=10),
    lambda it: it.find(Filter(agents=SEEN, keywords=("rare9",)), limit=10),
    lambda it: it.has(Filter(agents=SEEN), 400),
    lambda it: it.coverage("bhzz", 400),
    lambda it: it.text_range(),
    lambda it: it.count_keywords(["rare9"], Filter(), 50),
    lambda it: it.count_keywords(["rare9"], Filter(agents=SEEN), 50),
    lambda it: it.count_keywords(["rare9"], Filter(kinds=("fact",)), 50),
    lambda it: it.links(["f1"]),
]


@pytest.mark.parametrize("agent", [AGENT, "agent7"])
def test_a_question_of_a_call_reads_few_rows(engine: PostgresEngine, agent: str) -> None:
    for number, ask in enumerate(ASKED_BY_CALLS):
        for _ in range(7):  # the server keeps a plan for the later ones
            assert read(engine, ask, agent).rows < 1_500, number
    assert read(engine, lambda it: it.find(Filter(agents=SEEN))).rows > MANY  # they are counted


@pytest.mark.long  # the index of the vectors costs much
def test_a_fragment_without_a_vector_is_told_by_that_alone(embedded: PostgresEngine) -> None:
    missing = Filter(has_vector=False)
    assert read(embedded, lambda it: it.count(missing), "").rows < 100
    assert read(embedded, lambda it: it.find(missing, limit=32), "").rows < 100


@pytest.mark.row("002 2.21")
@pytest.mark.parametrize("agent", [AGENT, ""])
@pytest.mark.parametrize(
    ("ask", "index"),
    [
        (lambda it: it.newest_texts(["'bizz' & 'text'"], 400), "idx_fragments_found_by"),
        (lambda it: it.newest_texts(["'bh':*"], 400), "idx_fragments_found_by"),
        (lambda it: it.count_keywords(["rare9"], Filter(), 50), "idx_fragments_keywords"),
        (lambda it: it.find(Filter(keywords=("rare9",))), "idx_fragments_keywords"),
        (
            lambda it: it.count_keywords(["rare9"], Filter(agents=SEEN), 50),
            "idx_fragments_keywords",
        ),
        (lambda it: it.find(Filter(agents=SEEN), order="worth", limit=10), "idx_fragments_worth"),
    ],
)
def test_a_question_is_answered_by_its_index_for_an_agent_too(
    engine: PostgresEngine, agent: str, ask: Callable[[PostgresRows], Any], index: str
) -> None:
    found = read(engine, ask, agent)
    assert found.answer[0] and index in found.scanned and "fragments" not in found.scanned


def test_the_number_of_texts_follows_every_change(team_pool: Pool) -> None:
    engine = PostgresEngine(team_pool.server, timeout_s=5)

    def counted() -> dict[str, int]:
        with team_pool.transaction() as connection:
            kept = connection.execute("SELECT agent_id, texts FROM agent_memory.revisions")
            return {agent: texts for agent, texts in kept if texts}

    many = [Fragment(id=f"f{at}", content="x", agent=f"a{at % 2}") for at in range(120)]
    with engine.writing() as rows:
        numbers = [it.number for it in rows.add(many)]
    assert counted() == {"a0": 60, "a1": 60}
    with engine.for_agent("a0").writing() as own:
        own.set_fields(numbers[:20], {"deleted_at": "2026-01-01T00:00:00+00:00"})
        own.set_fields(numbers, {"importance": 0.1})
        own.drop(it.id for it in many[10:40])  # of which ten are not live
    assert counted() == {"a0": 40, "a1": 60}
    with engine.writing() as rows:
        rows.set_fields(numbers[:10], {"deleted_at": "", "agent": "a1"})
        assert not rows.mend_index()
    assert counted() == {"a0": 40, "a1": 65}
    with team_pool.transaction() as connection:
        connection.execute("UPDATE agent_memory.revisions SET texts = 7")
    with engine.writing() as rows:
        assert rows.mend_index() and not rows.mend_index()
    assert counted() == {"a0": 40, "a1": 65}
    engine.close()


# Vectors: exactly of few, by an index among many.


@pytest.fixture
def few(embedded: PostgresEngine, monkeypatch: pytest.MonkeyPatch) -> PostgresEngine:
    monkeypatch.setattr(storage, "MOST_COMPARED", FEW)
    return embedded


def near(engine: PostgresEngine, agent: str) -> Iterator[tuple[list[int], list[int], set[str]]]:
    """For some vectors the ten found, the ten nearest, and the scanned indexes and tables."""
    for number in range(2, 2 + QUESTIONS):
        with engine.reading() as rows:
            [(_, vector)] = rows.vectors([number])
        ask = partial(PostgresRows.nearest_cosines, vector=vector, filter_=Filter(), most=10)
        found = read(engine, ask, agent)
        with engine.pool.transaction(agent=agent, changes=False) as connection:
            connection.execute("SET LOCAL enable_indexscan = off")
            exact = connection.execute(
                "SELECT number FROM fragments WHERE embedding IS NOT NULL"
                " ORDER BY embedding <#> %s::vector, number DESC LIMIT 10",
                (str(array("f", vector).tolist()),),
            ).fetchall()
        yield [it for it, _ in found.answer], [it for (it,) in exact], found.scanned


@pytest.mark.long
@pytest.mark.row("002 2.14.a")
def test_an_agent_with_few_fragments_among_many_strangers_gets_its_nearest(
    few: PostgresEngine,
) -> None:
    for found, exact, scanned in near(few, "agent7"):
        assert found == exact and len(found) == 10
        assert not scanned & {index_name(DIMENSIONS), "fragments"}


@pytest.mark.long
@pytest.mark.row("002 2.14.a", "002 2.22")
def test_an_agent_with_many_fragments_finds_by_the_index(few: PostgresEngine) -> None:
    hits = list[int]()
    for found, exact, scanned in near(few, AGENT):
        assert index_name(DIMENSIONS) in scanned
        hits.append(len({*found} & {*exact}))
    assert sum(hits) / (10 * QUESTIONS) >= RECALL


@pytest.mark.row("002 2.14")
@pytest.mark.parametrize("dimensions", [3, 2_000, 2_001, 4_000, 4_001])
def test_the_upkeep_makes_an_index_of_a_new_length(
    team_server: TeamServer, monkeypatch: pytest.MonkeyPatch, dimensions: int
) -> None:
    monkeypatch.setattr(storage, "MOST_COMPARED", 1)
    engine = PostgresEngine(a_server(team_server.emptied_dsn()), timeout_s=5)
    axes = [array("f", [at == i for at in range(dimensions)]).tobytes() for i in (0, 1)]
    for agent in ("alice", ""):  # an agent stores one without the right to make an index
        some = [Fragment(id=f"{agent}{at}", content="x", agent="alice") for at in (0, 1)]
        with engine.for_agent(agent).writing() as rows:
            numbers = [it.number for it in rows.add(some)]
            rows.put_vectors(map(Embedding, numbers, axes))
        with engine.for_agent("alice").reading() as rows:
            assert rows.nearest_cosines(axes[1], Filter(), 1) == [(numbers[1], 1.0)]
        with engine.pool.transaction(changes=False) as connection:
            made = {it for (it,) in connection.execute("SELECT indexname FROM pg_indexes")}
        assert (index_name(dimensions) in made) is (not agent and dimensions <= 4_000)
    engine.close()
