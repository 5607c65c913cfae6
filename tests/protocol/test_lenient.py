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


@pytest.mark.parametrize(
    ("kind", "given", "taken"),
    [
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
    ],
)
def test_what_is_meant_is_taken(kind: Any, given: object, taken: object) -> None:
    assert TypeAdapter(kind).validate_python(given) == taken


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (Texts, [1]),
        (Texts, {"a": 1}),
        (Name, True),
        (Name, 1.5),
        (OneToTwenty, 0),
        (OneToTwenty, 21),
        (OneToTwenty, True),
        (NotNegative, -1),
        (Cards, [{"note": "x"}]),
        (Cards, [{"title": "x", "other": 1}]),
        (Cards, 3),
        (Note, {"pages": "many"}),
    ],
)
def test_what_means_nothing_is_refused(kind: Any, given: object) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(kind).validate_python(given)


def test_a_schema_shows_neither_defaults_nor_what_a_class_says_of_itself() -> None:
    assert Card.model_json_schema()["properties"] == {
        "title": {"title": "Title", "type": "string"},
        "note": {"title": "Note", "type": "string"},
    }
    assert "description" not in Card.model_json_schema()
