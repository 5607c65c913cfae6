"""Tests what a model sees of the tools of each room beside the log, and what it pays for that."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from commands.clients.table import TOOLS as KNOWN_TOOLS
from protocol.stdio import WRITING_TOOLS
from tests.support.room_tools import ROOMS, as_offered, offered, surface, tokens_of
from tests.support.tables import none_of, table

# What 003, and 002 and 004 together, declare: `!` is required, `=` the default that a model sees.
TABLE = table("tool_parameters")


@pytest.fixture(params=ROOMS)
def room(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def tools_of(room: str, *, core_only: bool = False) -> list[dict[str, Any]]:
    return surface(offered(room, core_only=core_only))


@pytest.mark.row("003 T84")
def test_the_surface_of_a_room_is_the_recorded_one(room: str) -> None:
    assert tools_of(room) == table(f"tool_surface_{room}")


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
    assert {tool["name"]: declared(tool) for tool in tools_of(room)} == TABLE[room]["parameters"]
    assert [*TABLE[room]["parameters"]] == list(KNOWN_TOOLS[room])


@pytest.mark.row("002 2.84", "002 2.90", "004 4.11.a")
def test_the_profile_core_offers_the_tools_of_a_day_and_all_cost_what_is_told(room: str) -> None:
    most, tools, core = TABLE[room], tools_of(room), tools_of(room, core_only=True)
    assert [tool["name"] for tool in core] == list(KNOWN_TOOLS[f"{room}:core"]) == most["core"]
    assert tokens_of(as_offered(tools)) <= most["most_tokens"]
    assert tokens_of(as_offered(core)) <= most["most_tokens_of_core"]
    longest = max(len(it["description"].encode()) for it in tools)
    assert longest < most["most_bytes_of_a_description"]


def parts(value: Any, place: str) -> Iterator[tuple[str, str, Any]]:
    """Every key of a schema, with its place and its value."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield place, key, each
            yield from parts(each, f"{place}.{key}")
    elif isinstance(value, list):
        for at, each in enumerate(value):
            yield from parts(each, f"{place}[{at}]")


def test_no_schema_shows_null_a_title_or_a_word_of_python(room: str) -> None:
    none_of(
        f"{place}.{key}: {value}"
        for tool in tools_of(room)
        for place, key, value in parts(tool["inputSchema"], tool["name"])
        if key in ("title", "ge", "le", "anyOf", "$ref", "$defs")
        or (value in (None, "null") and key in ("default", "type"))
    )


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
        ("readOnlyHint", "reading", True),
        ("destructiveHint", "destroying", True),
        ("idempotentHint", "not_to_repeat", False),
    ):
        assert {it for it, told in hints.items() if told[hint] is holds} == {*TABLE[room][names]}
    assert hints.keys() & WRITING_TOOLS.keys() == hints.keys() - {*TABLE[room]["reading"]}
