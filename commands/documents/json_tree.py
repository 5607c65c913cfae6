"""Reads the JSON of clients, with or without comments: as plain JSON, as data, or as a tree.

The tree knows where in the text its values stand.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, NoReturn

Keys = tuple[str | int, ...]

DEEPEST = 100
_BLANKS = re.compile(r"[ \t\r\n]*+")
_STRING = r'"(?:[^"\\]|\\.)*+"?'  # one that is not closed runs to the end, not to be read again
_COMMENT = re.compile(rf"{_STRING}|//[^\r\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_COMMA = re.compile(rf"{_STRING}|[\[{{,]\s*,|,(?=\s*[}}\]])", re.DOTALL)


class BrokenJsonError(ValueError):
    """The text is no JSON that can be edited. kind: `syntax`, `twice` (a key), `depth`."""

    def __init__(self, kind: str, text: str, at: int) -> None:
        self.kind, self.line = kind, text.count("\n", 0, at) + 1
        super().__init__(f"{kind} in line {self.line}")


class OtherKindError(ValueError):
    """Something else than the object or list that an edit goes through. path: where it stands."""

    def __init__(self, path: Keys) -> None:
        self.path = path
        super().__init__(".".join(map(str, path)))


@dataclass(frozen=True, slots=True)
class Node:
    """A value and where its text starts and ends; `parts` of an object or a list."""

    start: int
    end: int
    value: Any
    parts: "tuple[Part, ...]" = ()


@dataclass(frozen=True, slots=True)
class Part:
    """A member of an object or an item of a list, from its key on."""

    start: int
    key: str | int
    node: Node


def strict_json(text: str) -> str:
    """Return the text with blanks for comments and for commas before a closing bracket.

    Every other character keeps its place, and its line.
    """

    def without_comment(match: re.Match[str]) -> str:
        found = match[0]
        closed = len(found) >= len("/**/") and found.startswith("/*") and found.endswith("*/")
        return re.sub(r"[^\r\n]", " ", found) if closed or found.startswith("//") else found

    text = _COMMENT.sub(without_comment, text)
    return _COMMA.sub(lambda match: " " if match[0] == "," else match[0], text)


def data_of(text: str, *, comments: bool = True) -> Any:
    """Return the document as data; None for a text of blanks only. Raises BrokenJsonError.

    comments: whether comments, and commas before a closing bracket, are part of the format.
    """
    node = tree_of(text, comments=comments)
    return None if node is None else node.value


def object_of(text: str, *, comments: bool = True) -> dict[str, Any]:
    """Return the document as an object, {} for only blanks. Raises OtherKindError for others."""
    data = data_of(text, comments=comments)
    if data is not None and not isinstance(data, dict):
        raise OtherKindError(())
    return data or {}


def tree_of(text: str, *, comments: bool = True) -> Node | None:
    """Return the tree of a document; None for a text of blanks only. Raises BrokenJsonError.

    comments: whether comments, and commas before a closing bracket, are part of the format.
    """
    if not text.removeprefix("\ufeff").strip(" \t\r\n"):
        return None
    plain = strict_json(text) if comments else text
    node = _node(plain, _past_blanks(plain, int(text.startswith("\ufeff"))), 1)
    end = _past_blanks(plain, node.end)
    if end < len(text):
        raise BrokenJsonError("syntax", text, end)
    return node


def _node(text: str, at: int, depth: int) -> Node:
    if depth > DEEPEST:
        raise BrokenJsonError("depth", text, at)
    if text[at : at + 1] in ("{", "["):
        return _container(text, at, depth)
    try:
        value, end = _DECODER.raw_decode(text, at)
    except ValueError:
        raise BrokenJsonError("syntax", text, at) from None
    return Node(at, end, value)


def _container(text: str, start: int, depth: int) -> Node:
    closing, parts, keys = {"{": "}", "[": "]"}[text[start]], list[Part](), set[str | int]()
    at = _past_blanks(text, start + 1)
    while text[at : at + 1] != closing or parts:
        part = _item(text, at, len(parts), depth) if closing == "]" else _member(text, at, depth)
        if part.key in keys:
            raise BrokenJsonError("twice", text, at)
        keys.add(part.key)
        parts.append(part)
        at = _past_blanks(text, part.node.end)
        if text[at : at + 1] == closing:
            break
        at = _past_blanks(text, _past(",", text, at))
    value: Any = [part.node.value for part in parts]
    if closing == "}":
        value = {part.key: part.node.value for part in parts}
    return Node(start, at + 1, value, tuple(parts))


def _item(text: str, at: int, position: int, depth: int) -> Part:
    return Part(at, position, _node(text, at, depth + 1))


def _member(text: str, at: int, depth: int) -> Part:
    _past('"', text, at)
    key = _node(text, at, depth)
    value_at = _past_blanks(text, _past(":", text, _past_blanks(text, key.end)))
    return Part(at, key.value, _node(text, value_at, depth + 1))


def _past(sign: str, text: str, at: int) -> int:
    if text[at : at + 1] != sign:
        raise BrokenJsonError("syntax", text, at)
    return at + 1


def _past_blanks(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return found.end() if found else at


def _refused(name: str) -> NoReturn:
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_constant=_refused)  # NaN and Infinity are no JSON
