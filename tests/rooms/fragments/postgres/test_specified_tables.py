"""Tests that the tables on a server have the names, columns and indexes of the specification."""

from typing import Any

import pytest

from core.postgres.pool import Pool
from tests.support.team_engines import team_database as team_database
from tests.support.team_engines import team_pool as team_pool
from tests.support.team_engines import team_server as team_server

# By table the columns that are declared, but `linked_to`, which is what `fragment_links` say.
# fmt: off
COLUMNS = {
    "fragments":
        "id content topic keywords type importance content_hash source agent_id access_count"
        " accessed_at created_at ttl_tier estimated_tokens utility_score verified_at embedding"
        " is_anchor",
    "fragment_links": "id from_id to_id relation_type created_at",
    "tool_feedback":
        "id tool_name relevant sufficient suggestion context session_id trigger_type created_at",
    "task_feedback":
        "id session_id overall_success tool_highlights tool_pain_points created_at",
    "fragment_versions":
        "id fragment_id content topic keywords type importance amended_at amended_by",
}
# By name, what its definition says.
INDEXES = {
    "idx_fragments_hash": "(agent_id, content_hash)",
    "idx_fragments_topic": "(agent_id, plain_topic)",
    "idx_fragments_created": "created_at DESC",
    "idx_fragments_worth": "importance DESC",
    "idx_fragments_keywords": "USING gin (plain_keywords)",
    "idx_fragments_tier": "(ttl_tier, created_at)",
    "idx_fragments_source": "(source)",
    "idx_fragments_verified": "(verified_at)",
    "idx_fragments_anchor": "WHERE is_anchor",
}
# fmt: on


def rows(pool: Pool, statement: str, *values: Any) -> list[Any]:
    with pool.as_login(changes=False) as connection:
        return connection.execute(statement, values).fetchall()


@pytest.mark.row("002 2.11", "002 2.12.r")
@pytest.mark.parametrize("table", COLUMNS)
def test_the_tables_of_a_server_have_the_declared_columns(team_pool: Pool, table: str) -> None:
    found = rows(
        team_pool,
        "SELECT column_name::text, data_type::text, udt_name::text FROM information_schema.columns"
        " WHERE table_schema = 'agent_memory' AND table_name = %s",
        table,
    )
    assert {*COLUMNS[table].split()} <= {name for name, _, _ in found}
    kinds = {name: kind for name, kind, _ in found}
    assert {kind for name, kind in kinds.items() if name.endswith("_at")} == {
        "timestamp with time zone"
    }
    udts = {name: it for name, _, it in found}
    assert all(
        it == "_text" for name, it in udts.items() if name in ("keywords", "tool_highlights")
    )
    assert table != "fragments" or udts["embedding"] == "vector"


@pytest.mark.row("002 2.11", "002 2.13.h", "002 2.13.j", "002 2.13.k", "002 2.13.l", "002 2.14")
def test_the_indexes_of_a_server_are_the_declared_ones(team_pool: Pool) -> None:
    statement = "SELECT indexname::text, indexdef FROM pg_indexes WHERE schemaname = 'agent_memory'"
    found = dict(rows(team_pool, statement))
    for name, said in INDEXES.items():
        assert said in found[name], found[name]
    near = found["idx_fragments_embedding_1536"]
    for said in ("USING hnsw", "vector_cosine_ops", "m='16'", "ef_construction='64'"):
        assert said in near
    assert "embedding IS NOT NULL" in near
