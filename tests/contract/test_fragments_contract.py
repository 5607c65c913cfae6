"""Checks the fragments against their two specifications, from outside: the tools as a client calls
them, the database as any other program reads it, and servers over their streams.
"""

import contextlib
import json
import os
import re
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core.text.plain import estimate_tokens
from tests.support.cli_process import Run
from tests.support.room_tools import calling
from tests.support.servers import OLDER, ServerProcess, hello, until
from tests.support.stand_in_service import Answer, Asked, embeddings, environment_of, stand_in
from tests.support.tables import ROOT, table

# The schemas as the specifications write them: a table may have more, none may be missing but for
# `linked_to`, which is the table of links, and `embedding`, which has a table of its own.
TABLES, INDEXES, DEFAULTS = table("fragment_tables").values()
VARIABLES = ("SENTINEL_MEMORY_LANG", "SENTINEL_MEMORY_EMBEDDINGS", "SENTINEL_MEMORY_JUDGE")


class Room:
    """The tools of the fragments over one database; they answer with the declared objects."""

    def __init__(self, database: Path) -> None:
        self.database, self.text = database, calling("fragments")

    def __call__(self, tool: str, **arguments: Any) -> Any:
        return json.loads(self.text(tool, **arguments))

    def saved(self, content: str, **arguments: Any) -> str:
        """The id of a new fragment."""
        answer = self("remember", content=content, **arguments)
        assert answer["created"] is True
        return str(answer["id"])

    def sql(self, statement: str, *values: object) -> list[dict[str, Any]]:
        with contextlib.closing(sqlite3.connect(self.database)) as connection, connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(statement, values)]


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Room:
    for name in (*VARIABLES, "OPENAI_API_KEY", "EMBEDDING_MODEL", "EMBEDDING_DIMENSIONS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SENTINEL_MEMORY_FRAGMENTS", str(tmp_path / "memory.db"))
    monkeypatch.setenv("SENTINEL_MEMORY_ANSWERS", "json")
    return Room(tmp_path / "memory.db")


@pytest.mark.row("002 2.11", "002 2.12.d", "002 2.12.k", "002 2.12.n", "002 2.12.p", "002 2.12.r")
@pytest.mark.row("002 2.12.s", "002 2.13.a", "002 2.13.b", "002 2.13.c", "002 2.13.d", "002 2.13.e")
@pytest.mark.row("002 2.13.f", "002 2.13.g", "002 2.13.h", "002 2.13.i", "002 2.15.a", "002 2.15.b")
@pytest.mark.row("002 2.15.g", "002 2.16.g", "002 2.85", "004 4.3", "004 4.8", "004 4.8.b")
@pytest.mark.row("004 4.9")
def test_the_tables_the_indexes_and_the_columns_are_those_of_the_specification(room: Room) -> None:
    one, two = (room.saved(f"Rule {at} of the vault", topic=f"t{at}") for at in range(2))
    for name, columns in TABLES.items():
        found = {row["name"]: row["dflt_value"] for row in room.sql(f"PRAGMA table_info({name})")}
        assert set(columns.split()) <= found.keys(), name
        if name == "fragments":
            assert {column: found[column] for column in columns.split()} == DEFAULTS
    [words] = room.sql("SELECT sql FROM sqlite_master WHERE name = 'fragments_fts'")
    assert "fts5(content" in words["sql"]
    for name, columns in INDEXES.items():
        indexed = [row["name"] for row in room.sql(f"PRAGMA index_info({name})")]
        assert indexed == columns.split(), name
    [keywords] = room.sql("SELECT count(*) AS n FROM fragment_keywords WHERE keyword = 'vault'")
    assert keywords["n"] == 2
    room("link", fromId=one, toId=two)
    with pytest.raises(sqlite3.IntegrityError):  # a pair of ids is unique
        room.sql(
            "INSERT INTO fragment_links (from_id, to_id, relation_type, created_at)"
            " SELECT from_id, to_id, 'part_of', created_at FROM fragment_links"
        )


