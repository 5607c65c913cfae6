"""The arguments of a call: what is taken where models err, and the sentence where it is refused.

A model sends null for what it leaves out, and a text for a list or an object. Both are taken, and
neither is shown in a schema, which costs tokens and would invite it.
"""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any, ClassVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema

from core.errors import RefusedError
from core.messages import say
from core.text.plain import one_line

NULL = SkipJsonSchema[None]
LONE_SURROGATE = {"lone_surrogate": True}  # no text, so that the argument is refused
MOST_SENTENCES = 5

_EXPECTED = {
    "compact_threshold": "expected_number",
    "paths": "expected_paths",
    "source_ids": "expected_tokens",
    "when": "expected_pieces",
    "delete_ids": "expected_tokens",
    "importance": "expected_share",
    "threshold": "expected_share",
}
_EXPECTED_OF_KIND = {
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float", "value_error"), "number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "flag"),
    **dict.fromkeys(("model_type", "model_attributes_type", "dict_type"), "object"),
    "list_type": "list",
    "less_than_equal": "most",
    "greater_than_equal": "least",
}
_UNKNOWN = ("unexpected_keyword_argument", "extra_forbidden")
_MISSING = ("missing", "missing_argument", "missing_keyword_only_argument")
_NULL_BRANCH = "none"
# What pydantic calls a member of a union, as a step between a field and its parts.
_BRANCH = re.compile(r"none|str|int|float|bool|(?:list|literal|function-[a-z]+)\[.*", re.DOTALL)
_WORD = re.compile("'([^']*)'")
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")


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
Tokens = list[str] | SkipJsonSchema[str | None]
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


def argument_sentence(error: ValidationError, tool: str, schema: Mapping[str, Any]) -> str:
    """Return one sentence for each refused argument, without the values that were sent.

    pydantic's own text repeats them. error: what is wrong with a call of `tool`. schema: of its
    arguments, without references. Of many in a list, the first few are named.
    """
    sentences: dict[str, str] = {}
    refused = set[object]()
    for detail in error.errors(include_url=False):
        loc = detail["loc"]
        if loc[-1:] == (_NULL_BRANCH,) and loc[:-1] in refused:  # what was refused is not null
            continue
        refused.update(loc[:end] for end in range(1, len(loc) + 1))
        name = _name_of(loc, is_own=detail["type"] == "extra_forbidden")
        if name not in sentences:
            sentences[name] = _sentence(detail, name, tool, schema)
    return "\n".join([*sentences.values()][:MOST_SENTENCES])


def _sentence(detail: Mapping[str, Any], name: str, tool: str, schema: Mapping[str, Any]) -> str:
    kind, value, field, loc = detail["type"], detail["input"], one_line(name)[:60], detail["loc"]
    values = value if isinstance(value, list) else [value]
    if LONE_SURROGATE in values or {*loc} & LONE_SURROGATE.keys():
        return str(RefusedError("lone_surrogate", field=field))
    if kind in _UNKNOWN:
        known = ", ".join(_fields_at(schema, loc[:-1]))
        if name in loc:
            return say("protocol.unknown_argument", field=field[:40], tool=tool, known=known)
        return say("protocol.unknown_part", field=field, tool=tool, known=known)
    if kind in _MISSING:
        return say("protocol.missing_argument", field=field, tool=tool)
    if kind == "literal_error":
        if name == "type" and tool == "log_memory":
            return str(RefusedError("unknown_type"))
        known = ", ".join(_WORD.findall(detail["ctx"]["expected"]))
        return say("protocol.wrong_word", field=field, tool=tool, known=known)
    key = _EXPECTED.get(str(loc[0]) if loc else "")
    key = key or f"expected_{_EXPECTED_OF_KIND.get(kind, 'text')}"
    bounds = detail.get("ctx", {})
    expected = say(f"protocol.{key}", bound=bounds.get("le", bounds.get("ge", "")))
    return say("protocol.wrong_type", field=field, tool=tool, expected=expected)


def _name_of(loc: Sequence[str | int], *, is_own: bool) -> str:
    """Return where a value stands: `tags`, `decisions[0].why`.

    The second step of a place is the branch of a union, in words of pydantic, as others may be. A
    place within a plain list is named by the list. is_own: whether a caller made up the last step.
    """
    field, steps = str(loc[0]) if loc else "", list[str | int]()
    for at, step in enumerate(loc[2:], start=2):
        is_branch = isinstance(step, str) and _BRANCH.fullmatch(step) is not None
        if not is_branch or (is_own and at == len(loc) - 1):
            steps.append(step)
    if all(isinstance(step, int) for step in steps):
        return field
    return field + "".join(f"[{it}]" if isinstance(it, int) else f".{it}" for it in steps)


def _fields_at(schema: Mapping[str, Any], loc: Sequence[str | int]) -> list[str]:
    """Return the fields that an object at this place may have."""
    for step in (*loc, None):
        branches = [
            it for it in schema.get("anyOf", [schema]) if {"properties", "items"} & it.keys()
        ]
        schema = branches[0] if branches else {}
        if isinstance(step, int):
            schema = schema.get("items", {})
        elif step in schema.get("properties", {}):  # else it names a branch of a union
            schema = schema["properties"][step]
    return list(schema.get("properties", {}))


def answerable(line: bytes) -> bytes:
    r"""Return a line of the protocol, or the same message with each half character replaced.

    A JSON escape such as `\ud800` alone is half of one. The library (mcp 2.3.0) drops such a line
    without an answer. Here an argument becomes `LONE_SURROGATE`, which is refused with a sentence.
    """
    if not _SURROGATE_ESCAPE.search(line):
        return line
    try:
        message = json.loads(line)
        params = message["params"]
        changed = _replaced(message, "\ufffd")
        if message.get("method") == "tools/call" and "arguments" in params:
            arguments = _replaced(params["arguments"], LONE_SURROGATE)
            changed["params"]["arguments"] = arguments
    except (ValueError, RecursionError, AttributeError, KeyError, TypeError):
        return line
    return line if changed == message else json.dumps(changed).encode("ascii") + b"\n"


def _replaced(value: Any, substitute: Any) -> Any:
    """Return the value with every text that holds a half character replaced (in keys by U+FFFD)."""
    if isinstance(value, str):
        if not _SURROGATE.search(value):
            return value
        return _SURROGATE.sub(substitute, value) if isinstance(substitute, str) else substitute
    if isinstance(value, list):
        return [_replaced(item, substitute) for item in value]
    if isinstance(value, dict):
        return {
            _SURROGATE.sub("\ufffd", key): _replaced(item, substitute)
            for key, item in value.items()
        }
    return value
