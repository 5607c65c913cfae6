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
from fastmcp import Client
from fastmcp.exceptions import ToolError

from core.text.plain import estimate_tokens
from protocol.call import PROCESS
from rooms.fragments import tools
from tests.support.cli_process import TOKEN as SECRET
from tests.support.fragment_tools import offered
from tests.support.session_tools import ask
from tests.support.stdio_client import ServerProcess

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
SIX = "fact decision error preference procedure relation".split()
VARIABLES = ("SENTINEL_MEMORY_LANG", "SENTINEL_MEMORY_EMBEDDINGS", "SENTINEL_MEMORY_JUDGE")


class Room:
    """The tools of the fragments over one database; they answer with the declared objects."""

    def __init__(self, database: Path) -> None:
        self.database = database

    def __call__(self, tool: str, **arguments: Any) -> Any:
        return json.loads(self.text(tool, **arguments))

    def text(self, tool: str, **arguments: Any) -> str:
        result = ask(offered(), lambda client: client.call_tool(tool, arguments))
        [content] = result.content
        return str(content.text)

    def refusal(self, tool: str, **arguments: Any) -> str:
        with pytest.raises(ToolError) as caught:
            self.text(tool, **arguments)
        return str(caught.value)

    def saved(self, content: str, **arguments: Any) -> str:
        """The id of a new fragment."""
        answer = self("remember", content=content, **arguments)
        assert answer["created"] is True
        return str(answer["id"])

    def recalled(self, **arguments: Any) -> list[str]:
        """The ids that a recall finds, the best first."""
        return [it["id"] for it in self("recall", **arguments)["fragments"]]

    def sql(self, statement: str, *values: object) -> list[dict[str, Any]]:
        with contextlib.closing(sqlite3.connect(self.database)) as connection, connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(statement, values)]

    def row(self, id_: str) -> dict[str, Any]:
        [row] = self.sql("SELECT * FROM fragments WHERE id = ?", id_)
        return row

    def links(self) -> set[tuple[str, str, str]]:
        rows = self.sql("SELECT from_id, relation_type, to_id FROM fragment_links")
        return {(row["from_id"], row["relation_type"], row["to_id"]) for row in rows}


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Room:
    for name in (*VARIABLES, "OPENAI_API_KEY", "EMBEDDING_MODEL", "EMBEDDING_DIMENSIONS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SENTINEL_MEMORY_FRAGMENTS", str(tmp_path / "memory.db"))
    monkeypatch.setenv("SENTINEL_MEMORY_ANSWERS", "json")
    return Room(tmp_path / "memory.db")


def several(
    room: Room, count: int, content: str = "Rule {at} of the vault stands", **more: Any
) -> list[str]:
    """The ids of fragments that are alike and on topics of their own."""

    async def saved(client: Client[Any]) -> list[str]:
        drafts = [
            {"content": content.format(at=at), "topic": f"t{at}", **more} for at in range(count)
        ]
        answers: list[Any] = [await client.call_tool("remember", it) for it in drafts]
        return [json.loads(it.content[0].text)["id"] for it in answers]

    ids: list[str] = ask(offered(), saved)
    return ids


# The tables


@pytest.mark.row(
    "002 2.11", "002 2.12.r", "002 2.15.a", "002 2.15.b", "002 2.16.g", "004 4.8", "004 4.9"
)
def test_the_tables_have_the_columns_of_the_specification(room: Room) -> None:
    room.saved("One")
    for table, columns in TABLES.items():
        found = {row["name"] for row in room.sql(f"PRAGMA table_info({table})")}
        assert set(columns.split()) <= found, table
    [words] = room.sql("SELECT sql FROM sqlite_master WHERE name = 'fragments_fts'")
    assert "fts5(content" in words["sql"]


