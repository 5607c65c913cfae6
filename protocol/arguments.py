"""Reads the arguments of a call leniently, and says in a sentence why one is refused.

Models send null for an argument that they leave out, and a text for a list or object. Both are
accepted; a schema with them would cost tokens and invite them.
"""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Any, ClassVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)

from core.text.plain import SURROGATE, one_line

LONE_SURROGATE = {"lone_surrogate": True}  # no text, so that the argument is refused
MOST_REFUSED = 5  # arguments that a refusal names
_NAME_CHARS = 60  # a client may have made a name up
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")


def parse_json(value: object) -> object:
    """Decode a text that holds a JSON list or object; return any other value unchanged."""
    if isinstance(value, str) and value.strip()[:1] in ("[", "{"):
        with suppress(ValueError, RecursionError):
            return json.loads(value)
    return value


def as_list(value: object) -> object:
    """Return a list, also for JSON in a text and for a single text or object.

    >>> as_list("a, b"), as_list('["a"]'), as_list("")
    (['a, b'], ['a'], None)
    """
    value = parse_json(value)
    if isinstance(value, str | dict):
        return [value] if value else None
    return value


def as_words(value: object) -> object:
    """Return a list, also for JSON in a text and for words between commas."""
    value = parse_json(value)
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return value


def as_word(value: object) -> object:
    """Return a word in lower case, None for a blank one."""
    return value.strip().lower() or None if isinstance(value, str) else value


def deny_bool(value: object) -> object:
    """Refuse true and false, which Python takes for numbers."""
    if isinstance(value, bool):
        raise ValueError("a number is needed")
    return value


Text = str | None
Pieces = Annotated[  # the log splits a text by itself
    list[str] | None, WrapValidator(lambda arg, read: arg if isinstance(arg, str) else read(arg))
]
Texts = Annotated[list[str] | None, BeforeValidator(as_words)]
# Models send the number 12 for "12".
Name = Annotated[str, BeforeValidator(lambda value: str(value) if type(value) is int else value)]
# The bounds come first: behind a validator they are no minimum and maximum in the schema.
OneToTwenty = Annotated[int, Field(ge=1, le=20), BeforeValidator(deny_bool)] | None
NotNegative = Annotated[int, Field(ge=0), BeforeValidator(deny_bool)] | None
# Its bounds are told in words: as two keys of a schema they cost three times as much.
_NumberSchema = WithJsonSchema({"type": "number"})
Share = Annotated[float, Field(ge=0, le=1), BeforeValidator(deny_bool), _NumberSchema] | None


def _strip(schema: dict[str, Any]) -> None:
    schema.pop("description", None)
    for field in schema["properties"].values():
        field.pop("default", None)


class Part(BaseModel):
    """An object in an argument; a text instead of it fills `text_field`, else the first field."""

    ignored_fields: ClassVar[frozenset[str]] = frozenset()  # other fields that may be sent
    text_field: ClassVar[str] = ""
    model_config = ConfigDict(extra="forbid", populate_by_name=True, json_schema_extra=_strip)

    @model_validator(mode="before")
    @classmethod
    def _parse_leniently(cls, value: Any) -> Any:
        value = parse_json(value)
        if isinstance(value, str):
            return {cls.text_field or next(iter(cls.model_fields)): value}
        if value == LONE_SURROGATE:
            raise ValueError("half a character")
        if isinstance(value, dict):
            empty_keys = {key for key, item in value.items() if item is None}
            return {key: value[key] for key in value if key not in empty_keys | cls.ignored_fields}
        return value


def text_of_refusal(error: ValidationError, tool: str, schema: Mapping[str, Any]) -> str:
    """Name wrong arguments without values: a secret, or ten megabytes. schema: of no references."""
    lines = list[str]()
    for detail in error.errors(include_url=False)[:MOST_REFUSED]:
        steps, message = detail["loc"], detail["msg"]
        if detail["input"] == LONE_SURROGATE:
            message = "it contains half of a character (a lone surrogate)."
            message += " Send the text again without it"
        elif detail["type"] in ("unexpected_keyword_argument", "extra_forbidden"):
            part = schema
            for step in steps[:-1]:
                part = part["items"] if isinstance(step, int) else part["properties"][step]
            message += f"; known: {', '.join(part['properties']) or 'none'}"
        path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
        name = one_line(path.lstrip("."))[:_NAME_CHARS]  # `tags[1]`, `decisions[0].why`
        lines.append(f"{name}: {message}.")
    return "\n".join(lines) + f" Nothing was changed. Call {tool} again with other arguments."


def without_surrogates(line: bytes) -> bytes:
    r"""Replace half characters such as `\ud800`, for which the library (mcp 2.3.0) drops a line.

    An argument with one becomes `LONE_SURROGATE`, which is refused.
    """
    if not _SURROGATE_ESCAPE.search(line):
        return line
    try:
        message = json.loads(line)
        params = message["params"]
        clean_message = _replace(message, "\ufffd")
        if message.get("method") == "tools/call" and "arguments" in params:
            clean_message["params"]["arguments"] = _replace(params["arguments"], LONE_SURROGATE)
    except (ValueError, RecursionError, AttributeError, KeyError, TypeError):
        return line
    return line if clean_message == message else json.dumps(clean_message).encode("ascii") + b"\n"


def _replace(value: Any, substitute: object) -> Any:
    """Replace each text with a half character; in a key only that character, by U+FFFD."""
    if isinstance(value, list):
        return [_replace(item, substitute) for item in value]
    if isinstance(value, dict):
        return {SURROGATE.sub("\ufffd", k): _replace(v, substitute) for k, v in value.items()}
    if not isinstance(value, str) or not SURROGATE.search(value):
        return value
    return SURROGATE.sub(substitute, value) if isinstance(substitute, str) else substitute
