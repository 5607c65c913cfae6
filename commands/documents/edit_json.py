"""Edits JSON, with or without comments, as text: one value changes, every other byte stays.

A place in a document is a path of keys and of positions in lists. A new value takes the style of
its neighbours, and taking it out gives the text back byte for byte, but for an empty object or list
that stood as this file would have made it.
"""

import json
import re

from commands.documents.json_tree import Keys, Node, OtherKindError, Part, tree_of

_UNIT = "  "
_NO_VALUE = re.compile(r"(?:[ \t\r\n]|//[^\r\n]*|/\*.*?\*/)*+", re.DOTALL)
_COMMENT_IN_LINE = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/)")


def with_value(text: str, path: Keys, value: object) -> str:
    """Return the text with this value at `path`; objects and lists on the way are made.

    A position just behind the last item of a list adds one. Raises BrokenJsonError and, where
    something else than an object or a list stands on the way, OtherKindError.
    """
    node = tree_of(text, path)
    if node is None:
        newline = _newline(text)
        made = _written(_nested(path, value), "", _UNIT, newline)
        return text[: len(text) - len(text.lstrip("\ufeff"))] + made + newline
    for depth, key in enumerate(path):
        part = _part(node, key, path[:depth])
        if part is None:
            return _with_part(text, node, key, _nested(path[depth + 1 :], value))
        node = part.node
    if node.value == value and type(node.value) is type(value):
        return text
    return text[: node.start] + _styled(text, node, value) + text[node.end :]


def without(text: str, path: Keys, *, kept: int = 0) -> str:
    """Return the text without what stands at `path`, and what was made to hold only that.

    An object or a list in another form than `with_value` makes stays, also when it is empty then,
    and so do those that the first `kept` keys name. A text without such a path stays as it is.
    Raises BrokenJsonError and OtherKindError.
    """
    node = tree_of(text, path)
    chain: list[tuple[Node, int]] = []
    for depth, key in enumerate(path):
        part = None if node is None else _part(node, key, path[:depth])
        if node is None or part is None:
            return text
        chain.append((node, node.parts.index(part)))
        node = part.node
    while len(chain) > kept + 1 and _is_made_for(text, chain):
        chain.pop()
    return _without_part(text, *chain[-1])


def _part(node: Node, key: str | int, path: Keys) -> Part | None:
    """Return the part with this key. Raises OtherKindError if `node`'s kind has no such keys."""
    if not isinstance(node.value, dict if isinstance(key, str) else list):
        raise OtherKindError(path)
    return next((part for part in node.parts if part.key == key), None)


# Putting in.


def _nested(path: Keys, value: object) -> object:
    for key in reversed(path):
        value = {key: value} if isinstance(key, str) else [value]
    return value


def _with_part(text: str, node: Node, key: str | int, value: object) -> str:
    """Return the text with a new last part in an object or a list."""
    newline, unit = _newline(text), _unit(text)
    if not node.parts:
        return _filled(text, node, key, value)
    last = node.parts[-1]
    on_own_line = _is_on_own_line(text, last.start)
    indent = _indent(text, last.start) if on_own_line else _indent(text, node.start) + unit
    is_flat = "\n" not in text[node.start : node.end]
    made = _written_part(key, value, None if is_flat else indent, unit, newline)
    comma = _comma_after(text, last.node.end)
    at = _rest_of_line(text, comma or last.node.end)
    before = text[: last.node.end] + ("" if comma else ",") + text[last.node.end : at]
    gap = " " if is_flat else newline + indent
    return before + gap + made + ("," if comma else "") + text[at:]


def _filled(text: str, node: Node, key: str | int, value: object) -> str:
    """Return the text with the first part in an object or list, after its first line's comments."""
    newline, unit, outer = _newline(text), _unit(text), _indent(text, node.start)
    made = newline + outer + unit + _written_part(key, value, outer + unit, unit, newline)
    inside = text[node.start + 1 : node.end - 1]
    if not inside.strip():
        return text[: node.start + 1] + made + newline + outer + text[node.end - 1 - len(inside) :]
    at = _rest_of_line(text, node.start + 1)
    return text[:at] + made + ("" if "\n" in inside else newline + outer) + text[at:]


def _written_part(
    key: str | int, value: object, indent: str | None, unit: str, newline: str
) -> str:
    name = f"{json.dumps(key, ensure_ascii=False)}: " if isinstance(key, str) else ""
    return name + _written(value, indent, unit, newline)


def _written(value: object, indent: str | None, unit: str, newline: str) -> str:
    """Return a value as text; lists of plain values on one line, without `indent` everything."""
    parts: list[str] = []
    if isinstance(value, dict):
        inner = None if indent is None else indent + unit
        parts = [_written_part(key, part, inner, unit, newline) for key, part in value.items()]
    elif isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        inner = None if indent is None else indent + unit
        parts = [_written(item, inner, unit, newline) for item in value]
    if indent is None or not parts:
        return json.dumps(value, ensure_ascii=False)
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    lines = f",{newline}{indent}{unit}".join(parts)
    return f"{opening}{newline}{indent}{unit}{lines}{newline}{indent}{closing}"


