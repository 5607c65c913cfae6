"""Tests a call: how its arguments are read where models err, and whose it is."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BeforeValidator, TypeAdapter, ValidationError

from protocol import call
from protocol.arguments import (
    LONE_SURROGATE,
    Name,
    NotNegative,
    OneToTwenty,
    Part,
    Text,
    Texts,
    as_list,
    as_word,
    without_surrogates,
)
from tests.support.tables import table


class Card(Part):
    """The fields of a card."""

    ignored_fields = frozenset(("seen",))
    title: str
    note: str = ""


class Note(Part):
    """The fields of a note."""

    text_field = "text"
    pages: int = 1
    text: str = ""


Cards = Annotated[list[Card] | None, BeforeValidator(as_list)]
WORD = Annotated[Text, BeforeValidator(as_word)]


TAKEN: list[tuple[Any, object, object]] = [
    (Texts, None, None),
    (Texts, "a, b,,", ["a", "b"]),
    (Texts, '["a, b", "c"]', ["a, b", "c"]),
    (Texts, "[no json", ["[no json"]),
    (Texts, ["a, b"], ["a, b"]),
    (Name, 12, "12"),
    (Name, "#12", "#12"),
    (OneToTwenty, "7", 7),
    (OneToTwenty, None, None),
    (NotNegative, 0, 0),
    (WORD, " Completed ", "completed"),
    (WORD, "", None),
    (Cards, "a title", [Card(title="a title")]),
    (Cards, {"title": "a", "note": None, "seen": 3}, [Card(title="a")]),
    (Cards, '[{"title": "a"}, "b"]', [Card(title="a"), Card(title="b")]),
    (Cards, "", None),
    (Note, "a text", Note(text="a text")),
    (Note, '{"pages": 2}', Note(pages=2)),
]
REFUSED: list[tuple[Any, list[object]]] = [
    (Texts, [[1], {"a": 1}]),
    (Name, [True, 1.5]),
    (OneToTwenty, [0, 21, True]),
    (NotNegative, [-1]),
    (Cards, [[{"note": "x"}], [{"title": "x", "other": 1}], 3]),
    (Note, [{"pages": "many"}]),
]


def test_a_value_in_another_form_is_taken_and_a_schema_shows_no_defaults() -> None:
    for kind, given, taken in TAKEN:
        assert TypeAdapter(kind).validate_python(given) == taken, given
    for kind, values in REFUSED:
        for given in values:
            with pytest.raises(ValidationError):
                TypeAdapter(kind).validate_python(given)
    assert Card.model_json_schema()["properties"] == {
        "title": {"title": "Title", "type": "string"},
        "note": {"title": "Note", "type": "string"},
    }
    assert "description" not in Card.model_json_schema()


# Lines with half of a character.


def line_of(arguments: dict[str, Any], method: str = "tools/call", **params: Any) -> bytes:
    message = {"jsonrpc": "2.0", "id": 1, "method": method}
    message["params"] = {"arguments": arguments, **params}
    return json.dumps(message).encode() + b"\n"


HALF, PAIR = "\ud800", "\U0001f600"
AUTH = {"topic": f"auth {PAIR}"}
MARKED = {"arguments": {"lesson": LONE_SURROGATE, **AUTH, "ids": ["a", LONE_SURROGATE]}}
ANSWERABLE: list[tuple[bytes, dict[str, Any] | None]] = [  # the parameters then, None: as it came
    *((line, None) for line in (b"", b"\n", b"not json \\ud800\n", b'"\\ud800"\n')),
    *((line_of({"lesson": text}), None) for text in ("plain 한글", f"a pair {PAIR}")),
    (line_of({"lesson": f"x{HALF}", **AUTH, "ids": ["a", "\udc00"]}), MARKED),
    # Elsewhere it becomes the replacement character.
    (line_of(AUTH, name=f"x{HALF}"), {"arguments": AUTH, "name": "x\ufffd"}),
    # An argument of a prompt stays a text.
    (line_of({"task": f"x{HALF}"}, "prompts/get"), {"arguments": {"task": "x\ufffd"}}),
]


def test_an_argument_with_half_a_character_is_marked_and_the_others_stay() -> None:
    for line, params in ANSWERABLE:
        taken = without_surrogates(line)
        assert taken == line if params is None else json.loads(taken)["params"] == params


# Which session and which client a call is of, over stdio and over HTTP.


def test_a_session_is_the_doors_else_the_named_one_else_the_client_and_the_day() -> None:
    """Over stdio the name given, else the process; people with one client are told apart."""
    sessions = [call.session_of(" s1 "), call.session_of(), call.session_of(" ")]
    assert sessions == ["s1", call.PROCESS, call.PROCESS]
    assert (call.current_caller(), call.process_name()) == (None, call.PROCESS)
    for caller, session, named, process in table("callers"):  # without a name, with "s1"
        with call.set_caller(call.Caller(**caller)):
            found = (call.session_of(), call.session_of("s1"), call.process_name())
            today = f"{datetime.now(UTC):%Y-%m-%d}"
            assert found == tuple(it.format(day=today) for it in (session, named, process))
            assert call.client_name() == caller.get("client", "")
    assert call.current_caller() is None


def test_a_server_over_http_names_no_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shop").mkdir()
    monkeypatch.delenv("SENTINEL_MEMORY_PROJECT", raising=False)
    monkeypatch.delenv("CLAUDE_PROJECT_DIR", raising=False)
    monkeypatch.chdir(tmp_path / "shop")
    assert call.project_name() == "shop"
    with call.set_caller(call.Caller(agent="alice")):
        assert call.project_name() == ""
        monkeypatch.setattr("protocol.call.options.project", str(tmp_path / "shop"))
        assert call.project_name() == "shop"