@pytest.mark.row(
    "002 2.13.a",
    "002 2.13.b",
    "002 2.13.c",
    "002 2.13.d",
    "002 2.13.e",
    "002 2.13.f",
    "002 2.13.g",
    "002 2.13.h",
    "002 2.13.i",
    "002 2.15.g",
)
def test_the_indexes_are_there_and_a_pair_of_ids_is_unique(room: Room) -> None:
    one, two = several(room, 2)
    for name, columns in INDEXES.items():
        found = [row["name"] for row in room.sql(f"PRAGMA index_info({name})")]
        assert found == columns.split(), name
    [keywords] = room.sql("SELECT count(*) AS n FROM fragment_keywords WHERE keyword = 'vault'")
    assert keywords["n"] == 2
    room("link", fromId=one, toId=two)
    with pytest.raises(sqlite3.IntegrityError):
        room.sql(
            "INSERT INTO fragment_links (from_id, to_id, relation_type, created_at)"
            " SELECT from_id, to_id, 'part_of', created_at FROM fragment_links"
        )


@pytest.mark.row(
    "002 2.12.d",
    "002 2.12.k",
    "002 2.12.n",
    "002 2.12.p",
    "002 2.12.s",
    "002 2.85",
    "004 4.3",
    "004 4.8.b",
)
def test_the_columns_have_their_defaults(room: Room) -> None:
    room.saved("One")
    given = {it["name"]: it["dflt_value"] for it in room.sql("PRAGMA table_info(fragments)")}
    assert {name: given[name] for name in given if name in TABLES["fragments"].split()} == {
        **dict.fromkeys(("id", "content", "topic", "type", "importance"), None),
        **dict.fromkeys(("content_hash", "created_at"), None),
        **dict.fromkeys(("access_count", "estimated_tokens", "is_anchor"), "0"),
        **dict.fromkeys(("source", "accessed_at", "verified_at"), "''"),
        "keywords": "'[]'",
        "agent_id": "'default'",
        "ttl_tier": "'hot'",
        "utility_score": "1.0",
        "privacy_scope": "'private'",
    }


@pytest.mark.row(
    "002 2.12.d",
    "002 2.12.i",
    "002 2.12.m",
    "002 2.12.o",
    "002 2.12.q",
    "002 2.34",
    "002 2.35",
    "002 2.35.a",
    "002 2.36",
    "002 2.36.b",
    "002 2.36.c",
    "002 2.88",
)
def test_a_fragment_stands_in_the_columns_as_it_was_told(room: Room) -> None:
    other = room.saved("The pool holds 20 connections", topic="pool")
    id_ = room.saved(
        "Redis Sentinel 연결 실패 시 REDIS_PASSWORD 누락을 먼저 확인할 것",
        topic="redis",
        type="error",
        keywords=["redis", "noauth"],
        importance=0.95,
        source="runbook.md",
        linkedTo=[other],
        isAnchor=True,
        agentId="reviewer",
        privacy_scope="public",
    )
    row = room.row(id_)
    assert row["content"] == "Redis Sentinel 연결 실패 시 REDIS_PASSWORD 누락을 먼저 확인할 것"
    assert (row["topic"], row["type"], row["importance"]) == ("redis", "error", 0.95)
    assert json.loads(row["keywords"]) == ["redis", "noauth"]
    assert (row["source"], row["agent_id"]) == ("runbook.md", "reviewer")
    assert (row["is_anchor"], row["ttl_tier"], row["privacy_scope"]) == (1, "permanent", "public")
    assert (row["access_count"], row["accessed_at"]) == (0, "")  # the upkeep of the day weighs it
    assert row["estimated_tokens"] == estimate_tokens(row["content"])
    assert row["content_hash"] and row["verified_at"] == row["created_at"]
    assert room.links() == {(id_, "related", other)}


# remember