def _styled(text: str, node: Node, value: object) -> str:
    """Return the text of a value in place of another: a list with a line per item keeps that."""
    newline, indent, unit = _newline(text), _indent(text, node.start), _unit(text)
    if isinstance(value, list) and value and "\n" in text[node.start : node.end]:
        inner = indent + unit
        if node.parts and _is_on_own_line(text, node.parts[0].start):
            inner = _indent(text, node.parts[0].start)
        items = [_written(item, inner, unit, newline) for item in value]
        lines = f",{newline}{inner}".join(items)
        return f"[{newline}{inner}{lines}{newline}{indent}]"
    return _written(value, indent if "\n" in text.strip() else None, unit, newline)


# Taking out.


def _is_made_for(text: str, chain: list[tuple[Node, int]]) -> bool:
    """Return whether the last node of a chain holds one part, in the form that is put in."""
    (outer, position), (node, _) = chain[-2:]
    if len(node.parts) != 1:
        return False
    holder, part = outer.parts[position], node.parts[0]
    indent = newline = ""
    if _is_on_own_line(text, holder.start):
        newline = _newline(text)
        indent = newline + _indent(text, holder.start)
    name = f"{json.dumps(holder.key, ensure_ascii=False)}: " if isinstance(holder.key, str) else ""
    opening = text[holder.start : part.start]
    closing = text[part.node.end : node.end]
    bare = name + text[node.start], text[node.end - 1]
    return (opening, closing) == bare or (
        bool(newline) and opening.rstrip(" \t") == bare[0] + newline and closing == indent + bare[1]
    )


def _holds_only(text: str, node: Node, position: int) -> bool:
    """Return whether nothing, not even a comment, is left of `node` without this part."""
    part = node.parts[position]
    left = text[node.start + 1 : part.start] + text[part.node.end : node.end - 1]
    return len(node.parts) == 1 and not left.replace(",", "").strip()


def _without_part(text: str, node: Node, position: int) -> str:
    """Return the text without a part, and without the comma that only this part needed."""
    part = node.parts[position]
    start, end = part.start, part.node.end
    if _holds_only(text, node, position):
        blanks = text[end : node.end - 1].replace(",", "")
        blanks = blanks.removeprefix(_newline(text) + _indent(text, node.start))
        return text[: node.start + 1] + blanks + text[node.end - 1 :]
    comma = _comma_after(text, end)
    end = comma or end
    if position and not comma:  # the last one: the comma before it goes
        before = node.parts[position - 1].node.end
        at = _comma_after(text, before)
        text = text[: at - 1] + text[at:]
        start, end = start - 1, end - 1
    between = text[node.parts[position - 1].node.end if position else node.start : start]
    return _cut(text, start, end, between)


def _cut(text: str, start: int, end: int, between: str) -> str:
    """Cut this span and the blanks before it, or after it where those before must stay.

    between: what stands before the span, since the part before it or the opening bracket.
    """
    before, rest = text[:start].rstrip(" \t"), text[end:].lstrip(" \t")
    if before.endswith("\n"):
        above = between.rstrip(" \t\r\n") if rest[:1] not in ("\r", "\n") else ""
        if "//" in above[above.rfind("\n") + 1 :]:  # the line end ends a comment
            return text[:start] + rest
        return before[: -2 if before.endswith("\r\n") else -1] + text[end:]
    return text[:start] + rest if before.endswith(("{", "[")) else before + text[end:]


# The text around a place.


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _unit(text: str) -> str:
    """Return what one step of indentation is: that of the first line that has any."""
    found = re.search(r"^([ \t]+)[^ \t\r\n*/]", text, re.MULTILINE)
    return found[1] if found else _UNIT


def _indent(text: str, at: int) -> str:
    """Return the white space that the line of this place begins with."""
    line = text[text.rfind("\n", 0, at) + 1 : at].lstrip("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]


def _is_on_own_line(text: str, at: int) -> bool:
    return not text[text.rfind("\n", 0, at) + 1 : at].strip()


def _comma_after(text: str, at: int) -> int:
    """Return where the comma that follows a value ends; 0 where none follows."""
    found = _NO_VALUE.match(text, at)
    at = found.end() if found else at
    return at + 1 if text[at : at + 1] == "," else 0


def _rest_of_line(text: str, at: int) -> int:
    """Return the end of the comments that follow on the same line, or `at` where none does."""
    end = at
    while found := _COMMENT_IN_LINE.match(text, end):
        end = found.end()
    return end
