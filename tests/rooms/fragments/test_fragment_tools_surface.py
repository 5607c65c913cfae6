"""Tests what a model sees of the tools of the fragments, and what it pays for that."""

import json
from pathlib import Path
from typing import Any

import pytest

from commands.clients.table import TOOLS as KNOWN_TOOLS
from protocol.under_way import _WRITING
from rooms.fragments.kinds import RELATIONS, WORDS_OF_TYPE
from tests.support.fragment_tools import offered
from tests.support.rows import none_of
from tests.support.session_tools import as_offered, parts, surface, tokens_of, words_of_python
from tests.support.stdio_client import ROOT

SURFACE = ROOT / "tests" / "data" / "tool_surface_fragments.json"
CORE = ["remember", "recall", "forget", "pin", "unpin"]
# What 002 and 004 declare, together.
PARAMETERS = {
    "remember": "content topic type keywords tags importance source linkedTo scope isAnchor agentId"
    " privacy_scope",
    "recall": "keywords topic type text query tokenBudget includeLinks linkRelationType threshold"
    " filters limit agentId",
    "forget": "id topic force hard agentId",
    "link": "fromId toId relationType agentId",
    "amend": "id content topic keywords type importance isAnchor supersedes agentId",
    "reflect": "summary sessionId decisions errors_resolved new_procedures open_questions agentId"
    " task_effectiveness",
    "context": "tokenBudget types sessionId agentId",
    "tool_feedback": "tool_name relevant sufficient suggestion context session_id trigger_type",
    "memory_stats": "",
    "memory_consolidate": "",
    "graph_explore": "startId agentId",
    "pin": "id",
    "unpin": "id",
}


@pytest.fixture(autouse=True)
def the_room_as_before(database: Path) -> None:
    """What a server hands in is taken back."""


def schema_of(tool: str) -> dict[str, Any]:
    [schema] = [it["inputSchema"] for it in surface(offered()) if it["name"] == tool]
    return dict(schema)


def test_the_surface_of_the_fragments_is_the_recorded_one() -> None:
    assert surface(offered()) == json.loads(SURFACE.read_text(encoding="utf-8"))


@pytest.mark.row("002 2.10", "002 2.10.a", "002 2.50.b", "002 2.90")
def test_there_are_the_thirteen_tools_with_the_parameters_of_the_specifications() -> None:
    seen = {tool["name"]: list(tool["inputSchema"]["properties"]) for tool in surface(offered())}
    assert seen == {name: words.split() for name, words in PARAMETERS.items()}
    assert list(seen) == list(KNOWN_TOOLS["fragments"])


@pytest.mark.row("002 2.84", "004 4.11.a")
def test_the_profile_core_offers_the_five_tools_of_a_day() -> None:
    assert [tool["name"] for tool in surface(offered(core_only=True))] == CORE
    assert list(KNOWN_TOOLS["fragments:core"]) == CORE


@pytest.mark.row("002 2.90")
def test_thirteen_tools_cost_a_model_at_most_1700_tokens_and_the_core_650() -> None:
    assert tokens_of(as_offered(surface(offered()))) <= 1_700
    assert tokens_of(as_offered(surface(offered(core_only=True)))) <= 650


def test_no_schema_shows_null_a_title_or_a_word_of_python() -> None:
    none_of(words_of_python(surface(offered())))


def test_every_object_shows_properties() -> None:
    """Gemini's interface refuses the whole list for one object without any."""
    none_of(
        f"{place}.{key}"
        for tool in surface(offered())
        for place, key, value in parts(tool["inputSchema"]["properties"], tool["name"])
        if isinstance(value, dict) and value.get("type") == "object" and not value.get("properties")
    )


def test_the_words_of_type_and_relation_are_shown_where_every_profile_has_them() -> None:
    assert schema_of("remember")["properties"]["type"]["enum"] == list(WORDS_OF_TYPE)
    assert schema_of("recall")["properties"]["linkRelationType"]["enum"] == list(RELATIONS)


@pytest.mark.row("002 2.36.a", "002 2.38.e", "002 2.38.f", "002 2.47.a", "002 2.47.b", "002 2.49.g")
def test_the_declared_defaults_are_shown() -> None:
    shown = {
        f"{tool['name']}.{name}": part["default"]
        for tool in surface(offered())
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
    required = {it["name"]: it["inputSchema"].get("required", []) for it in surface(offered())}
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


def test_hints_tell_what_reads_what_destroys_and_what_may_be_repeated() -> None:
    hints = {tool["name"]: tool["annotations"] for tool in surface(offered())}
    reading = {name for name, it in hints.items() if it["readOnlyHint"]}
    assert reading == {"recall", "context", "memory_stats", "graph_explore"}
    assert {name for name, it in hints.items() if it["destructiveHint"]} == {"forget"}
    once = {name for name, it in hints.items() if not it["idempotentHint"]}
    assert once == {"amend", "reflect", "tool_feedback"}
    assert set(hints) - reading <= _WRITING.keys()
    assert not reading & _WRITING.keys()


def test_descriptions_are_short_enough_for_every_client() -> None:
    assert all(len(tool["description"].encode()) < 512 for tool in surface(offered()))
