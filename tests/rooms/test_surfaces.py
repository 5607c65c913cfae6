"""Tests what a model sees of the tools of each room beside the log, and what it pays for that."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from commands.clients.table import TOOLS as KNOWN_TOOLS
from protocol.stdio import WRITING_TOOLS
from rooms.sessions.tools import _Room
from tests.support import fragment_tools, session_tools
from tests.support.rows import none_of
from tests.support.session_tools import as_offered, parts, surface, tokens_of, words_of_python
from tests.support.stdio_client import ROOT

CORE = {
    "sessions": ["context_save", "context_search", "context_get", "context_warn"],
    "fragments": ["remember", "recall", "forget", "pin", "unpin"],
}
MOST_TOKENS = {"sessions": (1_200, 850), "fragments": (1_700, 650)}
MOST_BYTES = {"sessions": 1_024, "fragments": 512}
WRITING = {
    "sessions": {"context_save", "context_export"},
    "fragments": set(KNOWN_TOOLS["fragments"])
    - {"recall", "context", "memory_stats", "graph_explore"},
}
# What 003, and 002 and 004 together, declare.
PARAMETERS = {
    "sessions": {
        "context_save": "goal summary status tags parentId decisions approaches blockers"
        " codeChanges id",
        "context_search": "query tags status agent dateRange limit offset scope",
        "context_get": "id includeActions includeChain",
        "context_warn": "currentGoal limit",
        "context_stats": "range",
        "context_export": "format range contextIds output",
        "context_recommend": "currentGoal limit",
    },
    "fragments": {
        "remember": "content topic type keywords tags importance source linkedTo scope isAnchor"
        " agentId privacy_scope",
        "recall": "keywords topic type text query tokenBudget includeLinks linkRelationType"
        " threshold filters limit agentId",
        "forget": "id topic force hard agentId",
        "link": "fromId toId relationType agentId",
        "amend": "id content topic keywords type importance isAnchor supersedes agentId",
        "reflect": "summary sessionId decisions errors_resolved new_procedures open_questions"
        " agentId task_effectiveness",
        "context": "tokenBudget types sessionId agentId",
        "tool_feedback": "tool_name relevant sufficient suggestion context session_id trigger_type",
        "memory_stats": "",
        "memory_consolidate": "",
        "graph_explore": "startId agentId",
        "pin": "id",
        "unpin": "id",
    },
}
Tools = list[dict[str, Any]]


@pytest.fixture(autouse=True)
def the_sessions_as_before() -> Iterator[None]:
    before = _Room.cancellation, _Room.core_only, _Room.rooms
    yield
    _Room.cancellation, _Room.core_only, _Room.rooms = before


@pytest.fixture(params=["sessions", "fragments"])
def room(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def tools_of(room: str, *, core_only: bool = False) -> Tools:
    by = session_tools if room == "sessions" else fragment_tools
    return surface(by.offered(core_only=core_only))


@pytest.mark.row("003 T84")
def test_the_surface_of_a_room_is_the_recorded_one(room: str) -> None:
    recorded = ROOT / "tests" / "data" / f"tool_surface_{room}.json"
    assert tools_of(room) == json.loads(recorded.read_text(encoding="utf-8"))


@pytest.mark.row("002 2.10", "002 2.10.a", "002 2.50.b", "002 2.90", "003 T32", "003 T68")
def test_there_are_the_tools_with_the_parameters_of_the_specifications(room: str) -> None:
    seen = {tool["name"]: list(tool["inputSchema"]["properties"]) for tool in tools_of(room)}
    assert seen == {name: words.split() for name, words in PARAMETERS[room].items()}
    assert list(seen) == list(KNOWN_TOOLS[room])


@pytest.mark.row("002 2.84", "004 4.11.a")
def test_the_profile_core_offers_the_tools_of_a_day(room: str) -> None:
    assert [tool["name"] for tool in tools_of(room, core_only=True)] == CORE[room]
    assert list(KNOWN_TOOLS[f"{room}:core"]) == CORE[room]


@pytest.mark.row("002 2.90")
def test_the_tools_cost_a_model_no_more_tokens_than_is_told(room: str) -> None:
    most, most_of_core = MOST_TOKENS[room]
    assert tokens_of(as_offered(tools_of(room))) <= most
    assert tokens_of(as_offered(tools_of(room, core_only=True))) <= most_of_core


def test_no_schema_shows_null_a_title_or_a_word_of_python(room: str) -> None:
    none_of(words_of_python(tools_of(room)))


def test_every_object_of_the_fragments_shows_properties() -> None:
    """Gemini's interface refuses the whole list for one object without any."""
    none_of(
        f"{place}.{key}"
        for tool in tools_of("fragments")
        for place, key, value in parts(tool["inputSchema"]["properties"], tool["name"])
        if isinstance(value, dict) and value.get("type") == "object" and not value.get("properties")
    )


@pytest.mark.row("002 2.36.a", "002 2.38.e", "002 2.38.f", "002 2.47.a", "002 2.47.b", "002 2.49.g")
def test_the_declared_defaults_of_the_fragments_are_shown() -> None:
    shown = {
        f"{tool['name']}.{name}": part["default"]
        for tool in tools_of("fragments")
        for name, part in tool["inputSchema"]["properties"].items()
        if "default" in part
    }
    assert shown == {
        "remember.scope": "permanent",
        "recall.tokenBudget": 1000,
        "recall.includeLinks": True,
        "link.relationType": "related",
        "context.tokenBudget": 2000,
        "context.types": ["preference", "error", "procedure"],
        "tool_feedback.trigger_type": "voluntary",
    }


@pytest.mark.row(
    "002 2.31", "002 2.41.a", "002 2.41.b", "002 2.49.a", "002 2.49.b", "002 2.49.c", "002 2.52"
)
def test_only_what_a_specification_requires_is_required() -> None:
    required = {it["name"]: it["inputSchema"].get("required", []) for it in tools_of("fragments")}
    assert {name: fields for name, fields in required.items() if fields} == {
        "remember": ["content"],
        "link": ["fromId", "toId"],
        "amend": ["id"],
        "reflect": ["summary"],
        "tool_feedback": ["tool_name", "relevant", "sufficient"],
        "graph_explore": ["startId"],
        "pin": ["id"],
        "unpin": ["id"],
    }


def test_hints_tell_what_writes(room: str) -> None:
    hints = {tool["name"]: tool["annotations"] for tool in tools_of(room)}
    writing = {name for name, it in hints.items() if not it["readOnlyHint"]}
    assert writing == WRITING[room]
    assert writing == hints.keys() & WRITING_TOOLS.keys()


def test_hints_of_the_fragments_tell_what_destroys_and_what_may_be_repeated() -> None:
    hints = {tool["name"]: tool["annotations"] for tool in tools_of("fragments")}
    assert {name for name, it in hints.items() if it["destructiveHint"]} == {"forget"}
    once = {name for name, it in hints.items() if not it["idempotentHint"]}
    assert once == {"amend", "reflect", "tool_feedback"}


def test_descriptions_are_short_enough_for_every_client(room: str) -> None:
    assert all(len(it["description"].encode()) < MOST_BYTES[room] for it in tools_of(room))
