"""Reads the JSON of clients, with or without comments: as plain JSON, as data, or as a tree.

The tree knows where in the text its values stand.
"""

import json
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from types import EllipsisType
from typing import Any, NoReturn

Keys = tuple[str | int, ...]
_Path = Keys | EllipsisType | None  # `...` for every path, None for no further step

DEEPEST = 100
_BLANKS = re.compile(r"[ \t\r\n]*+")
_STRING = r'"(?:[^"\\]|\\.)*+"?'  # one that is not closed runs to the end, not to be read again
_COMMENT = re.compile(rf"{_STRING}|//[^\r\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_COMMA = re.compile(rf"{_STRING}|[\[{{,]\s*,|,(?=\s*[}}\]])", re.DOTALL)


class BrokenJsonError(ValueError):
    """The text is no JSON that can be edited, or none that its reader takes.

    kind: `syntax`, `twice` (a key), `depth`; `comments`, `commas` (before a closing bracket) or
    `mark` (of byte order) where the reader takes none.
    """

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

    text = _COMMENT.sub(_blanks_for, text)
    return _COMMA.sub(lambda match: " " if match[0] == "," else match[0], text)


def _blanks_for(match: re.Match[str]) -> str:
    """Return blanks for a comment that is closed, and a string as it is."""
    found = match[0]
    closed = len(found) >= len("/**/") and found.startswith("/*") and found.endswith("*/")
    return re.sub(r"[^\r\n]", " ", found) if closed or found.startswith("//") else found


def check_taken(text: str, takes: Collection[str]) -> None:
    """Raise BrokenJsonError for what is no JSON and is not in `takes`, by its kind."""
    if text.startswith("\ufeff") and "mark" not in takes:
        raise BrokenJsonError("mark", text, 0)
    bare = _COMMENT.sub(_blanks_for, text)
    for kind, before, after in ("comments", text, bare), ("commas", bare, strict_json(text)):
        if kind not in takes and before != after:
            pairs = enumerate(zip(before, after, strict=True))
            raise BrokenJsonError(kind, text, next(at for at, (a, b) in pairs if a != b))


def data_of(text: str) -> Any:
    """Return the document as data; None for a text of blanks only. Raises BrokenJsonError."""
    node = tree_of(text)
    return None if node is None else node.value


def object_of(text: str) -> dict[str, Any]:
    """Return the document as an object, {} for only blanks. Raises OtherKindError for others."""
    data = data_of(text)
    if data is not None and not isinstance(data, dict):
        raise OtherKindError(())
    return data or {}


def value_at(data: Any, keys: Iterable[str]) -> Any:
    """Return what stands in data below these keys, None where an object or a key is missing."""
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def tree_of(text: str, path: Keys | None = None) -> Node | None:
    """Return the tree of a document, whose nodes have parts along this path; for None none has.

    For a text of blanks only there is none. Comments, and commas before a closing bracket, may
    stand in it. Raises BrokenJsonError.
    """
    if not text.removeprefix("\ufeff").strip(" \t\r\n"):
        return None
    plain = strict_json(text)
    node = _node(plain, _past_blanks(plain, int(text.startswith("\ufeff"))), 1, path)
    end = _past_blanks(plain, node.end)
    if end < len(text):
        raise BrokenJsonError("syntax", text, end)
    return node


def _node(text: str, at: int, depth: int, path: _Path) -> Node:
    """Return a value; what is wrong in one that the path does not go through is then looked for."""
    if depth > DEEPEST:
        raise BrokenJsonError("depth", text, at)
    is_container = text[at : at + 1] in ("{", "[")
    if is_container and path is not None:
        return _container(text, at, depth, path)
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        if is_container:
            return _container(text, at, depth, ...)
        raise BrokenJsonError("syntax", text, at) from None
    return Node(at, end, value)


def _container(text: str, start: int, depth: int, path: Keys | EllipsisType) -> Node:
    closing, parts, keys = {"{": "}", "[": "]"}[text[start]], list[Part](), set[str | int]()
    at = _past_blanks(text, start + 1)
    while text[at : at + 1] != closing or parts:
        key, value_at = (len(parts), at) if closing == "]" else _key(text, at)
        if key in keys:
            raise BrokenJsonError("twice", text, at)
        keys.add(key)
        below = path if path is ... else path[1:] if path[:1] == (key,) else None
        parts.append(Part(at, key, _node(text, value_at, depth + 1, below)))
        at = _past_blanks(text, parts[-1].node.end)
        if text[at : at + 1] == closing:
            break
        at = _past_blanks(text, _past(",", text, at))
    value: Any = [part.node.value for part in parts]
    if closing == "}":
        value = {part.key: part.node.value for part in parts}
    return Node(start, at + 1, value, tuple(parts))


def _key(text: str, at: int) -> tuple[str, int]:
    """Return the key that stands here, and where its value does."""
    _past('"', text, at)
    key = _node(text, at, 1, None)
    return key.value, _past_blanks(text, _past(":", text, _past_blanks(text, key.end)))


def _past(sign: str, text: str, at: int) -> int:
    if text[at : at + 1] != sign:
        raise BrokenJsonError("syntax", text, at)
    return at + 1


def _past_blanks(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return found.end() if found else at


def _refused(name: str) -> NoReturn:
    raise ValueError(name)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        raise ValueError("twice")
    return data


# NaN and Infinity are no JSON
_DECODER = json.JSONDecoder(parse_constant=_refused, object_pairs_hook=_unique)
