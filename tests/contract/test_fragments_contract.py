"""Checks the fragments against their two specifications, from outside: the tools as a client calls
them, and the database as any other program reads it.
"""

import contextlib
import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastmcp.exceptions import ToolError

from core.text.plain import estimate_tokens
from protocol.call import PROCESS
from rooms.fragments import tools
from tests.support.room_tools import calling
from tests.support.servers import ServerProcess

# The schemas as the specifications write them: a table may have more, none may be missing but for
# `linked_to`, which is the table of links, and `embedding`, which has a table of its own.
TABLES = {
    "fragments": """id content topic keywords type importance content_hash source agent_id
 access_count accessed_at created_at ttl_tier estimated_tokens utility_score verified_at is_anchor
 privacy_scope""",
    "fragment_links": "id from_id to_id relation_type created_at",
    "tool_feedback": """id tool_name relevant sufficient suggestion context session_id trigger_type
 created_at""",
    "task_feedback": "id session_id overall_success tool_highlights tool_pain_points created_at",
    "fragment_versions": """id fragment_id content topic keywords type importance amended_at
 amended_by""",
    "fragment_vectors": "number embedding",
}
INDEXES = {
    "idx_fragments_hash": "agent_id content_hash",
    "idx_fragments_topic": "plain_topic",
    "idx_fragments_created": "created_at",
    "idx_fragments_worth": "is_anchor importance created_at number agent_id type",
    "idx_fragment_links_to": "to_id",
    "idx_fragment_versions": "fragment_id",
}
DEFAULTS = {
    **dict.fromkeys(("id", "content", "topic", "type", "importance"), None),
    **dict.fromkeys(("content_hash", "created_at"), None),
    **dict.fromkeys(("access_count", "estimated_tokens", "is_anchor"), "0"),
    **dict.fromkeys(("source", "accessed_at", "verified_at"), "''"),
    **{"keywords": "'[]'", "agent_id": "'default'", "ttl_tier": "'hot'", "utility_score": "1.0"},
    "privacy_scope": "'private'",
}
# By word of `type`: what it is stored as, how long it lives, how important it is.
KINDS = {
    "fact": ("fact", "semantic", 0.5),
    "decision": ("decision", "semantic", 0.7),
    "error": ("error", "semantic", 0.8),
    "preference": ("preference", "semantic", 0.9),
    "procedure": ("procedure", "procedural", 0.7),
    "relation": ("relation", "semantic", 0.4),
    "working": ("fact", "working", 0.3),
    "episodic": ("fact", "episodic", 0.4),
    "semantic": ("fact", "semantic", 0.5),
    "procedural": ("procedure", "procedural", 0.7),
}
VARIABLES = ("SENTINEL_MEMORY_LANG", "SENTINEL_MEMORY_EMBEDDINGS", "SENTINEL_MEMORY_JUDGE")


class Room:
    """The tools of the fragments over one database; they answer with the declared objects."""

    def __init__(self, database: Path) -> None:
        self.database, self.text = database, calling("fragments")

    def __call__(self, tool: str, **arguments: Any) -> Any:
        return json.loads(self.text(tool, **arguments))

    def refusal(self, tool: str, **arguments: Any) -> str:
        with pytest.raises(ToolError) as caught:
            self.text(tool, **arguments)
        return str(caught.value)

    def saved(self, content: str, **arguments: Any) -> str:
        """The id of a new fragment."""
        answer = self("remember", content=content, **arguments)
        assert answer["created"] is True
        return str(answer["id"])

    def recalled(self, **arguments: Any) -> set[str]:
        """The ids that a recall finds."""
        return {it["id"] for it in self("recall", **arguments)["fragments"]}

    def sql(self, statement: str, *values: object) -> list[dict[str, Any]]:
        with contextlib.closing(sqlite3.connect(self.database)) as connection, connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(statement, values)]

    def row(self, id_: str) -> dict[str, Any]:
        [row] = self.sql("SELECT * FROM fragments WHERE id = ?", id_)
        return row


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
@pytest.mark.row(
    "002 2.15.g", "002 2.16.g", "002 2.85", "004 4.3", "004 4.8", "004 4.8.b", "004 4.9"
)
def test_the_tables_the_indexes_and_their_columns_are_those_of_the_specification(
    room: Room,
) -> None:
    one, two = (room.saved(f"Rule {at} of the vault", topic=f"t{at}") for at in range(2))
    for table, columns in TABLES.items():
        found = {row["name"]: row["dflt_value"] for row in room.sql(f"PRAGMA table_info({table})")}
        assert set(columns.split()) <= found.keys(), table
        if table == "fragments":
            assert {name: found[name] for name in columns.split()} == DEFAULTS
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


