"""Tests what is taken of arguments where models err, and what is refused."""

from typing import Annotated, Any

import pytest
from pydantic import BeforeValidator, TypeAdapter, ValidationError

from protocol.arguments import Name, NotNegative, OneToTwenty, Part, Text, Texts, listed, word


class Card(Part):
    """What a card holds."""

    passed_over = frozenset(("seen",))
    title: str
    note: str = ""


class Note(Part):
    """What a note holds."""

    text_field = "text"
    pages: int = 1
    text: str = ""


Cards = Annotated[list[Card] | None, BeforeValidator(listed)]
WORD = Annotated[Text, BeforeValidator(word)]


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


def test_what_is_meant_is_taken_and_what_means_nothing_is_refused() -> None:
    for kind, given, taken in TAKEN:
        assert TypeAdapter(kind).validate_python(given) == taken, given
    for kind, values in REFUSED:
        for given in values:
            with pytest.raises(ValidationError):
                TypeAdapter(kind).validate_python(given)


def test_a_schema_shows_neither_defaults_nor_what_a_class_says_of_itself() -> None:
    assert Card.model_json_schema()["properties"] == {
        "title": {"title": "Title", "type": "string"},
        "note": {"title": "Note", "type": "string"},
    }
    assert "description" not in Card.model_json_schema()
