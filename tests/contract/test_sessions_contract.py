"""Checks the sessions against their specification, from outside: the tools over standard input, the
files, and the database as any other program reads it.
"""

import contextlib
import json
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import StartServer
from tests.support.tables import table

# The schema as the specification writes it: a column may have more beside it, none may be missing;
# by table and column what the name of an index says, "" for the column. And what a save may have.
COLUMNS, INDEXES, WHOLE = table("session_tables").values()


@pytest.mark.row("003 T4", "003 T6", "003 T9", "003 T10", "003 T11", "003 T16", "003 T17")
@pytest.mark.row("003 T26.c", "003 T33")
def test_a_session_stands_in_the_tables_and_columns_of_the_specification(
    start_server: StartServer, tmp_path: Path
) -> None:
    answers = {"SENTINEL_MEMORY_ANSWERS": "json"}
    server = start_server("--rooms", "sessions", cwd=tmp_path, environment=answers)
    saved = json.loads(server.call("context_save", **WHOLE))

    def sql(statement: str, *values: object) -> list[dict[str, Any]]:
        database = tmp_path / ".context" / "sessions" / "history.db"
        with contextlib.closing(sqlite3.connect(database)) as connection, connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(statement, values)]

    for name, columns in COLUMNS.items():
        found = {row["name"] for row in sql(f"PRAGMA table_info({name})")}
        assert set(columns.split()) <= found, name
    for owner, names in INDEXES.items():
        listed = {row["name"] for row in sql(f"PRAGMA index_list({owner})")}
        for column, name in names.items():
            index = f"idx_{owner}_{name or column}"
            assert index in listed
            assert [row["name"] for row in sql(f"PRAGMA index_info({index})")] == [column]

    [row] = sql("SELECT * FROM contexts WHERE id = ?", saved["id"])
    for name in ("goal", "summary"):
        assert row[name] == row[f"{name}_short"] == WHOLE[name]
    assert json.loads(row["tags"]) == ["인증", "JWT"]
    assert (row["status"], row["has_warnings"]) == ("debugging", 1)
    assert (row["parent_id"], row["ended_at"]) == (None, None)
    assert row["agent"]
    told = json.loads(row["metadata"])
    assert set(told) == {"decisions", "approaches", "blockers", "codeChanges"}
    assert [sorted(it) for it in told["decisions"]] == [["madeBy", "timestamp", "what", "why"]]
    assert [set(it) for it in told["approaches"]] == [
        {"description", "result", "reason", "timestamp"},
        {"description", "result", "timestamp"},
    ]
    [blocker] = told["blockers"]
    assert blocker["resolved"] is False and blocker["discoveredAt"]
    assert told["codeChanges"] == WHOLE["codeChanges"]
    for name in ("started_at", "created_at"):
        moment = datetime.fromisoformat(row[name])
        assert abs((datetime.now(UTC) - moment).total_seconds()) < 300

    # The statement with which the specification takes over an older file; the rest has defaults.
    sql("INSERT INTO contexts (id, goal, started_at)"
        " VALUES ('theirs', 'their goal', '2025-12-20T09:00:00Z')")  # fmt: skip
    sql("INSERT INTO actions (id, context_id, type, content)"
        " VALUES ('a1', 'theirs', 'command', 'npm test')")  # fmt: skip
    [row] = sql("SELECT * FROM contexts WHERE id = 'theirs'")
    assert (row["status"], row["tags"], row["metadata"]) == ("planning", "[]", "{}")
    assert row["has_warnings"] == 0 and row["created_at"]
    answer = json.loads(server.call("context_get", id="theirs"))
    assert answer["context"]["goal"] == "their goal"
    assert [it["content"] for it in answer["actions"]] == ["npm test"]
