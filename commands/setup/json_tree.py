"""Reads JSON, with or without comments, as a tree that knows where in the text values stand."""

import json
import re
from dataclasses import dataclass
from typing import Any

DEEPEST = 100
_SPACE = re.compile(r"[ \t\r\n]+")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*+"')
_WORD = re.compile(r"true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_CLOSING = {"{": "}", "[": "]"}


class BrokenJsonError(ValueError):
    """The text is no JSON that can be edited. kind: `syntax`, `twice` (a key), `depth`."""

    def __init__(self, kind: str, text: str, at: int) -> None:
        self.kind, self.line = kind, text.count("\n", 0, at) + 1
        super().__init__(f"{kind} in line {self.line}")


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


def tree_of(text: str, *, comments: bool = True) -> Node | None:
    """The tree of a document; None for a text of blanks only. Raises BrokenJsonError.

    comments: whether comments, and commas before a closing bracket, are part of the format.
    """
    reader = _Reader(text, comments)
    at = reader.past_blanks(1 if text.startswith("\ufeff") else 0)
    if at == len(text) and not _COMMENT.search(text):
        return None
    node = reader.node(at, 1)
    end = reader.past_blanks(node.end)
    if end < len(text):
        raise BrokenJsonError("syntax", text, end)
    return node


@dataclass(frozen=True, slots=True)
class _Reader:
    text: str
    comments: bool

    def past_blanks(self, at: int) -> int:
        """The first place from `at` on that is neither white space nor a comment."""
        while found := _SPACE.match(self.text, at) or (
            self.comments and _COMMENT.match(self.text, at)
        ):
            at = found.end()
        return at

    def node(self, at: int, depth: int) -> Node:
        if depth > DEEPEST:
            raise BrokenJsonError("depth", self.text, at)
        opening = self.text[at : at + 1]
        if opening in ("{", "["):
            return self.container(at, opening, depth)
        if opening == '"':
            return self.string(at)
        found = _WORD.match(self.text, at)
        if not found:
            raise BrokenJsonError("syntax", self.text, at)
        return Node(at, found.end(), json.loads(found[0]))

    def string(self, at: int) -> Node:
        found = _STRING.match(self.text, at)
        try:
            return Node(at, found.end() if found else at, json.loads(found[0] if found else ""))
        except ValueError:  # also an escape that does not exist
            raise BrokenJsonError("syntax", self.text, at) from None

    def container(self, start: int, opening: str, depth: int) -> Node:
        closing, parts, keys = _CLOSING[opening], list[Part](), set[str | int]()
        at = self.past_blanks(start + 1)
        while self.text[at : at + 1] != closing or (parts and not self.comments):
            part = self.part(at, opening, len(parts), depth)
            if part.key in keys:
                raise BrokenJsonError("twice", self.text, at)
            keys.add(part.key)
            parts.append(part)
            at = self.past_blanks(part.node.end)
            if self.text[at : at + 1] == closing:
                break
            at = self.past_blanks(self.past(",", at))
        value: Any = [part.node.value for part in parts]
        if opening == "{":
            value = {part.key: part.node.value for part in parts}
        return Node(start, at + 1, value, tuple(parts))

    def part(self, at: int, opening: str, position: int, depth: int) -> Part:
        if opening == "[":
            return Part(at, position, self.node(at, depth + 1))
        key = self.string(at)
        value_at = self.past_blanks(self.past(":", self.past_blanks(key.end)))
        return Part(at, key.value, self.node(value_at, depth + 1))

    def past(self, sign: str, at: int) -> int:
        if self.text[at : at + 1] != sign:
            raise BrokenJsonError("syntax", self.text, at)
        return at + 1


def past_blanks(text: str, at: int) -> int:
    """The first place from `at` on that is neither white space nor a comment."""
    return _Reader(text, comments=True).past_blanks(at)
