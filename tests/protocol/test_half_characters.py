"""Tests that protocol lines with half characters become answerable and others pass unchanged."""

import json
from typing import Any

import pytest

from protocol.arguments import LONE_SURROGATE, answerable


def call(arguments: dict[str, Any], **params: Any) -> bytes:
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"arguments": arguments, **params},
    }
    return json.dumps(message).encode() + b"\n"


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\n",
        b"not json \\ud800\n",
        b'"\\ud800"\n',
        call({"lesson": "plain 한글"}),
        call({"lesson": "a pair \U0001f600"}),
    ],
)
def test_a_line_without_half_characters_in_a_request_is_unchanged(line: bytes) -> None:
    assert answerable(line) == line


def test_an_argument_with_half_a_character_is_marked_and_the_others_stay() -> None:
    line = call({"lesson": "x\ud800", "topic": "auth \U0001f600", "source_ids": ["a", "\udc00"]})
    assert json.loads(answerable(line))["params"]["arguments"] == {
        "lesson": LONE_SURROGATE,
        "topic": "auth \U0001f600",
        "source_ids": ["a", LONE_SURROGATE],
    }


def test_half_a_character_elsewhere_becomes_the_replacement_character() -> None:
    line = call({"topic": "auth"}, name="x\ud800")
    params = json.loads(answerable(line))["params"]
    assert params == {"arguments": {"topic": "auth"}, "name": "x\ufffd"}


def test_an_argument_of_a_prompt_stays_a_text() -> None:
    line = call({"task": "x\ud800"}).replace(b"tools/call", b"prompts/get")
    assert json.loads(answerable(line))["params"]["arguments"] == {"task": "x\ufffd"}