@pytest.mark.row("002 2.12.e", "002 2.12.g", "002 2.35", "002 2.88.c", "004 4.2")
def test_each_word_of_type_says_kind_lifetime_and_importance(room: Room) -> None:
    told = {}
    for word in [*SIX, "working", "episodic", "semantic", "procedural"]:
        row = room.row(room.saved(f"A {word} of the house", type=word, topic=word))
        told[word] = (row["type"], row["lifetime"], row["importance"])
    assert told == {
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
    assert "type" in room.refusal("remember", content="x", type="opinion")


@pytest.mark.row("002 2.33", "002 2.94")
def test_a_secret_is_in_no_byte_of_any_file(room: Room) -> None:
    answer = room("remember", content=f"The bot uses {SECRET}", topic=SECRET, keywords=[SECRET])
    assert answer["redacted"]
    assert "The bot uses" in room.row(answer["id"])["content"]
    for path in room.database.parent.iterdir():
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path.name


@pytest.mark.row("002 2.28", "002 2.36.a", "002 2.91")
def test_working_memory_is_of_the_process_and_ends_with_it(room: Room) -> None:
    """Over standard input a session is the process."""
    id_ = room.saved("Look at the vault next", scope="session")
    row = room.row(id_)
    assert (row["lifetime"], row["session_id"]) == ("working", PROCESS)
    assert room.recalled(text="vault next") == [id_]
    tools.end_session()
    assert room.recalled(text="vault next") == []
    assert room.row(id_)["deletion"] == "ended"


# recall


@pytest.mark.row("002 2.25", "002 2.38.e", "002 2.88.a")
def test_recall_answers_within_its_budget_of_tokens(room: Room) -> None:
    several(room, 60, "Rule {at} of the vault: close both of its doors behind you, and say so")
    for given, most in (({}, 1000), ({"tokenBudget": 2000}, 2000), ({"tokenBudget": 300}, 300)):
        answer = room.text("recall", text="vault doors", **given)
        told = json.loads(answer)
        assert 0.5 * most < estimate_tokens(answer) <= most
        assert told["count"] == len(told["fragments"]) > 0 < told["left_out"]


@pytest.mark.row("002 2.26.b", "002 2.66.i")
def test_at_most_ten_linked_ones_come_or_as_many_as_the_settings_say(room: Room) -> None:
    start = room.saved("The login fails at staging", topic="login")
    for id_ in several(room, 12, "Door {at} is made of wood"):
        room("link", fromId=start, toId=id_)
    asked = {"text": "login fails", "tokenBudget": 20_000}
    assert len(room("recall", **asked)["linked"]) == 10
    config = {"linkedFragmentLimit": 3}
    (room.database.parent / "config.json").write_text(json.dumps(config))
    assert len(room("recall", **asked)["linked"]) == 3


# forget


# link, amend


# reflect, context


@pytest.mark.row("002 2.48")
def test_context_hints_at_sessions_that_nobody_reflected_on(room: Room) -> None:
    room.saved("One thing")
    tools.end_session()
    answer = room("context", sessionId="another")
    assert answer["unreflected"] == 1
    hint = re.search(r"\[SYSTEM HINT\].*", answer["injectionText"])
    assert hint and "1" in hint[0]


# tool_feedback, memory_stats, memory_consolidate, graph_explore, pin


# Whose they are


@pytest.mark.row("002 2.19", "002 2.38.h", "002 2.41.d", "002 2.42.g", "002 2.47.d", "002 2.52.a")
def test_a_caller_sees_its_own_and_what_is_everybodys(room: Room) -> None:
    ids = {
        agent: room.saved(f"The vault of {agent}", agentId=agent)
        for agent in ("default", "one", "two")
    }
    seen = {
        agent: set(room.recalled(text="vault", agentId=agent, includeLinks=False))
        for agent in ("one", "two", "nobody")
    }
    everybodys = ids["default"]
    assert seen == {
        "one": {ids["one"], everybodys},
        "two": {ids["two"], everybodys},
        "nobody": {everybodys},
    }
    core = room("context", agentId="two", types=["fact"])["core"]
    assert {it["id"] for it in core} == {ids["two"], everybodys}
    calls: dict[str, dict[str, Any]] = {
        "forget": {"id": ids["one"]},
        "amend": {"id": ids["one"], "content": "Mine"},
        "link": {"fromId": everybodys, "toId": ids["one"]},
        "graph_explore": {"startId": ids["one"]},
        "remember": {"content": "Linked", "linkedTo": [ids["one"]]},
    }
    for tool, arguments in calls.items():
        assert ids["one"] in room.refusal(tool, agentId="two", **arguments), tool
    assert room.row(ids["one"])["content"] == "The vault of one"


@pytest.mark.row("002 2.19.a")
@pytest.mark.parametrize("agent", ["system", "admin"])
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("remember", {"content": "x"}),
        ("recall", {}),
        ("forget", {"topic": "x"}),
        ("link", {"fromId": "a", "toId": "b"}),
        ("amend", {"id": "a", "content": "x"}),
        ("reflect", {"summary": "x"}),
        ("context", {}),
        ("graph_explore", {"startId": "a"}),
    ],
)
def test_no_caller_is_the_system(
    room: Room, tool: str, arguments: dict[str, Any], agent: str
) -> None:
    assert agent in room.refusal(tool, agentId=agent, **arguments)