@pytest.mark.row("002 2.12.d", "002 2.12.g", "002 2.12.i", "002 2.12.m", "002 2.12.o", "002 2.12.q")
@pytest.mark.row("002 2.34", "002 2.35.a", "002 2.36", "002 2.36.b", "002 2.36.c", "002 2.88")
@pytest.mark.row("002 2.88.c")
def test_a_fragment_stands_in_the_columns_as_it_was_told(room: Room) -> None:
    other = room.saved("The pool holds 20 connections", topic="pool")
    told: dict[str, Any] = {
        "content": "Redis Sentinel 연결 실패 시 REDIS_PASSWORD 누락을 먼저 확인할 것"
    }
    told |= {"topic": "redis", "type": "error", "source": "runbook.md", "privacy_scope": "public"}
    more: dict[str, Any] = {"keywords": ["redis", "noauth"], "importance": 0.95, "isAnchor": True}
    id_ = room.saved(**told, **more, linkedTo=[other], agentId="reviewer")
    [row] = room.sql("SELECT * FROM fragments WHERE id = ?", id_)
    assert {name: row[name] for name in told} == told
    assert (row["importance"], row["agent_id"]) == (0.95, "reviewer")
    assert json.loads(row["keywords"]) == ["redis", "noauth"]
    assert (row["is_anchor"], row["ttl_tier"]) == (1, "permanent")
    assert (row["access_count"], row["accessed_at"]) == (0, "")  # the upkeep of the day weighs it
    assert row["estimated_tokens"] == estimate_tokens(row["content"])
    assert row["content_hash"] and row["verified_at"] == row["created_at"]
    [link] = room.sql("SELECT from_id, relation_type, to_id FROM fragment_links")
    assert [*link.values()] == [id_, "related", other]


@pytest.mark.row("002 2.25", "002 2.26.b", "002 2.38.e", "002 2.66.i", "002 2.88.a")
def test_recall_answers_within_its_budget_and_with_as_many_links_as_the_settings_say(
    room: Room,
) -> None:
    start, rule = room.saved("The login fails at staging", topic="login"), "Rule {} of the vault: "
    rule += "close both of its doors behind you, and say so to whoever is in the room" * 3
    for at in range(25):
        id_ = room.saved(rule.format(at), topic=f"t{at}")
        if at < 12:
            room("link", fromId=start, toId=id_)
    for given, most in (({}, 1000), ({"tokenBudget": 2000}, 2000), ({"tokenBudget": 300}, 300)):
        answer = room.text("recall", text="vault doors", **given)
        told = json.loads(answer)
        assert 0.5 * most < estimate_tokens(answer) <= most
        assert told["count"] == len(told["fragments"]) > 0 < told["left_out"]
    asked = {"text": "login fails", "tokenBudget": 20_000}
    assert len(room("recall", **asked)["linked"]) == 10
    (room.database.parent / "config.json").write_text('{"linkedFragmentLimit": 3}')
    assert len(room("recall", **asked)["linked"]) == 3


# Servers of their own, which answer over pipes.

