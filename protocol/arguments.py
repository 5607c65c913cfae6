"""Says in sentences which arguments of a call are wrong, without the values that were sent.

What the core refuses itself has its sentence there.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from core.errors import LoneSurrogateError, UnknownTypeError
from core.messages import say
from core.text.printable import one_line
from protocol.half_characters import LONE_SURROGATE

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
_MISSING = ("missing", "missing_argument", "missing_keyword_only_argument")
_NULL_BRANCH = "none"
# What pydantic calls a member of a union, as a step between a field and its parts.
_BRANCH = re.compile(r"none|str|int|float|bool|(?:list|literal|function-[a-z]+)\[.*", re.DOTALL)
_WORD = re.compile("'([^']*)'")
MOST_SENTENCES = 5


def argument_sentence(error: ValidationError, tool: str, schema: Mapping[str, Any]) -> str:
    """Write one sentence for each refused argument, in the order in which they were found.

    error: what pydantic found wrong with a call of `tool`. schema: of its arguments, without
    references. Of many in a list, the first few are named.
    """
    sentences: dict[str, str] = {}
    refused = set[object]()
    for detail in error.errors(include_url=False):
        loc = detail["loc"]
        if loc[-1:] == (_NULL_BRANCH,) and loc[:-1] in refused:  # what was refused is not null
            continue
        refused.update(loc[:end] for end in range(1, len(loc) + 1))
        name = _name(loc, is_own=detail["type"] == "extra_forbidden")
        sentences.setdefault(name, _sentence(detail, name, tool, schema))
    return "\n".join([*sentences.values()][:MOST_SENTENCES])


def _sentence(detail: Mapping[str, Any], name: str, tool: str, schema: Mapping[str, Any]) -> str:
    kind, given, shown = detail["type"], detail["input"], one_line(name)[:60]
    halves = LONE_SURROGATE in (given, *_items(given)) or {*detail["loc"]} & LONE_SURROGATE.keys()
    if halves:
        return str(LoneSurrogateError(field=shown))
    if kind in ("unexpected_keyword_argument", "extra_forbidden"):
        is_whole = name in detail["loc"]
        known = ", ".join(_fields_at(schema, detail["loc"][:-1]))
        field = shown[:40] if is_whole else shown
        key = "unknown_argument" if is_whole else "unknown_part"
        return say(f"protocol.{key}", field=field, tool=tool, known=known)
    if kind in _MISSING:
        return say("protocol.missing_argument", field=shown, tool=tool)
    if kind == "literal_error" and name == "type" and tool == "log_memory":
        return str(UnknownTypeError())
    if kind == "literal_error":
        words = ", ".join(_WORD.findall(detail["ctx"]["expected"]))
        return say("protocol.wrong_word", field=shown, tool=tool, known=words)
    expected = _expected(str(detail["loc"][0]) if detail["loc"] else "", kind, detail)
    return say("protocol.wrong_type", field=shown, tool=tool, expected=expected)


def _expected(field: str, kind: str, detail: Mapping[str, Any]) -> str:
    if field in _EXPECTED:
        return say(f"protocol.{_EXPECTED[field]}")
    bounds = detail.get("ctx", {})
    bound = bounds.get("le", bounds.get("ge", ""))
    return say(f"protocol.expected_{_EXPECTED_OF_KIND.get(kind, 'text')}", bound=bound)


def _name(loc: Sequence[str | int], *, is_own: bool = False) -> str:
    """Return where a value stands: `tags`, `decisions[0].why`.

    The second step of a place is the branch of a union, in words of pydantic, as others may be. A
    place within a plain list is named by the list. is_own: whether a caller made up the last step.
    """
    field, last = str(loc[0]) if loc else "", len(loc) - 1 if is_own else -1
    steps = [it for at, it in enumerate(loc) if at > 1 and (at == last or not _is_branch(it))]
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


def _is_branch(step: str | int) -> bool:
    return isinstance(step, str) and _BRANCH.fullmatch(step) is not None


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
