"""Tests what a model sees of the tools of each room beside the log, and what it pays for that."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from commands.clients.table import TOOLS as KNOWN_TOOLS
from protocol.stdio import WRITING_TOOLS
from tests.support import fragment_tools, session_tools
from tests.support.offered_rooms import put_back
from tests.support.rows import none_of
from tests.support.session_tools import as_offered, parts, surface, tokens_of, words_of_python
from tests.support.stdio_client import ROOT

OFFERED = {"sessions": session_tools.offered, "fragments": fragment_tools.offered}
CORE = {
    "sessions": "context_save context_search context_get context_warn",
    "fragments": "remember recall forget pin unpin",
}
MOST_TOKENS = {"sessions": (1_200, 850), "fragments": (1_700, 650)}  # of all, of the core
MOST_BYTES = {"sessions": 1_024, "fragments": 512}  # of a description
# What 003, and 002 and 004 together, declare: `!` required, `=` the default that a model sees.
PARAMETERS = {
    "sessions": {
        "context_save": "goal! summary status tags parentId decisions approaches blockers"
        " codeChanges id",
        "context_search": "query tags status agent dateRange limit offset scope",
        "context_get": "id! includeActions=true includeChain=false",
        "context_warn": "currentGoal! limit",
        "context_stats": "range",
        "context_export": "format! range contextIds output",
        "context_recommend": "currentGoal! limit",
    },
    "fragments": {
        "remember": "content! topic type keywords tags importance source linkedTo"
        ' scope="permanent" isAnchor agentId privacy_scope',
        "recall": "keywords topic type text query tokenBudget=1000 includeLinks=true"
        " linkRelationType threshold filters limit agentId",
        "forget": "id topic force hard agentId",
        "link": 'fromId! toId! relationType="related" agentId',
        "amend": "id! content topic keywords type importance isAnchor supersedes agentId",
        "reflect": "summary! sessionId decisions errors_resolved new_procedures open_questions"
        " agentId task_effectiveness",
        "context": 'tokenBudget=2000 types=["preference","error","procedure"] sessionId agentId',
        "tool_feedback": "tool_name! relevant! sufficient! suggestion context session_id"
        ' trigger_type="voluntary"',
        "memory_stats": "",
        "memory_consolidate": "",
        "graph_explore": "startId! agentId",
        "pin": "id!",
        "unpin": "id!",
    },
}
READING = {
    "sessions": "context_search context_get context_warn context_stats context_recommend",
    "fragments": "recall context memory_stats graph_explore",
}
NOT_TO_REPEAT = {"sessions": "", "fragments": "amend reflect tool_feedback"}
DESTROYING = {"sessions": "", "fragments": "forget"}


@pytest.fixture(autouse=True)
def the_rooms_as_before() -> Iterator[None]:
    with put_back():
        yield


@pytest.fixture(params=OFFERED)
def room(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def tools_of(room: str, *, core_only: bool = False) -> list[dict[str, Any]]:
    return surface(OFFERED[room](core_only=core_only))


@pytest.mark.row("003 T84")
def test_the_surface_of_a_room_is_the_recorded_one(room: str) -> None:
    recorded = ROOT / "tests" / "data" / f"tool_surface_{room}.json"
    assert tools_of(room) == json.loads(recorded.read_text(encoding="utf-8"))


def declared(tool: dict[str, Any]) -> str:
    """The parameters of a tool as the table above writes them."""
    schema = tool["inputSchema"]
    words = []
    for name, part in schema["properties"].items():
        mark = "!" if name in schema.get("required", ()) else ""
        if "default" in part:
            mark += f"={json.dumps(part['default'], separators=(',', ':'))}"
        words.append(f"{name}{mark}")
    return " ".join(words)


@pytest.mark.row("002 2.10", "002 2.10.a", "002 2.31", "002 2.36.a", "002 2.38.e", "002 2.38.f")
@pytest.mark.row("002 2.41.a", "002 2.41.b", "002 2.47.a", "002 2.47.b", "002 2.49.a", "002 2.49.b")
@pytest.mark.row("002 2.49.c", "002 2.49.g", "002 2.50.b", "002 2.52", "002 2.90", "003 T32")
@pytest.mark.row("003 T68")
def test_there_are_the_tools_with_the_parameters_of_the_specifications(room: str) -> None:
    assert {tool["name"]: declared(tool) for tool in tools_of(room)} == PARAMETERS[room]
    assert [*PARAMETERS[room]] == list(KNOWN_TOOLS[room])


@pytest.mark.row("002 2.84", "004 4.11.a")
def test_the_profile_core_offers_the_tools_of_a_day(room: str) -> None:
    assert [tool["name"] for tool in tools_of(room, core_only=True)] == CORE[room].split()
    assert list(KNOWN_TOOLS[f"{room}:core"]) == CORE[room].split()


@pytest.mark.row("002 2.90")
def test_the_tools_cost_a_model_no_more_tokens_than_is_told(room: str) -> None:
    most, most_of_core = MOST_TOKENS[room]
    assert tokens_of(as_offered(tools_of(room))) <= most
    assert tokens_of(as_offered(tools_of(room, core_only=True))) <= most_of_core
    assert all(len(it["description"].encode()) < MOST_BYTES[room] for it in tools_of(room))


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


def test_hints_tell_what_writes_what_destroys_and_what_may_be_repeated(room: str) -> None:
    hints = {tool["name"]: tool["annotations"] for tool in tools_of(room)}
    for hint, names, holds in (
        ("readOnlyHint", READING, True),
        ("destructiveHint", DESTROYING, True),
        ("idempotentHint", NOT_TO_REPEAT, False),
    ):
        assert {name for name, it in hints.items() if it[hint] is holds} == {*names[room].split()}
    assert hints.keys() & WRITING_TOOLS.keys() == hints.keys() - {*READING[room].split()}