# A server of its own


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[[Path], ServerProcess]]:
    with contextlib.ExitStack() as running:

        def start(database: Path) -> ServerProcess:
            return running.enter_context(
                ServerProcess(
                    *("--project", str(tmp_path), "--rooms", "fragments"),
                    cwd=tmp_path,
                    stderr_path=tmp_path / "stderr.txt",
                    environment={"SENTINEL_MEMORY_FRAGMENTS": str(database)},
                )
            )

        yield start


Serve = Callable[[Path], ServerProcess]


@pytest.mark.row("004 4.11", "004 4.12")
def test_one_fragment_is_a_resource_and_five_go_into_a_prompt(serve: Serve, tmp_path: Path) -> None:
    server = serve(tmp_path / "memory.db")
    ids = [
        re.findall(r": (\w{8})\.", server.call("remember", content=f"Rule {at} of the vault"))[0]
        for at in range(8)
    ]
    asked = server.request("resources/read", {"uri": f"memory://fragment/{ids[0]}"})
    [content] = asked["result"]["contents"]
    assert json.loads(content["text"])["content"] == "Rule 0 of the vault"
    assert "error" in server.request("resources/read", {"uri": "memory://fragment/nobody"})
    given = {"query": "vault rule", "token_budget": "1500"}
    asked = server.request("prompts/get", {"name": "memory_injection", "arguments": given})
    [message] = asked["result"]["messages"]
    shown = [id_ for id_ in ids if id_ in message["content"]["text"]]
    assert len(shown) == 5
    given["token_budget"] = "200"
    asked = server.request("prompts/get", {"name": "memory_injection", "arguments": given})
    assert estimate_tokens(asked["result"]["messages"][0]["content"]["text"]) <= 200


@pytest.mark.row("004 4.15", "004 4.18", "004 4.18.a")
def test_a_copy_of_the_one_file_is_a_backup(serve: Serve, tmp_path: Path) -> None:
    server = serve(tmp_path / "memory.db")
    server.call("remember", content="The vault has two doors")
    server.close()
    copy = tmp_path / "elsewhere" / "memory.db"
    copy.parent.mkdir()
    copy.write_bytes((tmp_path / "memory.db").read_bytes())
    assert "The vault has two doors" in serve(copy).call("recall", query="vault doors")


@pytest.mark.row("002 2.1")
@pytest.mark.parametrize("version", ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])
def test_each_version_of_the_protocol_is_spoken(serve: Serve, tmp_path: Path, version: str) -> None:
    server = serve(tmp_path / "memory.db")
    hello = {"protocolVersion": version, "capabilities": {}}
    hello["clientInfo"] = {"name": "client", "version": "1"}
    greeting = server.answer(server._ask("initialize", hello))["result"]
    assert greeting["protocolVersion"] == version
