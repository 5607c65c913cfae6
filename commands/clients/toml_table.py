"""Edits one table of a TOML file as text: puts it in, changes it, takes it out; other bytes stay.

Each edit reads its own result, which must differ in that table and nothing else.
"""

import json
import re
import tomllib
from typing import Any, NamedTuple

from commands.clients.merge import (
    CannotEditError,
    Keys,
    Table,
    json_data,
    line_end_of,
    value_at,
    with_value,
    without_comments,
)

_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_DEEP = re.compile(rf"(?<![\w-])(?:{_PART}[ \t]*+\.[ \t]*+){{100}}")
_TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\r\n]|\\.)*"|\'[^\'\r\n]*\'|#[^\r\n]*'
    r'|[^\S\n]+|[^\s"\'#\[\]{}]+|.',
    re.DOTALL,
)


class _Section(NamedTuple):
    """A table from its header on to the line end of its last value; statements: those values."""

    path: tuple[str, ...]
    start: int
    end: int
    statements: list[tuple[int, int]]


def data_in(text: str, suffix: str) -> dict[str, Any]:
    """Return what a client reads in a text, with comments or without. Raises CannotEditError."""
    return table_data(text) if suffix == ".toml" else json_data(without_comments(text))


def table_data(text: str) -> dict[str, Any]:
    """Return the data of a TOML text. Raises CannotEditError."""
    if _DEEP.search(text):  # its reader takes the square of the depth
        raise CannotEditError("toml_syntax")
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        raise CannotEditError("toml_syntax") from None


def table_text(path: Keys, values: Table) -> str:
    """Return a table as text: its header and a line for each value."""
    header = f"[{'.'.join(map(_key, path))}]"
    return "\n".join([header, *(f"{_key(key)} = {_value(it)}" for key, it in values.items())])


def with_table(text: str, path: Keys, values: Table | None) -> str:
    """Return the text with these values in a table, None for one that goes; None: without it.

    The tables below it go with the table, but are no values of it. Raises CannotEditError where the
    form of the file does not allow an edit that changes nothing else.
    """
    before, after = table_data(text), text
    there = value_at(before, path)
    old = there if isinstance(there, dict) else {}
    new = values and {key: it for key, it in {**old, **values}.items() if it is not None}
    try:
        expected = with_value(before, path, new)
    except CannotEditError:  # something else stands on the way
        raise CannotEditError("toml_form") from None
    if expected == before:
        return text
    sections, wanted = _sections(text), tuple(path)
    own = next((it for it in sections if it.path == wanted), None)
    if values is None:
        for section in reversed(sections):
            if section.path[: len(wanted)] == wanted:
                after = _cut(after, section.start, section.end)
    elif own:
        after = _with_lines(text, own, values, old)
    else:
        newline, ended = line_end_of(text), not text.strip("\ufeff") or text.endswith("\n")
        block = table_text(path, new or {})
        gap = "" if not text.strip("\ufeff") else newline if ended else newline * 2
        after = text + gap + block.replace("\n", newline) + (newline if ended else "")
    try:
        is_sound = table_data(after) == expected
    except CannotEditError:
        is_sound = False
    if not is_sound:
        raise CannotEditError("toml_form_out" if values is None else "toml_form")
    return after


def with_entry(text: str, path: Keys, old: Table, new: Table) -> str:
    """Return the text with a table and those below it changed from what they were.

    Raises CannotEditError with the tables to put in by hand.
    """
    values = {key: new.get(key) for key in (*new, *old) if not isinstance(new.get(key), dict)}
    changed = {key: it for key, it in values.items() if it != old.get(key)}
    tables = {key: it for key, it in new.items() if isinstance(it, dict) and it != old.get(key)}
    try:
        text = with_table(text, path, changed) if changed else text
        for key, table in tables.items():
            text = with_table(text, (*path, key), table)
    except CannotEditError as error:
        whole = {key: it for key, it in values.items() if it is not None}
        blocks = [table_text(path, whole)]
        blocks += [table_text((*path, key), table) for key, table in tables.items()]
        raise CannotEditError(error.key, block="\n\n".join(blocks)) from None
    return text


def _with_lines(text: str, own: _Section, values: Table, old: Table) -> str:
    newline = line_end_of(text)
    added = [
        f"{_key(key)} = {_value(it)}"
        for key, it in values.items()
        if key not in old and it is not None
    ]
    ended = text[: own.end].endswith("\n")
    lines = "".join(line + newline if ended else newline + line for line in added)
    text = text[: own.end] + lines + text[own.end :]
    for start, end in reversed(own.statements):
        for key in values.keys() & old.keys():
            found = re.compile(
                rf"""(?:{re.escape(key)}|"{re.escape(key)}"|'{re.escape(key)}')[ \t]*=[ \t]*"""
            ).match(text, start)
            if not found or values[key] == old[key]:
                continue
            if values[key] is None:
                text = text[:start] + text[text.find("\n", end) + 1 or len(text) :]
            else:
                text = text[: found.end()] + _value(values[key]) + text[end:]
    return text


def _cut(text: str, start: int, end: int) -> str:
    """Cut these lines and the blank line before them, or at the start the one after."""
    head, rest = text[:start], text[end:]
    ended = text[start:end].endswith("\n")
    if not head.strip("\ufeff"):
        return head + re.sub(r"\A\r?\n", "", rest)
    head = re.sub(r"(?<=\n)\r?\n\Z", "", head)
    return (head if ended else re.sub(r"\r?\n\Z", "", head)) + rest


def _sections(text: str) -> list[_Section]:
    """Return the tables of a document; what stands before the first header belongs to none."""
    found: list[_Section] = []
    start, end, depth = -1, 0, 0
    for token in _TOKEN.finditer(text + "\n"):
        sign = token[0]
        if sign == "\n" and not depth and start >= 0:
            line_end = text.find("\n", end) + 1 or len(text)
            if text[start] == "[":
                at = text.rfind("\n", 0, start) + 1 or len(text) - len(text.removeprefix("\ufeff"))
                found.append(_Section(_path(text[start:end]), at, line_end, []))
            elif found:
                found[-1].statements.append((start, end))
                found[-1] = found[-1]._replace(end=line_end)
            start = -1
        elif not sign.isspace() and sign[0] not in "#\ufeff":
            start, end = (token.start() if start < 0 else start), token.end()
            depth += (sign in ("[", "{")) - (sign in ("]", "}"))
    return found


def _path(header: str) -> tuple[str, ...]:
    """Return the keys that a header names; () for one of a list of tables."""
    keys, below = list[str](), tomllib.loads(header)
    while isinstance(below, dict) and below:
        [(key, below)] = below.items()
        keys.append(key)
    return tuple(keys) if isinstance(below, dict) else ()


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _value(key)


def _value(value: object) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, bool | int | str):  # DEL is the one character that JSON leaves as it is
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    raise CannotEditError("toml_form")
