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

from core.text.tokens import estimate_tokens
from protocol.caller import PROCESS
from rooms.fragments import tools
from tests.support.cli_process import TOKEN as SECRET
from tests.support.fragment_tools import offered
from tests.support.session_tools import ask
from tests.support.stand_in_service import Answer, Asked, stand_in
from tests.support.stdio_client import ServerProcess
from tests.support.waiting import until

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
RELATIONS = "related caused_by resolved_by part_of contradicts superseded_by".split()
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
    assert (row["access_count"], row["accessed_at"], row["utility_score"]) == (0, "", 1.0)
    assert row["estimated_tokens"] == estimate_tokens(row["content"])
    assert row["content_hash"] and row["verified_at"] == row["created_at"]
    assert room.links() == {(id_, "related", other)}


# remember


@pytest.mark.row("002 2.12.a", "002 2.32", "002 2.32.a", "004 4.1")
def test_remember_answers_with_success_id_and_created(room: Room) -> None:
    first = room("remember", content="The shop runs on Node 20", topic="node", type="fact")
    id_ = first["id"]
    assert first == {"success": True, "id": id_, "created": True}
    again = room("remember", content="The shop runs on Node 20", topic="other", type="decision")
    assert again == {"success": True, "id": id_, "created": False}
    assert [it["id"] for it in room.sql("SELECT id FROM fragments")] == [id_]


def test_the_same_content_of_another_agent_is_another_fragment(room: Room) -> None:
    ids = {room.saved("The shop runs on Node 20", agentId=agent) for agent in ("", "a", "b")}
    assert len(ids) == 3


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


@pytest.mark.row("002 2.12.c", "002 2.31.a", "004 4.2.a")
def test_what_is_left_out_is_filled_in(room: Room) -> None:
    bare = room.row(room.saved("pgvector needs PostgreSQL 14"))
    assert (bare["topic"], bare["type"], bare["agent_id"]) == ("general", "fact", "default")
    assert (bare["session_id"], bare["is_anchor"], bare["privacy_scope"]) == ("", 0, "private")
    assert "pgvector" in json.loads(bare["keywords"])
    tagged = room.row(room.saved("The vault has two doors", tags=["vault", "doors"]))
    assert (tagged["topic"], json.loads(tagged["keywords"])) == ("vault", ["vault", "doors"])


@pytest.mark.row("002 2.12.b")
def test_a_long_content_is_said_and_one_above_a_kilobyte_refused(room: Room) -> None:
    assert "too_long" not in room("remember", content="가" * 300)
    assert room("remember", content="나" * 301)["too_long"] is True
    long = room.saved("b" * 1024)
    assert room.row(long)["content"] == "b" * 1024
    assert "1,024" in room.refusal("remember", content="c" * 1025)
    assert len(room.sql("SELECT id FROM fragments")) == 3


@pytest.mark.row("002 2.12.f", "002 2.12.g")
@pytest.mark.parametrize("importance", [-0.01, 1.01, "much"])
def test_an_importance_out_of_its_bounds_is_refused(room: Room, importance: object) -> None:
    assert "importance" in room.refusal("remember", content="x", importance=importance)
    assert not room.database.exists()


@pytest.mark.row("002 2.33", "002 2.94")
def test_a_secret_is_in_no_byte_of_any_file(room: Room) -> None:
    answer = room("remember", content=f"The bot uses {SECRET}", topic=SECRET, keywords=[SECRET])
    assert answer["redacted"]
    assert "The bot uses" in room.row(answer["id"])["content"]
    for path in room.database.parent.iterdir():
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path.name


@pytest.mark.row("002 2.37")
def test_what_is_alike_on_one_topic_is_linked_by_itself(room: Room) -> None:
    text = "The staging proxy drops every CORS preflight of the upload form in region {at}"
    first = room.saved(text.format(at="one"), topic="cors", type="fact")
    elsewhere = room.saved(text.format(at="two"), topic="network", type="fact")
    error = room.saved(
        "Redis Sentinel answers NOAUTH at staging login", topic="redis", type="error"
    )
    cure = room.saved(
        "Redis Sentinel answers NOAUTH at staging login: set the password",
        topic="redis",
        type="procedure",
    )
    assert room.links() == {(error, "resolved_by", cure)}
    near = room("remember", content=text.format(at="three"), topic="cors", type="fact")
    call = f'link(fromId="{first}", toId="{near["id"]}", relationType="superseded_by")'
    assert call in near["proposals"][0] and elsewhere not in str(near)
    for at in ("four", "five", "six", "seven"):
        kind = "decision" if at == "seven" else "fact"
        last = room("remember", content=text.format(at=at), topic="cors", type=kind)
    assert len(last["links"]) == 3  # at most
    assert {it["relation_type"] for it in last["links"]} == {"related"}