Serve = Callable[..., ServerProcess]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts a server with this database, that of the directory if none is given."""
    with contextlib.ExitStack() as running:

        def start(database: Path = tmp_path / "memory.db", **more: str) -> ServerProcess:
            words = ("--project", str(tmp_path), "--rooms", "fragments")
            where = {"SENTINEL_MEMORY_FRAGMENTS": str(database), **more}
            said = tmp_path / "stderr.txt"
            server = ServerProcess(*words, cwd=tmp_path, stderr_path=said, environment=where)
            return running.enter_context(server)

        yield start


def column(folder: Path, question: str) -> list[object]:
    with contextlib.closing(sqlite3.connect(folder / "memory.db")) as connection:
        return [row[0] for row in connection.execute(question)]


def saved(server: ServerProcess, content: str, **arguments: Any) -> str:
    """The id of the fragment that a server has stored."""
    found = re.search(r": (\w{8})\.", server.call("remember", content=content, **arguments))
    assert found
    return found[1]


@pytest.mark.row("002 2.1", "004 4.11", "004 4.12", "004 4.15", "004 4.18", "004 4.18.a")
def test_one_fragment_is_a_resource_five_go_into_a_prompt_and_a_copy_of_the_file_is_a_backup(
    serve: Serve, tmp_path: Path
) -> None:
    server = serve()
    for version in OLDER:
        greeting = server.answer(server._ask("initialize", hello(version)))["result"]
        assert greeting["protocolVersion"] == version
    ids = [saved(server, f"Rule {at} of the vault") for at in range(8)]
    server.call("link", fromId=ids[0], toId=ids[1], relationType="resolved_by")
    server.call("amend", id=ids[0], content="Rule 0 of both vaults")
    asked = server.request("resources/read", {"uri": f"memory://fragment/{ids[0]}"})
    [content] = asked["result"]["contents"]
    told = json.loads(content["text"])
    assert (told["id"], told["content"]) == (ids[0], "Rule 0 of both vaults")
    assert [it["to_id"] for it in told["links"]] == [ids[1]]
    assert [it["content"] for it in told["versions"]] == ["Rule 0 of the vault"]
    assert "error" in server.request("resources/read", {"uri": "memory://fragment/nobody"})

    def injected(budget: str) -> str:
        given = {"query": "vault rule", "token_budget": budget}
        asked = server.request("prompts/get", {"name": "memory_injection", "arguments": given})
        [message] = asked["result"]["messages"]
        return str(message["content"]["text"])

    assert sum(id_ in injected("1500") for id_ in ids) == 5
    assert estimate_tokens(injected("200")) <= 200
    server.close()
    copy = tmp_path / "elsewhere" / "memory.db"
    copy.parent.mkdir()
    copy.write_bytes((tmp_path / "memory.db").read_bytes())
    assert "Rule 3 of the vault" in serve(copy).call("recall", query="vault rule 3")


@pytest.mark.row("002 2.10.f", "002 2.28", "002 2.36.a", "002 2.46", "002 2.51", "002 2.65.a")
@pytest.mark.row("002 2.91")
def test_upkeep_tells_its_progress_and_working_memory_ends_with_the_process_behind_a_last_save(
    serve: Serve, tmp_path: Path
) -> None:
    server = serve()
    working = saved(server, "Look at the vault next", scope="session")
    assert working in server.call("recall", text="vault next")
    named = column(tmp_path, "SELECT session_id FROM fragments WHERE lifetime = 'working'")
    assert named == column(tmp_path, "SELECT session_id FROM activities") and named[0]
    params = {"name": "memory_consolidate", "arguments": {}, "_meta": {"progressToken": "p1"}}
    assert "result" in server.request("tools/call", params)
    lines = [json.loads(line) for line in server.stdout_lines]
    progress = [it["params"] for it in lines if it.get("method") == "notifications/progress"]
    assert [(it["progress"], it["total"]) for it in progress] == [(at, 11) for at in range(1, 12)]
    assert all(it["message"] for it in progress)
    asked = server.ask_tool("remember", content="The vault has two doors")
    assert server.close() == 0
    assert server.tool_text(asked).startswith("Remembered: ")
    kept = "SELECT content FROM fragments WHERE deleted_at = '' AND topic != 'session'"
    assert column(tmp_path, kept) == ["The vault has two doors"]
    assert column(tmp_path, "SELECT deletion FROM fragments WHERE deleted_at != ''") == ["ended"]
    assert column(tmp_path, "SELECT ended_at != '' FROM activities") == [1]


@pytest.mark.long  # it costs much
def test_neither_a_held_database_nor_a_slow_model_holds_up_the_end(
    tmp_path: Path, serve: Serve
) -> None:
    goes_on = threading.Event()

    def slow(asked: Asked) -> Answer:
        goes_on.wait(60)
        return embeddings(asked)

    with stand_in(slow) as service:
        server = serve(SENTINEL_MEMORY_LOCK_TIMEOUT_S="3600", **environment_of(service))
        saved(server, "Look at the vault next", scope="session")
        until(lambda: service.asked)
        database = sqlite3.connect(tmp_path / "memory.db", isolation_level=None)
        with contextlib.closing(database) as connection:
            connection.execute("BEGIN IMMEDIATE")
            assert server.close() == 0
            connection.execute("ROLLBACK")
        goes_on.set()
    assert column(tmp_path, "SELECT deleted_at FROM fragments") == [""]


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.46", "002 2.78")
def test_a_signal_ends_the_session_too(tmp_path: Path, serve: Serve) -> None:
    server = serve()
    saved(server, "Look at the vault next", scope="session")
    server.terminate()
    assert column(tmp_path, "SELECT ended_at != '' FROM activities") == [1]


@pytest.mark.long  # it costs much
def test_wrong_settings_of_models_end_the_start_where_the_room_is_on(tmp_path: Path) -> None:
    wrong = {"SENTINEL_MEMORY_EMBEDDINGS": "ftp://models.example"}
    wrong["SENTINEL_MEMORY_JUDGE"] = "oracle"
    place = {"SENTINEL_MEMORY_FRAGMENTS": str(tmp_path / "memory.db"), **wrong}
    command, given = (sys.executable, str(ROOT / "server.py")), {**os.environ, **place}
    started = Run.process(*command, "--rooms", "fragments", cwd=tmp_path, environment=given)
    assert (started.code, started.out) == (2, "")
    for said, (variable, value) in zip(started.errors.splitlines(), wrong.items(), strict=True):
        assert said.startswith(f"server.py: {variable}") and value not in said
    assert Run.process(*command, "--version", cwd=tmp_path, environment=given).code == 0
