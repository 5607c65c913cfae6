"""Takes what models send where they err: null for what is left out, text for a list or an object.

Neither is shown in a schema, which costs tokens and would invite it.
"""

import json
from contextlib import suppress
from typing import Annotated, Any, ClassVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema

NULL = SkipJsonSchema[None]


def parsed(value: object) -> object:
    """Return what JSON in a text stands for; anything else as it is."""
    if isinstance(value, str) and value.strip()[:1] in ("[", "{"):
        with suppress(ValueError, RecursionError):
            return json.loads(value)
    return value


def listed(value: object) -> object:
    """Return a list for JSON in a text, for a single text and for a single object."""
    value = parsed(value)
    if isinstance(value, str | dict):
        return [value] if value else None
    return value


def split(value: object) -> object:
    """Return a list for JSON in a text and for words with commas between them."""
    value = parsed(value)
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return value


def word(value: object) -> object:
    """Return a word in lower case, null for a blank one."""
    return value.strip().lower() or None if isinstance(value, str) else value


def no_flag(value: object) -> object:
    """Refuse true and false, which Python takes for numbers."""
    if isinstance(value, bool):
        raise ValueError("a number is needed")
    return value


def _as_text(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Text = str | NULL
Texts = Annotated[list[str] | NULL, BeforeValidator(split)]
Name = Annotated[str, BeforeValidator(_as_text)]  # models send the number 12 for "12"
# The bounds come first: behind a validator they are no minimum and maximum in the schema.
OneToTwenty = Annotated[int, Field(ge=1, le=20), BeforeValidator(no_flag)] | NULL
NotNegative = Annotated[int, Field(ge=0), BeforeValidator(no_flag)] | NULL
# Its bounds are told in words: as two keys of a schema they cost three times as much.
Share = (
    Annotated[
        float,
        Field(ge=0, le=1),
        BeforeValidator(no_flag),
        WithJsonSchema({"type": "number"}),
    ]
    | NULL
)


def _shortened(schema: dict[str, Any]) -> None:
    """Take out of a schema what a model need not read."""
    schema.pop("description", None)
    for each in schema["properties"].values():
        each.pop("default", None)


class Part(BaseModel):
    """An object within an argument; a text in its place is its `text_field`, else its first."""

    passed_over: ClassVar[frozenset[str]] = frozenset()  # other fields that may be sent
    text_field: ClassVar[str] = ""
    model_config = ConfigDict(extra="forbid", populate_by_name=True, json_schema_extra=_shortened)

    @model_validator(mode="before")
    @classmethod
    def _lenient(cls, value: Any) -> Any:
        value = parsed(value)
        if isinstance(value, str):
            return {cls.text_field or next(iter(cls.model_fields)): value}
        if isinstance(value, dict):
            kept = ((k, v) for k, v in value.items() if k not in cls.passed_over)
            return {key: each for key, each in kept if each is not None}
        return value