@pytest.mark.row("002 2.28", "002 2.36.a")
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


@pytest.mark.row("002 2.38.a", "002 2.38.b", "002 2.38.c", "002 2.38.d", "002 2.88", "004 4.4")
def test_recall_finds_by_keywords_topic_type_text_and_all_together(room: Room) -> None:
    ids = {
        kind: room.saved(f"The {kind} on the vault", type=kind, topic=f"on-{kind}", keywords=[kind])
        for kind in SIX
    }
    assert room.recalled(keywords=["decision"]) == [ids["decision"]]
    for kind in SIX:
        assert room.recalled(type=kind) == [ids[kind]]
        assert room.recalled(topic=f"on-{kind}", includeLinks=False) == [ids[kind]]
    lone = {"includeLinks": False, "tokenBudget": 4000}
    assert set(room.recalled(text="vault", **lone)) == set(ids.values())
    assert set(room.recalled(query="vault", **lone)) == set(ids.values())
    one = {"keywords": ["error"], "topic": "on-error", "type": "error", "text": "vault"}
    assert room.recalled(**one) == [ids["error"]]
    assert room.recalled(**{**one, "topic": "on-fact"}) == []
    assert set(room.recalled(**lone)) == set(ids.values())
    assert len(room.recalled(limit=2)) == 2


@pytest.mark.row("004 4.4")
def test_the_filters_of_004_narrow_by_type_tags_and_date(room: Room) -> None:
    old = room.saved("The door is red", type="episodic", tags=["door", "paint"])
    new = room.saved("The door is green", type="semantic", tags=["door"])
    room.sql("UPDATE fragments SET created_at = '2026-01-15T10:00:00+00:00' WHERE id = ?", old)
    lone = {"query": "door", "includeLinks": False}
    assert room.recalled(**lone, filters={"type": "episodic"}) == [old]
    assert room.recalled(**lone, filters={"tags": ["door", "paint"]}) == [old]
    january = "2026-01-01..2026-01-31"
    assert room.recalled(**lone, filters={"date": january}) == [old]
    assert room.recalled(**lone, filters={"date": {"from": "2026-02-01"}}) == [new]
    assert "from" in room.refusal("recall", filters={"date": "last week"})


@pytest.mark.row("002 2.25", "002 2.38.e", "002 2.88.a")
def test_recall_answers_within_its_budget_of_tokens(room: Room) -> None:
    several(room, 60, "Rule {at} of the vault: close both of its doors behind you, and say so")
    for given, most in (({}, 1000), ({"tokenBudget": 2000}, 2000), ({"tokenBudget": 300}, 300)):
        answer = room.text("recall", text="vault doors", **given)
        told = json.loads(answer)
        assert 0.5 * most < estimate_tokens(answer) <= most
        assert told["count"] == len(told["fragments"]) > 0 < told["left_out"]


@pytest.mark.row("002 2.26", "002 2.26.a", "002 2.38.f", "002 2.39")
def test_links_come_one_hop_far_by_the_relations_that_are_asked_for(room: Room) -> None:
    start = room.saved("The login fails at staging", type="error", topic="login")
    ends = {
        relation: room.saved(f"Something about {relation}", topic=f"is-{relation}")
        for relation in RELATIONS[:-1]
    }
    for relation, id_ in ends.items():
        room("link", fromId=start, toId=id_, relationType=relation)
    further = room.saved("Two steps away", topic="away")
    room("link", fromId=ends["related"], toId=further)

    def linked(**more: Any) -> dict[str, str]:
        answer = room("recall", text="login fails", tokenBudget=8000, **more)
        assert [it["id"] for it in answer["fragments"]] == [start]
        return {it["relation_type"]: it["id"] for it in answer["linked"]}

    shown = {it: ends[it] for it in ("caused_by", "resolved_by", "related")}
    assert linked() == linked(includeLinks=True) == shown
    assert linked(includeLinks=False) == {}
    for relation, id_ in ends.items():
        assert linked(linkRelationType=relation) == {relation: id_}
    assert "linkRelationType" in room.refusal("recall", text="x", linkRelationType="likes")


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


