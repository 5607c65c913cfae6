"""Tests what a model sees of the tools of the sessions, and what it pays for that."""

import json
from collections.abc import Iterator

import pytest

from core.cancellation import NO_CANCELLATION
from rooms.sessions.tools import _Room
from tests.support.rows import none_of
from tests.support.session_tools import as_offered, offered, surface, tokens_of, words_of_python
from tests.support.stdio_client import ROOT

SURFACE = ROOT / "tests" / "data" / "tool_surface_sessions.json"
CORE = ["context_save", "context_search", "context_get", "context_warn"]
PARAMETERS = {
    "context_save": "goal summary status tags parentId decisions approaches blockers codeChanges"
    " id",
    "context_search": "query tags status agent dateRange limit offset scope",
    "context_get": "id includeActions includeChain",
    "context_warn": "currentGoal limit",
    "context_stats": "range",
    "context_export": "format range contextIds output",
    "context_recommend": "currentGoal limit",
}


@pytest.fixture(autouse=True)
def the_room_as_before() -> Iterator[None]:
    before = _Room.cancellation, _Room.core_only, _Room.has_lessons
    yield
    _Room.cancellation, _Room.core_only, _Room.has_lessons = before


@pytest.mark.row("003 T84")
def test_the_surface_of_the_sessions_is_the_recorded_one() -> None:
    assert surface(offered()) == json.loads(SURFACE.read_text(encoding="utf-8"))


@pytest.mark.row("003 T32", "003 T68")
def test_there_are_the_seven_tools_with_the_parameters_of_the_specification() -> None:
    seen = {tool["name"]: list(tool["inputSchema"]["properties"]) for tool in surface(offered())}
    assert seen == {name: words.split() for name, words in PARAMETERS.items()}


def test_the_profile_core_offers_the_four_tools_of_a_day() -> None:
    assert [tool["name"] for tool in surface(offered(core_only=True))] == CORE


def test_seven_tools_cost_a_model_at_most_1200_tokens_and_the_core_850() -> None:
    assert tokens_of(as_offered(surface(offered()))) <= 1_200
    assert tokens_of(as_offered(surface(offered(core_only=True)))) <= 850


def test_no_schema_shows_null_a_title_or_a_word_of_python() -> None:
    none_of(words_of_python(surface(offered())))


@pytest.mark.row("003 T42")
def test_a_limit_is_a_whole_number_with_its_bounds() -> None:
    limits = [
        tool["inputSchema"]["properties"]["limit"]
        for tool in surface(offered())
        if "limit" in tool["inputSchema"]["properties"]
    ]
    assert [(it["type"], it["minimum"], it["maximum"]) for it in limits] == [("integer", 1, 20)] * 3


def test_only_a_save_and_an_export_may_change_anything() -> None:
    hints = {tool["name"]: tool["annotations"]["readOnlyHint"] for tool in surface(offered())}
    assert [name for name, reads in hints.items() if not reads] == [
        "context_save",
        "context_export",
    ]


def test_descriptions_are_short_enough_for_every_client() -> None:
    assert all(len(tool["description"].encode()) < 1_024 for tool in surface(offered()))


def test_what_a_server_hands_in_holds_for_its_tools() -> None:
    offered(core_only=True, has_lessons=False)
    assert (_Room.cancellation, _Room.core_only, _Room.has_lessons) == (
        NO_CANCELLATION,
        True,
        False,
    )
