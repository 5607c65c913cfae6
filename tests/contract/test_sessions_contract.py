"""Checks the sessions against their specification, from outside: the tools over standard input, the
files, and the database as any other program reads it.
"""

import contextlib
import json
import shutil
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.support.stdio_client import ServerProcess

# The schema as the specification writes it: a column may have more beside it, none may be missing.
CONTEXTS = """id parent_id goal goal_short summary summary_short status tags agent metadata
 has_warnings started_at ended_at created_at""".split()
ACTIONS = "id context_id type content result file_path created_at".split()
INDEXES = {
    "idx_contexts_parent": ("contexts", "parent_id"),
    "idx_contexts_status": ("contexts", "status"),
    "idx_contexts_agent": ("contexts", "agent"),
    "idx_contexts_created": ("contexts", "created_at"),
    "idx_actions_context": ("actions", "context_id"),
    "idx_actions_type": ("actions", "type"),
    "idx_actions_file": ("actions", "file_path"),
}
WHOLE: dict[str, Any] = {
    "goal": "로그인 버그 수정",
    "summary": "JWT 만료 처리를 고쳤다",
    "status": "debugging",
    "tags": ["인증", "JWT"],
    "decisions": [{"what": "use fetch", "why": "small"}],
    "approaches": [
        {"description": "axios", "result": "failed", "reason": "CORS"},
        {"description": "fetch", "result": "success"},
    ],
    "blockers": [{"description": "no staging"}],
    "codeChanges": {"modifiedFiles": ["src/login.ts"], "summary": "retry"},
}


class Room:
    """A project with a server that offers the sessions and answers with the declared objects."""

    def __init__(self, root: Path, server: ServerProcess) -> None:
        self.root, self.server = root, server
        self.folder = root / ".context" / "sessions"

    def __call__(self, tool: str, **arguments: Any) -> Any:
        return json.loads(self.server.call(f"context_{tool}", **arguments))

    def refusal(self, tool: str, **arguments: Any) -> str:
        return self.server.refusal(f"context_{tool}", **arguments)

    def sql(self, statement: str, *values: object) -> list[dict[str, Any]]:
        with contextlib.closing(sqlite3.connect(self.folder / "history.db")) as connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(statement, values)]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    root = tmp_path_factory.mktemp("project")
    with ServerProcess(
        *("--project", str(root), "--rooms", "sessions"),
        cwd=root,
        stderr_path=tmp_path_factory.mktemp("said") / "stderr.txt",
        environment={"SENTINEL_MEMORY_ANSWERS": "json"},
    ) as server:
        yield Room(root, server)


@pytest.fixture
def room(served: Room) -> Iterator[Room]:
    """One server for all, whose project is empty again for each."""
    yield served
    for path in served.root.iterdir():
        shutil.rmtree(path)


@pytest.mark.row("003 T4", "003 T6")
def test_the_tables_the_index_and_their_columns_have_their_names(room: Room) -> None:
    room("save", goal="g")
    tables = {row["name"] for row in room.sql("SELECT name FROM sqlite_master")}
    assert {"contexts", "contexts_fts", "actions", *INDEXES} <= tables
    for table, columns in (("contexts", CONTEXTS), ("actions", ACTIONS)):
        found = [row["name"] for row in room.sql(f"PRAGMA table_info({table})")]
        assert set(columns) <= set(found), table
    fts = [row["name"] for row in room.sql("PRAGMA table_info(contexts_fts)")]
    assert fts == ["goal", "summary", "tags"]
    for name, (table, column) in INDEXES.items():
        [index] = [row for row in room.sql(f"PRAGMA index_list({table})") if row["name"] == name]
        assert [row["name"] for row in room.sql(f"PRAGMA index_info({name})")] == [column], index


@pytest.mark.row("003 T4", "003 T6", "003 T9")
def test_the_columns_have_their_defaults_and_only_the_declared_must_be_there(room: Room) -> None:
    """The statement with which the specification takes over an older file."""
    room("save", goal="g")
    with contextlib.closing(sqlite3.connect(room.folder / "history.db")) as connection, connection:
        connection.execute(
            "INSERT INTO contexts (id, goal, started_at) VALUES ('theirs', 'their goal', ?)",
            ("2025-12-20T09:00:00Z",),
        )
        connection.execute("INSERT INTO actions (id, context_id, type, content)"
                           " VALUES ('a1', 'theirs', 'command', 'npm test')")  # fmt: skip
    [row] = room.sql("SELECT * FROM contexts WHERE id = 'theirs'")
    assert (row["status"], row["tags"], row["metadata"]) == ("planning", "[]", "{}")
    assert row["has_warnings"] == 0 and row["created_at"]
    answer = room("get", id="theirs")
    assert answer["context"]["goal"] == "their goal"
    assert [it["content"] for it in answer["actions"]] == ["npm test"]


@pytest.mark.row("003 T4", "003 T10", "003 T11", "003 T16", "003 T17", "003 T26.c", "003 T33")
def test_a_saved_session_stands_in_the_columns_as_it_was_told(room: Room) -> None:
    answer = room("save", **WHOLE)
    [row] = room.sql("SELECT * FROM contexts WHERE id = ?", answer["id"])
    assert (row["goal"], row["summary"]) == (WHOLE["goal"], WHOLE["summary"])
    assert (row["goal_short"], row["summary_short"]) == (WHOLE["goal"], WHOLE["summary"])
    assert json.loads(row["tags"]) == ["인증", "JWT"]
    assert (row["status"], row["has_warnings"]) == ("debugging", 1)
    assert (row["parent_id"], row["ended_at"]) == (None, None)
    assert row["agent"]
    told = json.loads(row["metadata"])
    assert set(told) == {"decisions", "approaches", "blockers", "codeChanges"}
    [decision] = told["decisions"]
    assert set(decision) == {"what", "why", "madeBy", "timestamp"}
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