def _by_words(asked: Asked) -> Answer:
    """Numbers of which those of a car and of a vehicle are near to each other."""
    fields = ("car", "vehicle"), ("bread", "loaf")
    rows = []
    for at, text in enumerate(asked.body["input"]):
        near = [float(any(word in text.lower() for word in field)) for field in fields]
        exact = [0.3 * ("vehicle" in text), 0.1]
        rows.append({"index": at, "embedding": [*near, *exact]})
    return Answer({"data": rows})


@pytest.mark.row("002 2.22.a", "002 2.38.g", "002 2.75.a")
def test_the_threshold_holds_for_what_only_its_meaning_has_found(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    car = room.saved("The car stands behind the house")
    loaf = room.saved("A loaf is in the kitchen")
    assert room.recalled(text="our vehicle") == []
    with stand_in(_by_words) as service:
        monkeypatch.setenv("SENTINEL_MEMORY_EMBEDDINGS", service.address)
        step = {it["name"]: it for it in room("memory_consolidate")["steps"]}["embeddings"]
        assert step["figures"] == {"missing": 2, "made": 2, "failed": 0}
        assert room.recalled(text="our vehicle") == [car]
        assert room.recalled(text="our vehicle", threshold=0.9) == [car]
        assert room.recalled(text="our vehicle", threshold=0.99) == []
        found = room.recalled(text="our vehicle kitchen loaf", threshold=0.99)
        assert found == [loaf]  # found by its words: the threshold does not hold for it
        stats = room("memory_stats")
    assert (stats["with_vector"], stats["model"]) == (2, "text-embedding-3-small")
    assert "threshold" in room.refusal("recall", text="x", threshold=1.1)


def used(room: Room, id_: str) -> int:
    """How often a fragment was used when it is found by now."""
    assert room.recalled(text="vault doors") == [id_]
    return int(room.row(id_)["access_count"])


@pytest.mark.row("002 2.12.l", "002 2.27.a", "002 2.87.a", "004 4.8.a", "004 4.16")
def test_use_is_counted_and_makes_hot_again(room: Room) -> None:
    """It is counted behind the answer, and not at all while another process writes."""
    id_ = room.saved("The vault has two doors")
    room.sql("UPDATE fragments SET ttl_tier = 'cold'")
    until(lambda: used(room, id_) >= 2)
    row = room.row(id_)
    assert row["access_count"] >= 2 and row["ttl_tier"] == "hot" and row["accessed_at"]


# forget


@pytest.mark.row("002 2.40.a", "002 2.40.b", "002 2.40.e")
def test_forget_needs_an_id_or_a_topic_and_the_id_wins(room: Room) -> None:
    one, two, three = several(room, 3)
    assert "id" in room.refusal("forget") and "topic" in room.refusal("forget")
    answer = room("forget", id=one, topic="t1")
    assert (answer["success"], answer["deleted"], answer["ids"]) == (True, 1, [one])
    assert room.recalled(text="vault rule", topic="t1", includeLinks=False) == [two]
    assert room("forget", topic="t1")["ids"] == [two]
    assert room.recalled(text="vault rule", includeLinks=False) == [three]
    assert room("forget", topic="unheard of")["deleted"] == 0


@pytest.mark.row("002 2.40.c")
def test_nothing_permanent_goes_without_force(room: Room) -> None:
    pinned = room.saved("Backups lie in Frankfurt", topic="backup", isAnchor=True)
    plain = room.saved("Backups run at night", topic="backup")
    assert pinned in room.refusal("forget", id=pinned)
    assert pinned in room.refusal("forget", id=pinned, hard=True)
    answer = room("forget", topic="backup", force=False)
    assert (answer["ids"], answer["protected"], answer["recoverable"]) == ([plain], 1, True)
    answer = room("forget", id=pinned, force=True)
    assert (answer["ids"], answer["recoverable"]) == ([pinned], False)
    assert [it["id"] for it in room.sql("SELECT id FROM fragments")] == [plain]


@pytest.mark.row("002 2.15.e", "002 2.18.i", "004 4.6")
def test_hard_removes_at_once_with_links_versions_and_vector(room: Room) -> None:
    one, two = several(room, 2)
    room("link", fromId=one, toId=two)
    room("amend", id=one, importance=0.9)
    assert room("forget", id=one, hard=True)["recoverable"] is False
    assert room.sql("SELECT * FROM fragments WHERE id = ?", one) == []
    assert room.links() == set()
    assert room.sql("SELECT * FROM fragment_versions") == []


# link, amend


@pytest.mark.row("002 2.15.c", "002 2.15.d", "002 2.15.f", "002 2.15.g", "002 2.41.c", "002 2.88.b")
def test_a_pair_has_one_link_and_it_is_related_by_default(room: Room) -> None:
    one, two = several(room, 2)
    answer = room("link", fromId=one, toId=two)
    created = answer.pop("created_at")
    expected = {"success": True, "created": True, "from_id": one, "to_id": two}
    assert answer == {**expected, "relation_type": "related"} and created
    assert room("link", fromId=one, toId=two)["created"] is False
    assert room.links() == {(one, "related", two)}
    for relation in RELATIONS[1:]:
        room("link", fromId=one, toId=two, relationType=relation)
        assert room.links() == {(one, relation, two)}
    assert room.sql("SELECT count(*) AS n FROM fragment_links") == [{"n": 1}]
    assert "relationType" in room.refusal("link", fromId=one, toId=two, relationType="likes")
    assert room.refusal("link", fromId=one, toId="nobody")
    assert room.refusal("link", fromId=one, toId=one)


AMENDED: dict[str, Any] = {
    "content": "The shop runs on Node 22",
    "topic": "runtime",
    "keywords": ["node", "runtime"],
    "type": "decision",
    "importance": 0.25,
    "isAnchor": True,
}


@pytest.mark.row(
    "002 2.18.a",
    "002 2.18.b",
    "002 2.18.c",
    "002 2.18.d",
    "002 2.18.e",
    "002 2.42",
    "002 2.42.b",
    "002 2.42.c",
    "002 2.42.d",
    "002 2.42.e",
    "002 2.42.f",
)
@pytest.mark.parametrize("field", AMENDED)
def test_an_amendment_changes_what_is_given_and_keeps_the_version_before(
    room: Room, field: str
) -> None:
    old = room.saved("The shop runs on Node 20", topic="node", type="fact", keywords=["node"])
    other = room.saved("The vault has two doors")
    room("link", fromId=old, toId=other)
    before = room.row(old)
    given = {field: AMENDED[field]}
    assert room("amend", id=old, agentId="default", **given)["id"] == old
    after = room.row(old)
    column = {"isAnchor": "is_anchor"}.get(field, field)
    value = json.dumps(AMENDED[field]) if field == "keywords" else AMENDED[field]
    assert after[column] == value
    kept = {"content", "topic", "keywords", "type", "importance", "is_anchor"} - {column}
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
    [version] = room.sql("SELECT * FROM fragment_versions")
    assert (version["fragment_id"], version["amended_by"]) == (old, "default")
    assert version["amended_at"]
    for name in ("content", "topic", "keywords", "type", "importance"):
        assert version[name] == before[name]
    assert room.links() == {(old, "related", other)}


@pytest.mark.row("002 2.43")
def test_what_supersedes_is_new_and_the_old_one_sinks_out_of_recall(room: Room) -> None:
    old = room.saved("The shop runs on Node 20", topic="node", importance=0.9)
    answer = room("amend", id=old, content="The shop runs on Node 22", supersedes=True)
    new = answer["id"]
    assert (new != old, answer["superseded"]) == (True, old)
    assert (old, "superseded_by", new) in room.links()
    assert room.row(old)["importance"] == 0.3 and room.row(old)["superseded_at"]
    assert room.row(new)["importance"] == 0.9
    assert room.recalled(text="shop Node", includeLinks=False) == [new]
    assert room.refusal("amend", id="nobody", content="x")


# reflect, context


@pytest.mark.row(
    "002 2.17.a",
    "002 2.17.b",
    "002 2.17.c",
    "002 2.17.d",
    "002 2.17.e",
    "002 2.44.a",
    "002 2.44.b",
    "002 2.44.c",
    "002 2.44.d",
    "002 2.44.e",
    "002 2.44.f",
    "002 2.45",
)
def test_a_reflection_is_a_fragment_for_each_item(room: Room) -> None:
    room.saved("The shop runs on Node 20")
    answer = room(
        "reflect",
        summary="The staging login works again",
        sessionId="s7",
        decisions=["Staging uses Sentinel", "Tokens live an hour"],
        errors_resolved=["NOAUTH: the password was missing; it is set in the unit file now"],
        new_procedures=["Restart Sentinel after a change of its password"],
        open_questions=["Who owns the vault?"],
        agentId="reviewer",
        task_effectiveness={
            "overall_success": False,
            "tool_highlights": ["recall: fast"],
            "tool_pain_points": ["link: two ids"],
        },
    )
    assert (answer["success"], answer["count"]) == (True, 6)
    types = [it["type"] for it in answer["fragments"]]
    assert types == ["fact", "decision", "decision", "error", "procedure", "fact"]
    rows = [room.row(it["id"]) for it in answer["fragments"]]
    assert {row["agent_id"] for row in rows} == {"reviewer"}
    assert rows[0]["content"] == "The staging login works again"
    assert rows[5]["content"] == "Who owns the vault?"
    [task] = room.sql("SELECT * FROM task_feedback")
    assert (task["session_id"], task["overall_success"]) == ("s7", 0)
    assert json.loads(task["tool_highlights"]) == ["recall: fast"]
    assert json.loads(task["tool_pain_points"]) == ["link: two ids"]
    assert task["created_at"]


@pytest.mark.row("002 2.44")
def test_a_summary_alone_is_enough(room: Room) -> None:
    assert room("reflect", summary="Nothing new")["count"] == 1
    assert "summary" in room.refusal("reflect", summary=" ")


@pytest.mark.row("002 2.46.b")
def test_a_session_that_reflected_is_not_reflected_on_again(room: Room) -> None:
    room.saved("One thing")
    room("reflect", summary="All told")
    tools.end_session()
    assert len(room.sql("SELECT id FROM fragments")) == 2
    assert room("context", sessionId="another")["unreflected"] == 0


@pytest.mark.row("002 2.84.b")
def test_the_next_session_begins_with_what_was_reflected(room: Room) -> None:
    saved = room(
        "reflect",
        summary="The staging login works again",
        errors_resolved=["NOAUTH: the password was missing"],
        new_procedures=["Restart Sentinel after a change of its password"],
    )
    tools.end_session()
    _, error, procedure = (it["id"] for it in saved["fragments"])
    answer = room("context", sessionId="another")
    assert {it["id"] for it in answer["core"]} == {error, procedure}
    assert all(id_ in answer["injectionText"] for id_ in (error, procedure))


@pytest.mark.row("002 2.47", "002 2.47.b", "002 2.47.c", "002 2.84", "002 2.91")
def test_context_parts_core_from_working_memory(room: Room) -> None:
    core = {
        kind: room.saved(f"The {kind} of the house", type=kind, topic=kind)
        for kind in ("preference", "error", "procedure")
    }
    fact = room.saved("The house is green", type="fact")
    own = room.saved("Paint the door next", scope="session")

    def ids(part: str, **more: Any) -> set[str]:
        return {it["id"] for it in room("context", **more)[part]}

    assert ids("core") == ids("core", types=[*core]) == set(core.values())
    assert ids("core", types=["fact"]) == {fact}
    room("pin", id=fact)
    assert fact in ids("core")  # whatever its type
    assert ids("working") == ids("working", sessionId=PROCESS) == {own}
    assert ids("working", sessionId="another") == set()


@pytest.mark.row("002 2.47.a")
def test_context_answers_within_its_budget_of_tokens(room: Room) -> None:
    several(room, 60, "Prefers rule {at}: close both doors and say so", type="preference")
    for given, most in (({}, 2000), ({"tokenBudget": 500}, 500)):
        answer = room("context", **given)
        assert answer["left_out"] > 0 < len(answer["core"])
        told = json.dumps(answer["core"], ensure_ascii=False)
        assert estimate_tokens(told) <= most
        assert estimate_tokens(answer["injectionText"]) <= most


@pytest.mark.row("002 2.48")
def test_context_hints_at_sessions_that_nobody_reflected_on(room: Room) -> None:
    room.saved("One thing")
    tools.end_session()
    answer = room("context", sessionId="another")
    assert answer["unreflected"] == 1
    hint = re.search(r"\[SYSTEM HINT\].*", answer["injectionText"])
    assert hint and "1" in hint[0]


# tool_feedback, memory_stats, memory_consolidate, graph_explore, pin


@pytest.mark.row(
    "002 2.16.a",
    "002 2.16.b",
    "002 2.16.c",
    "002 2.16.d",
    "002 2.16.e",
    "002 2.16.f",
    "002 2.16.h",
    "002 2.49.a",
    "002 2.49.b",
    "002 2.49.c",
    "002 2.49.d",
    "002 2.49.e",
    "002 2.49.f",
    "002 2.49.g",
)
def test_a_feedback_is_a_row(room: Room) -> None:
    given = {"tool_name": "recall", "relevant": True, "sufficient": False}
    assert room("tool_feedback", **given) == {"success": True}
    more = {"suggestion": "shorter", "context": "login", "session_id": "s7"}
    room("tool_feedback", **given, **more, trigger_type="sampled")
    first, second = room.sql("SELECT * FROM tool_feedback ORDER BY id")
    assert (first["trigger_type"], first["suggestion"], first["context"]) == ("voluntary", "", "")
    assert {name: second[name] for name in (*given, *more, "trigger_type")} == {
        **given,
        **more,
        "trigger_type": "sampled",
    }
    assert "trigger_type" in room.refusal("tool_feedback", **given, trigger_type="bored")
    assert room.refusal("tool_feedback", tool_name="recall", relevant=True)


@pytest.mark.row("002 2.50", "002 2.50.a")
def test_statistics_count_all_tiers_types_and_embeddings(room: Room) -> None:
    one, two, three = several(room, 3, type="error")
    room.saved("The house is green", type="fact", isAnchor=True)
    room("forget", id=one)
    room("link", fromId=two, toId=three)
    told = room("memory_stats")
    assert (told["success"], told["total"], told["anchors"]) == (True, 3, 1)
    assert told["tiers"] == {"hot": 2, "permanent": 1}
    assert told["kinds"] == {"error": 2, "fact": 1}
    assert (told["deleted"], told["links"]) == ({"forgotten": 1}, {"related": 1})
    assert (told["with_vector"], told["model"]) == (0, "")


ELEVEN = (
    "tiers decay expiry duplicates embeddings utility anchors contradictions suspicions feedback"
    " tidying"
)


@pytest.mark.row("002 2.51", "002 2.65.a")
def test_the_upkeep_has_eleven_steps_and_leaves_contradictions_to_the_caller(room: Room) -> None:
    one = room.saved("The pool holds at most 20 connections", topic="pool")
    two = room.saved("The pool holds at most 50 connections", topic="pool")
    answer = room("memory_consolidate")
    assert [it["name"] for it in answer["steps"]] == ELEVEN.split()
    [pair] = answer["contradictions"]
    assert (pair["earlier"]["id"], pair["later"]["id"]) == (one, two)
    assert not {it for _, it, _ in room.links()} & {"contradicts", "superseded_by"}
    room("link", fromId=one, toId=two, relationType="contradicts")
    assert room("memory_consolidate")["contradictions"] == []


@pytest.mark.row("002 2.41.e", "002 2.52.b", "002 2.52.c")
def test_causes_and_cures_of_an_error_are_a_graph(room: Room) -> None:
    error = room.saved("The login fails", type="error", topic="login")
    cause = room.saved("The password was missing", topic="password")
    cure = room.saved("Set it in the unit file", type="procedure", topic="unit")
    further = room.saved("Units are read at boot", topic="boot")
    room("link", fromId=error, toId=cause, relationType="caused_by")
    room("link", fromId=error, toId=cure, relationType="resolved_by")
    room("link", fromId=cure, toId=further, relationType="caused_by")
    answer = room("graph_explore", startId=error)
    assert answer["start"]["id"] == error
    assert [it["id"] for it in answer["nodes"]] == [cause, cure]
    assert [(it["from_id"], it["relation_type"], it["to_id"]) for it in answer["edges"]] == [
        (error, "caused_by", cause),
        (error, "resolved_by", cure),
    ]
    assert room.refusal("graph_explore", startId="nobody")


@pytest.mark.row("004 4.2.a", "004 4.7", "004 4.8.b")
def test_a_pin_is_an_anchor(room: Room) -> None:
    id_ = room.saved("Backups lie in Frankfurt", importance=0.1)
    assert room("pin", id=id_) == {"success": True, "id": id_, "pinned": True}
    assert (room.row(id_)["is_anchor"], room.row(id_)["ttl_tier"]) == (1, "permanent")
    assert room("unpin", id=id_) == {"success": True, "id": id_, "pinned": False}
    assert (room.row(id_)["is_anchor"], room.row(id_)["ttl_tier"]) == (0, "warm")


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
