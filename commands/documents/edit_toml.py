"""Edits one table of a TOML file as text: puts it in, changes it, takes it out; other bytes stay.

Each edit reads its own result, which must differ in that table and nothing else. A file whose form
does not allow that (an inline table, for example) stays as it is.
"""

import copy
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Keys = tuple[str, ...]

_TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\r\n]|\\.)*"|\'[^\'\r\n]*\'|#[^\r\n]*'
    r'|[^\S\n]+|[^\s"\'#\[\]{}]+|.',
    re.DOTALL,
)


class BrokenTomlError(ValueError):
    """The text is no TOML."""


class FixedFormError(ValueError):
    """The table stands in a form in which it cannot be edited."""


@dataclass(slots=True)
class _Section:
    """A table from its header on; statements: where its keys with their values start and end."""

    path: Keys | None
    start: int
    end: int
    statements: list[tuple[int, int]]


def tables_of(text: str) -> dict[str, Any]:
    """Return the document as data. Raises BrokenTomlError."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise BrokenTomlError from error


def table_text(path: Keys, values: Mapping[str, object]) -> str:
    """Return a table as text: its header and a line for each value, no line end after the last."""
    header = f"[{'.'.join(map(_key, path))}]"
    return "\n".join([header, *(f"{_key(key)} = {_value(values[key])}" for key in values)])


def with_table(text: str, path: Keys, values: Mapping[str, object]) -> str:
    """Return the text with these values in the table `path`: those that are there change in place.

    A new table goes to the end, after a blank line. Raises BrokenTomlError and FixedFormError.
    """
    before = tables_of(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    present = _at(before, path)
    after = text
    if present is None:
        block = table_text(path, values).replace("\n", newline)
        ended = not text.strip("\ufeff") or text.endswith("\n")
        blank = newline * bool(text.strip("\ufeff"))
        after = text + newline * (not ended) + blank + block + newline * ended
    else:
        for key in values:
            if present.get(key) != values[key]:
                after = _with_value(after, path, key, values[key], newline)
    return _checked(after, before, path, {**(present or {}), **values})


def without_value(text: str, path: Keys, key: str) -> str:
    """Return the text without the line of a key of the table `path`.

    Raises BrokenTomlError and FixedFormError.
    """
    before = tables_of(text)
    present = _at(before, path) or {}
    if key not in present:
        return text
    found = _found(text, _section(text, path), key)
    if found is None:
        raise FixedFormError
    start, end, _ = found
    end = text.find("\n", end) + 1 or len(text)
    left = {name: value for name, value in present.items() if name != key}
    return _checked(text[:start] + text[end:], before, path, left)


def without_table(text: str, path: Keys) -> str:
    """Return the text without the table `path`, the tables below it and the blank line before each.

    Raises BrokenTomlError and FixedFormError.
    """
    before = tables_of(text)
    if _at(before, path) is None:
        return text
    after = text
    for section in reversed(_sections(text)):
        if section.path is not None and section.path[: len(path)] == path:
            after = _cut(after, section.start, section.end)
    return _checked(after, before, path, None)


def _cut(text: str, start: int, end: int) -> str:
    """Cut these lines and the blank line before them, or at the start the one after."""
    head, rest = text[:start], text[end:]
    ended = text[start:end].endswith("\n")
    if not head.strip("\ufeff"):
        return head + re.sub(r"\A\r?\n", "", rest)
    head = re.sub(r"(?<=\n)\r?\n\Z", "", head)
    return (head if ended else re.sub(r"\r?\n\Z", "", head)) + rest


def _with_value(text: str, path: Keys, key: str, value: object, newline: str) -> str:
    section = _section(text, path)
    found = _found(text, section, key)
    if found:
        _, end, value_start = found
        return text[:value_start] + _value(value) + text[end:]
    line = f"{_key(key)} = {_value(value)}"
    ended = text[: section.end].endswith("\n")
    line = line + newline if ended else newline + line
    return text[: section.end] + line + text[section.end :]


def _section(text: str, path: Keys) -> _Section:
    section = next((section for section in _sections(text) if section.path == path), None)
    if section is None:
        raise FixedFormError
    return section


def _found(text: str, section: _Section, key: str) -> tuple[int, int, int] | None:
    """Return where the statement of a key starts and ends, and where its value starts."""
    quoted = "|".join(map(re.escape, {key, json.dumps(key), f"'{key}'"}))
    for start, end in section.statements:
        found = re.compile(rf"(?:{quoted})[ \t]*=[ \t]*").match(text, start)
        if found:
            return start, end, found.end()
    return None


def _checked(after: str, before: dict[str, Any], path: Keys, table: object) -> str:
    """Return the text, if it says the same as before but for this table. Raises FixedFormError."""
    try:
        result = tables_of(after)
    except BrokenTomlError:
        raise FixedFormError from None
    if _replaced(result, path, table) != result or _replaced(result, path, None) != _replaced(
        before, path, None
    ):
        raise FixedFormError
    return after


def _replaced(tables: dict[str, Any], path: Keys, table: object) -> dict[str, Any]:
    """Return the same data with another table there; for None without it, then no empty ones."""
    tables = copy.deepcopy(tables)
    around = [tables]
    for key in path[:-1]:
        below = around[-1].setdefault(key, {})
        if not isinstance(below, dict):
            raise FixedFormError
        around.append(below)
    if table is None:
        around[-1].pop(path[-1], None)
        for key, holder, below in reversed(list(zip(path, around, around[1:], strict=False))):
            if not below:
                del holder[key]
    else:
        around[-1][path[-1]] = table
    return tables


def _at(tables: Any, path: Keys) -> dict[str, Any] | None:
    for key in path:
        if not isinstance(tables, dict):
            raise FixedFormError
        if key not in tables:
            return None
        tables = tables[key]
    if not isinstance(tables, dict):
        raise FixedFormError
    return tables


# Reading.


def _sections(text: str) -> list[_Section]:
    """Return the tables of a document; what stands before the first header belongs to none."""
    found: list[_Section] = []
    for start, end in _statements(text):
        line_end = text.find("\n", end) + 1 or len(text)
        if text[start] == "[":
            line_start = text.rfind("\n", 0, start) + 1
            at = line_start or len(text) - len(text.removeprefix("\ufeff"))
            found.append(_Section(_path(text[start:end]), at, line_end, []))
        elif found:
            found[-1].statements.append((start, end))
            found[-1].end = line_end
    return found


def _path(header: str) -> Keys | None:
    """Return the keys that a header names; None for one of a list of tables."""
    keys, below = list[str](), tomllib.loads(header)
    while isinstance(below, dict) and below:
        [(key, below)] = below.items()
        keys.append(key)
    return tuple(keys) if isinstance(below, dict) else None


def _statements(text: str) -> list[tuple[int, int]]:
    """Return where each header and each key with its value starts and ends, comments aside."""
    found, start, end, depth = list[tuple[int, int]](), -1, 0, 0
    for token in _TOKEN.finditer(text + "\n"):
        sign = token[0]
        if sign == "\n" and not depth and start >= 0:
            found.append((start, end))
            start = -1
        elif not sign.isspace() and sign[0] not in "#\ufeff":
            start, end = (token.start() if start < 0 else start), token.end()
            depth += (sign in ("[", "{")) - (sign in ("]", "}"))
    return found


# Writing.


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _value(key)


def _value(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, bool | int | str):  # DEL is the one character that JSON leaves as it is
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    raise TypeError(type(value).__name__)
