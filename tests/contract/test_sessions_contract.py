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


@pytest.mark.row("003 T66")
def test_the_searches_of_the_specification_work_on_the_index(room: Room) -> None:
    room("save", **WHOLE)
    room("save", goal="payment", summary="결제", status="completed")
    simple = """SELECT c.* FROM contexts c
JOIN contexts_fts fts ON c.rowid = fts.rowid
WHERE contexts_fts MATCH ?
ORDER BY rank
LIMIT 20"""
    assert [row["goal"] for row in room.sql(simple, "인증")] == [WHOLE["goal"]]
    both = """SELECT c.* FROM contexts c
JOIN contexts_fts fts ON c.rowid = fts.rowid
WHERE contexts_fts MATCH '인증 OR JWT OR 결제'
  AND c.status = 'completed'
  AND c.created_at > date('now', '-30 days')
ORDER BY rank
LIMIT 20"""
    assert [row["goal"] for row in room.sql(both)] == ["payment"]


@pytest.mark.row("003 T18")
def test_the_short_forms_have_at_most_fifty_and_a_hundred_characters(room: Room) -> None:
    room("save", goal="목" * 500, summary="요" * 2000)
    [row] = room.sql("SELECT * FROM contexts")
    assert (len(row["goal"]), len(row["summary"])) == (500, 2000)
    assert len(row["goal_short"]) == 50 and len(row["summary_short"]) == 100


@pytest.mark.row("003 T19")
def test_a_goal_and_a_summary_above_their_limit_are_refused(room: Room) -> None:
    assert "500" in room.refusal("save", goal="g" * 501)
    assert "2,000" in room.refusal("save", goal="g", summary="s" * 2001)
    assert not (room.folder / "history.db").exists()


@pytest.mark.row("003 T9.a")
@pytest.mark.parametrize("status", ["completed", "paused"])
def test_a_session_ends_when_it_is_completed_or_paused(room: Room, status: str) -> None:
    room("save", goal="g", status="coding")
    assert room.sql("SELECT ended_at FROM contexts") == [{"ended_at": None}]
    room("save", goal="g", status=status)
    [row] = room.sql("SELECT ended_at FROM contexts")
    assert row["ended_at"]


def test_a_second_save_of_the_goal_updates_and_an_id_updates_any(room: Room) -> None:
    first = room("save", goal="g", summary="one")
    assert room("save", goal="g", summary="two")["id"] == first["id"]
    assert room("save", goal="other")["id"] != first["id"]
    assert room("save", id=first["id"], goal="renamed")["id"] == first["id"]
    rows = room.sql("SELECT goal, summary FROM contexts ORDER BY rowid")
    assert rows == [{"goal": "renamed", "summary": "two"}, {"goal": "other", "summary": ""}]


@pytest.mark.row("003 T8", "003 T16", "003 T34")
def test_sessions_are_linked_and_a_child_clears_the_flag_of_its_parent(room: Room) -> None:
    parent = room("save", goal="A", blockers=[{"description": "no access"}])
    assert room.sql("SELECT has_warnings FROM contexts") == [{"has_warnings": 1}]
    solved = [{"description": "no access", "resolved": True, "resolution": "asked"}]
    child = room("save", goal="B", parentId=parent["id"], blockers=solved)
    [row] = room.sql("SELECT * FROM contexts WHERE id = ?", child["id"])
    assert row["parent_id"] == parent["id"]
    [row] = room.sql("SELECT * FROM contexts WHERE id = ?", parent["id"])
    assert row["has_warnings"] == 0
    assert json.loads(row["metadata"])["blockers"][0]["resolved"] is True
    chain = room("get", id=child["id"], includeChain=True)["chain"]
    assert [it["id"] for it in chain] == [parent["id"], child["id"]]


@pytest.mark.row("003 T2", "003 T2.a")
def test_current_json_shows_the_last_session_whole(room: Room) -> None:
    room("save", goal="first")
    saved = room("save", **WHOLE)
    told = json.loads((room.folder / "current.json").read_text("utf-8"))
    assert told["id"] == saved["id"]
    assert {name: told[name] for name in ("goal", "summary", "status", "tags")} == {
        name: WHOLE[name] for name in ("goal", "summary", "status", "tags")
    }
    assert set(told["metadata"]) == {"decisions", "approaches", "blockers", "codeChanges"}
    (room.folder / "current.json").write_text('{"id": "forged", "goal": "forged"}')
    assert room("get", id=saved["id"])["context"]["goal"] == WHOLE["goal"]  # it is never read back
    room("save", goal="third")
    assert json.loads((room.folder / "current.json").read_text("utf-8"))["goal"] == "third"


CONFIG = """{
  "storage": {"location": ".context-sync", "dbFile": "mine.db", "keepJsonSync": false},
  "actionLogging": {"enabled": true,
    "commands": {"include": ["npm", "git commit", "docker"], "exclude": ["ls", "cd", "git status"]},
    "edits": true, "errors": true},
  "search": {"defaultLimit": 2, "ftsLanguage": "unicode61"},
  "recommendations": {"enabled": true, "showOnSessionStart": true, "warnOnFailedPatterns": true}
}"""


@pytest.mark.row("003 T1", "003 T1.a", "003 T75")
def test_config_json_says_where_and_what(room: Room) -> None:
    room.folder.mkdir(parents=True)
    (room.folder / "config.json").write_text(CONFIG)
    for goal in ("a", "b", "c"):
        room("save", goal=goal)
    place = room.root / ".context-sync"
    assert (place / "mine.db").is_file() and not (place / "current.json").exists()
    assert sorted(path.name for path in room.folder.iterdir()) == ["config.json"]
    found = room("search")
    assert (len(found["hints"]), found["total"], found["hasMore"]) == (2, 3, True)


@pytest.mark.row("003 T77.a")
@pytest.mark.parametrize(
    ("name", "value"),
    [("storage.location", "../outside"), ("search.defaultLimit", 0), ("storage.dbFile", "a/b.db"),
     ("storage.keepJsonSync", "yes"), ("actionLogging.commands.include", "npm")],
)  # fmt: skip
def test_a_wrong_value_of_config_json_is_said_by_its_key(
    room: Room, name: str, value: object
) -> None:
    for key in reversed(name.split(".")):
        value = {key: value}
    room.folder.mkdir(parents=True)
    (room.folder / "config.json").write_text(json.dumps(value))
    for said in (room.refusal("save", goal="g"), room.refusal("search")):
        assert name in said and "config.json" in said
    assert [path.name for path in room.folder.iterdir()] == ["config.json"]
    (room.folder / "config.json").unlink()
    assert room("save", goal="g")["id"]  # the server is still there


@pytest.mark.row("003 T1", "003 T1.c")
def test_git_carries_no_database(room: Room) -> None:
    room("save", goal="g")
    ignored = (room.folder / ".gitignore").read_text("utf-8").split("\n")
    assert "*.db*" in ignored and not any(line.startswith("current") for line in ignored)