@pytest.mark.row("002 2.12.d", "002 2.12.e", "002 2.12.g", "002 2.12.i", "002 2.12.m", "002 2.12.o")
@pytest.mark.row("002 2.12.q", "002 2.34", "002 2.35", "002 2.35.a", "002 2.36", "002 2.36.b")
@pytest.mark.row("002 2.36.c", "002 2.88", "002 2.88.c", "004 4.2")
def test_a_fragment_stands_in_the_columns_as_it_was_told(room: Room) -> None:
    other = room.saved("The pool holds 20 connections", topic="pool")
    told: dict[str, Any] = {
        "content": "Redis Sentinel 연결 실패 시 REDIS_PASSWORD 누락을 먼저 확인할 것"
    }
    told |= {"topic": "redis", "type": "error", "source": "runbook.md", "privacy_scope": "public"}
    more: dict[str, Any] = {"keywords": ["redis", "noauth"], "importance": 0.95, "isAnchor": True}
    id_ = room.saved(**told, **more, linkedTo=[other], agentId="reviewer")
    row = room.row(id_)
    assert {name: row[name] for name in told} == told
    assert (row["importance"], row["agent_id"]) == (0.95, "reviewer")
    assert json.loads(row["keywords"]) == ["redis", "noauth"]
    assert (row["is_anchor"], row["ttl_tier"]) == (1, "permanent")
    assert (row["access_count"], row["accessed_at"]) == (0, "")  # the upkeep of the day weighs it
    assert row["estimated_tokens"] == estimate_tokens(row["content"])
    assert row["content_hash"] and row["verified_at"] == row["created_at"]
    [link] = room.sql("SELECT from_id, relation_type, to_id FROM fragment_links")
    assert [*link.values()] == [id_, "related", other]
    for word, kind in KINDS.items():
        row = room.row(room.saved(f"A {word} of the house", type=word, topic=word))
        assert (row["type"], row["lifetime"], row["importance"]) == kind
    assert "type" in room.refusal("remember", content="x", type="opinion")


@pytest.mark.row("002 2.28", "002 2.36.a", "002 2.91")
def test_working_memory_is_of_the_process_and_ends_with_it(room: Room) -> None:
    """Over standard input a session is the process."""
    id_ = room.saved("Look at the vault next", scope="session")
    row = room.row(id_)
    assert (row["lifetime"], row["session_id"]) == ("working", PROCESS)
    assert room.recalled(text="vault next") == {id_}
    tools.end_session()
    assert room.recalled(text="vault next") == set()
    assert room.row(id_)["deletion"] == "ended"


@pytest.mark.row("002 2.25", "002 2.26.b", "002 2.38.e", "002 2.66.i", "002 2.88.a")
def test_recall_answers_within_its_budget_and_with_as_many_links_as_the_settings_say(
    room: Room,
) -> None:
    start, rule = room.saved("The login fails at staging", topic="login"), "Rule {} of the vault: "
    rule += "close both of its doors behind you, and say so to whoever is in the room"
    for at in range(60):
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


@pytest.mark.row("002 2.19", "002 2.19.a", "002 2.38.h", "002 2.41.d", "002 2.42.g", "002 2.47.d")
@pytest.mark.row("002 2.52.a")
def test_a_caller_sees_its_own_and_what_is_everybodys_and_none_is_the_system(room: Room) -> None:
    agents = ("default", "one", "two")
    everybodys, one, two = (room.saved(f"The vault of {it}", agentId=it) for it in agents)
    for agent, seen in (("one", {one}), ("two", {two}), ("nobody", set[str]())):
        asked = {"text": "vault", "agentId": agent, "includeLinks": False}
        assert room.recalled(**asked) == {everybodys, *seen}
    core = room("context", agentId="two", types=["fact"])["core"]
    assert {it["id"] for it in core} == {two, everybodys}
    calls: dict[str, dict[str, Any]] = {
        "forget": {"id": one},
        "amend": {"id": one, "content": "Mine"},
        "link": {"fromId": everybodys, "toId": one},
        "graph_explore": {"startId": one},
        "remember": {"content": "Linked", "linkedTo": [one]},
    }
    for tool, arguments in calls.items():
        assert one in room.refusal(tool, agentId="two", **arguments), tool
    assert room.row(one)["content"] == "The vault of one"
    calls |= {"recall": {}, "reflect": {"summary": "x"}, "context": {}}
    for agent in ("system", "admin"):
        for tool, arguments in calls.items():
            assert agent in room.refusal(tool, agentId=agent, **arguments), tool


# A server of its own

Serve = Callable[[Path], ServerProcess]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    with contextlib.ExitStack() as running:

        def start(database: Path) -> ServerProcess:
            words = ("--project", str(tmp_path), "--rooms", "fragments")
            where = {"SENTINEL_MEMORY_FRAGMENTS": str(database)}
            said = tmp_path / "stderr.txt"
            server = ServerProcess(*words, cwd=tmp_path, stderr_path=said, environment=where)
            return running.enter_context(server)

        yield start


@pytest.mark.row("004 4.11", "004 4.12", "004 4.15", "004 4.18", "004 4.18.a")
def test_one_fragment_is_a_resource_five_go_into_a_prompt_and_a_copy_of_the_file_is_a_backup(
    serve: Serve, tmp_path: Path
) -> None:
    server = serve(tmp_path / "memory.db")
    ids = [
        re.findall(r": (\w{8})\.", server.call("remember", content=f"Rule {at} of the vault"))[0]
        for at in range(8)
    ]
    asked = server.request("resources/read", {"uri": f"memory://fragment/{ids[0]}"})
    [content] = asked["result"]["contents"]
    assert json.loads(content["text"])["content"] == "Rule 0 of the vault"
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


@pytest.mark.row("002 2.1")
@pytest.mark.parametrize("version", ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])
def test_each_version_of_the_protocol_is_spoken(serve: Serve, tmp_path: Path, version: str) -> None:
    server = serve(tmp_path / "memory.db")
    hello = {"protocolVersion": version, "capabilities": {}}
    hello["clientInfo"] = {"name": "client", "version": "1"}
    greeting = server.answer(server._ask("initialize", hello))["result"]
    assert greeting["protocolVersion"] == version
