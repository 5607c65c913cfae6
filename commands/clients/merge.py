"""Puts our parts into a text of JSON, TOML or Markdown, and takes them out.

Pure. The user's parts stay: JSON keeps its order and form, and is refused with comments,
which an edit could part from what they are on; TOML keeps every byte outside of our table.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate, pairwise
from typing import Any, NamedTuple, NoReturn

from commands.clients.table import CLIENTS, ENTRY, EVENTS, value_at
from core.errors import RefusedError
from core.text.plain import SURROGATE

RULES = "rules"
MARK = "# sentinel-memory setup"  # in git's `info/exclude`
Keys = Sequence[str]
Table = Mapping[str, Any]

_MOST_DEPTH = 200  # indented text grows with its square, and newer Pythons read 50,000
_STRING = r'"(?:[^"\\]|\\.)*+"?'
_COMMENT = re.compile(rf"({_STRING})|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_COMMA = re.compile(rf"({_STRING}|[\[{{,]\s*+,)|,(?=\s*+[\]}}])", re.DOTALL)


def markers(name: str) -> tuple[str, str]:
    """Return the lines around a block: `<!-- sentinel-memory rules: begin -->`."""
    return f"<!-- sentinel-memory {name}: begin -->", f"<!-- sentinel-memory {name}: end -->"


BEGIN, END = markers(RULES)


class CannotEditError(RefusedError):
    """A text cannot be edited without a loss, or its client takes no such text.

    Facts: line, place (keys with dots), block (lines to paste).
    """

    table = "setup"


def data_in(text: str, suffix: str) -> dict[str, Any]:
    """Return the data, with or without comments. Raises CannotEditError."""
    return toml_data(text) if suffix == ".toml" else json_data(without_comments(text))


# JSON.


def json_data(text: str, *, takes_mark: bool = True) -> dict[str, Any]:
    """Return the object of a text, {} for blanks. Raises CannotEditError.

    Comments, doubled keys, NaN and Infinity are refused, a byte order mark without `takes_mark`.
    """
    bare = text.removeprefix("\ufeff")
    if bare != text and not takes_mark:
        raise CannotEditError("json_mark")
    if not bare.strip(" \t\r\n"):
        return {}
    signs = re.sub(_STRING, "", bare, flags=re.DOTALL)
    depths = accumulate((sign in "{[") - (sign in "]}") for sign in signs)
    if max(depths, default=0) > _MOST_DEPTH:
        raise CannotEditError("json_depth")
    try:
        data = _DECODER.decode(bare)
    except ValueError as error:
        key = "json_twice" if str(error) == "twice" else "json_syntax"
        if bare != without_comments(bare) and json_data(without_comments(bare)) is not None:
            key = "json_comments"
        line = bare.count("\n", 0, getattr(error, "pos", 0)) + 1
        raise CannotEditError(key, line=line) from None
    if not isinstance(data, dict):
        raise CannotEditError("other_kind", place="{}")
    return data


def without_comments(text: str) -> str:
    """Return JSON with blanks for comments and trailing commas."""
    for pattern in _COMMENT, _COMMA:
        text = pattern.sub(lambda match: match[1] or re.sub(r"[^\r\n]", " ", match[0]), text)
    return text


def _unique_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        raise ValueError("twice")
    return data


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)


# NaN and Infinity are no JSON
_DECODER = json.JSONDecoder(parse_constant=_refuse, object_pairs_hook=_unique_pairs)


def json_text(data: Table, old_text: str) -> str:
    """Return data as JSON; what the old text says, too, keeps its form."""
    start = len(old_text) - len(old_text.lstrip("\ufeff \t\r\n"))
    if start == len(old_text):
        return old_text[: old_text.startswith("\ufeff")] + _dumped(data, old_text, "") + "\n"
    _, end = _DECODER.raw_decode(old_text, start)
    return old_text[:start] + _edited(old_text, start, data) + old_text[end:]


class _Member(NamedTuple):
    """A member of an object, or an item of a list, in a text. key: its name, or the item."""

    key: str
    start: int
    value_start: int
    end: int


def _edited(text: str, start: int, value: Any) -> str:
    """Return a value as JSON, for the place of the one that starts there."""
    old_value, end = _DECODER.raw_decode(text, start)
    if json.dumps(old_value) == json.dumps(value):  # as JSON, in which 1 is not true
        return text[start:end]
    line = text[text.rfind("\n", 0, start) + 1 : start]
    if not (old_value and value and type(old_value) is type(value) in (dict, list)):
        return _dumped(value, text, line[: len(line) - len(line.lstrip())])
    members = [*_members_in(text, start)]
    opening, ending = text[start + 1 : members[0].start], text[members[-1].end : end]
    margin = opening.rpartition("\n")[2] if "\n" in opening else None
    pairs = value.items() if text[start] == "{" else [(json.dumps(item), item) for item in value]
    parts, place = [text[start]], 0
    for key, item in pairs:
        member = next((slot for slot in members if slot.key == key and slot.start > place), None)
        separator = f",{opening or ' '}" if len(parts) > 1 else opening
        if member:
            is_next = place and not text[place : member.start].strip(" \t\r\n,")
            separator = text[place : member.start] if is_next else separator
            place, name = member.end, text[member.start : member.value_start]
            parts.append(separator + name + _edited(text, member.value_start, item))
        else:
            name = f"{_dumped(key, text)}: " if isinstance(value, dict) else ""
            parts.append(separator + name + _dumped(item, text, margin))
    return "".join([*parts, ending])


def _members_in(text: str, start: int) -> Iterator[_Member]:
    is_object, at = text[start] == "{", _behind_gap(text, start + 1)
    while text[at] not in "]}":
        name, name_end = _DECODER.raw_decode(text, at) if is_object else ("", at)
        value_start = _behind_gap(text, name_end)
        value, end = _DECODER.raw_decode(text, value_start)
        key = name if is_object else json.dumps(value)
        yield _Member(key, at, value_start, end)
        at = _behind_gap(text, end)


def _behind_gap(text: str, at: int) -> int:
    while text[at] in " \t\r\n,:":
        at += 1
    return at


def _dumped(value: Any, text: str, margin: str | None = None) -> str:
    """Return a value as JSON in the style of a text, without a margin in one line."""
    step = re.search(r"\n([ \t]+)\S", text)
    indent = None if margin is None else step[1] if step else 2
    dumped = json.dumps(value, ensure_ascii=False, indent=indent)
    if SURROGATE.search(dumped):  # which no file can hold
        dumped = json.dumps(value, indent=indent)
    return dumped.replace("\n", _newline_in(text) + (margin or ""))


def with_value(data: Table, keys: Keys, value: Any) -> dict[str, Any]:
    """Return data with a value below the keys; None removes it and emptied objects.

    Raises CannotEditError where a key on the way holds no object.
    """
    key, *rest = keys
    new_value = value
    if rest:
        inner = data.get(key, {})
        if not isinstance(inner, dict):
            raise CannotEditError("other_kind", place=key)
        new_value = with_value(inner, rest, value)
    if new_value is None or (value is None and not new_value):
        return {name: item for name, item in data.items() if name != key}
    return {**data, key: new_value}


def with_items(
    data: Table, keys: Keys, items: Sequence[Any], removed: Sequence[Any] = ()
) -> dict[str, Any]:
    """Return data with these items in a list, and without the removed ones.

    Raises CannotEditError where the keys lead to no list.
    """
    old_items = value_at(data, keys)
    if not isinstance(old_items, list | None):
        raise CannotEditError("other_kind", place=".".join(keys))
    new_items = [item for item in old_items or () if item in items or item not in removed]
    new_items += [item for item in items if item not in new_items]
    if new_items == (old_items or []):
        return dict(data)
    return with_value(data, keys, new_items or None)


# Hooks in JSON. A handler is one command at one event; in some clients it stands in a group, which
# holds the matcher and, for a user, may hold several.

_EVENTS = "|".join(EVENTS)
_NEXT = r"""["']?[\s=]+["']?"""
# Another program may have a `cli.py hook`, too; only ours names a client of the table.
_CALL = re.compile(
    rf"""(?:^|[/\\\s"'])(?:cli\.py|{ENTRY}(?:\.exe)?){_NEXT}hook{_NEXT}(?P<event>{_EVENTS})"""
    rf"""{_NEXT}--client{_NEXT}(?:{"|".join(row.key for row in CLIENTS)})(?![\w-])"""
    rf"""(?:{_NEXT}--lang{_NEXT}(?P<lang>en|ko)(?![\w-]))?"""
)


def hook_event_of(handler: Any) -> str:
    """Return the event of ours that a handler calls, "" for a stranger's handler."""
    call = call_in(handler)
    return call["event"] if call else ""


def call_in(handler: Any) -> re.Match[str] | None:
    if not isinstance(handler, dict):
        return None
    args = handler.get("args")
    words = [word for word in args if isinstance(word, str)] if isinstance(args, list) else []
    keys = ("command", "bash", "powershell", "exec", "windows", "linux", "osx")
    texts = [text for text in (handler.get(key) for key in keys) if isinstance(text, str)]
    return next(filter(None, map(_CALL.search, (*texts, " ".join(words)))), None)


def with_hooks(data: Table, new_hooks: Mapping[str, Mapping[str, Table]]) -> dict[str, Any]:
    """Return data with our hooks renewed in place, added or removed; {} removes all.

    new_hooks: items by the client's event, then by ours; that of prompts is renewed, never added.
    Raises CannotEditError.
    """
    hooks = data.get("hooks", {})
    if not isinstance(hooks, dict):
        raise CannotEditError("other_kind", place="hooks")
    result = dict(hooks)
    for name in dict.fromkeys([*hooks, *new_hooks]):
        items = hooks.get(name, [])
        if not isinstance(items, list):  # most clients then pass over the whole file
            raise CannotEditError("other_kind", place=f"hooks.{name}")
        missing_items = dict(new_hooks.get(name, {}))
        kept_items = list[Any]()
        for item in items:
            handlers = _handlers_in(item)
            events = [hook_event_of(handler) for handler in handlers]
            others = [handler for handler, event in zip(handlers, events, strict=True) if not event]
            if len(others) == len(handlers):
                kept_items.append(item)
            elif others:
                kept_items.append({**item, "hooks": others})
            elif events[0] in missing_items:
                kept_items.append(missing_items.pop(events[0]))
        kept_items += [item for event, item in missing_items.items() if event != "prompt"]
        if kept_items:
            result[name] = kept_items
        elif items:
            del result[name]
    return dict(data) if result == hooks else with_value(data, ("hooks",), result or None)


def _handlers_in(item: Any) -> list[Any]:
    inner = item.get("hooks") if isinstance(item, dict) else None
    return inner if isinstance(inner, list) else [item]


def hooks_in(data: Any) -> list[tuple[str, Any]]:
    """Return the client's event and our handler, in its group if it has one."""
    events = data.get("hooks") if isinstance(data, dict) else None
    hooks = []
    for name, items in events.items() if isinstance(events, dict) else ():
        for item in items if isinstance(items, list) else ():
            for handler in filter(hook_event_of, _handlers_in(item)):
                hooks.append((name, handler if handler is item else {**item, "hooks": [handler]}))
    return hooks


# TOML. Our table is replaced as text, and each edit reads its own result, which must differ in that
# table and nothing else.

_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_DEEP = re.compile(rf"(?<![\w-])(?:{_PART}[ \t]*+\.[ \t]*+){{100}}")
_HEADER = re.compile(r"^\ufeff?[ \t]*+(\[[^\r\n]*+)", re.M)


def toml_data(text: str) -> dict[str, Any]:
    """Return the data of a text. Raises CannotEditError, also for deeply dotted names."""
    if _DEEP.search(text):  # its reader takes the square of the depth
        raise CannotEditError("toml_syntax")
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        raise CannotEditError("toml_syntax") from None


def with_table(text: str, path: Keys, table: Table | None) -> str:
    """Return the text with this table and its subtables; None removes them.

    Raises CannotEditError, with the lines to paste, if more than that would change.
    """
    old_data, new_text = toml_data(text), text
    if value_at(old_data, path) == table:
        return text
    block = "" if table is None else _table_text(path, table)
    spans, newline = _find_spans(text, tuple(path)), _newline_in(text)
    for start, end in reversed(spans[1:] if block else spans):
        new_text = _without_lines(new_text, start, end)
    if block and spans:
        start, end = spans[0]
        ending = newline if new_text[:end].endswith("\n") else ""
        new_text = new_text[:start] + block.replace("\n", newline) + ending + new_text[end:]
    elif block:
        new_text = _append_block(new_text, block.replace("\n", newline))
    try:
        is_sound = toml_data(new_text) == with_value(old_data, path, table)
    except ValueError:  # CannotEditError, too
        is_sound = False
    if is_sound:
        return new_text
    if table is None:
        raise CannotEditError("toml_form_out")
    raise CannotEditError("toml_form", block=block)


def _find_spans(text: str, path: tuple[str, ...]) -> list[tuple[int, int]]:
    """Return where a table and its subtables stand, without comments behind them."""
    heads, spans = list[tuple[int, tuple[str, ...]]](), list[tuple[int, int]]()
    for header in _HEADER.finditer(text):
        names = list[str]()
        with suppress(ValueError):  # a line of a list, for example
            inner = tomllib.loads(header[1])
            while isinstance(inner, dict) and inner:
                [(key, inner)] = inner.items()
                names.append(key)
            # `[[a]]` is no table
            heads.append((header.start(1), tuple(names) if isinstance(inner, dict) else ()))
    for (start, keys), (end, _) in pairwise([*heads, (len(text), ())]):
        if keys[: len(path)] == path:
            lines = text[start:end].splitlines(keepends=True)
            while lines[-1].strip()[:1] in ("", "#"):
                lines.pop()
            spans.append((start, start + len("".join(lines))))
    return spans


def _table_text(path: Keys, table: Table) -> str:
    lines, subtables = [f"[{'.'.join(map(_toml_key, path))}]"], list[str]()
    for key, value in table.items():
        if isinstance(value, dict):
            subtables += ["", _table_text((*path, key), value)]
        else:
            lines.append(f"{_toml_key(key)} = {_toml_value(value)}")
    return "\n".join(lines + subtables)


def _toml_key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _toml_value(key)


def _toml_value(value: object) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml_value, value))}]"
    # DEL is the one character that JSON leaves as it is. A date becomes a text: no sound result.
    return json.dumps(value, ensure_ascii=False, default=str).replace("\x7f", "\\u007f")


# A block of ours in a text, between two comment lines of Markdown.


def block_in(text: str, name: str = RULES) -> str | None:
    """Return the text between the marks, None for no block.

    Raises CannotEditError for a mark that is alone, doubled or out of order.
    """
    begin, end = markers(name)
    counts = text.count(begin), text.count(end)
    if counts == (0, 0):
        return None
    if counts != (1, 1) or text.index(end) < text.index(begin):
        raise CannotEditError("broken_block")
    return text[text.index(begin) + len(begin) : text.index(end)].strip("\r\n")


def with_block(text: str, body: str, name: str = RULES) -> str:
    """Return the text with this block at its old place, else at the end. Raises CannotEditError."""
    old_block, (begin, end) = block_in(text, name), markers(name)
    lines = body.strip("\r\n").splitlines()
    block = _newline_in(text).join([begin, *lines, end])
    if old_block is None:
        return _append_block(text, block)
    if old_block.splitlines() == lines:
        return text
    return text[: text.index(begin)] + block + text[text.index(end) + len(end) :]


def without_block(text: str, name: str = RULES) -> str:
    """Return the text without block and blank line before it. Raises CannotEditError."""
    if block_in(text, name) is None:
        return text
    begin, end = markers(name)
    start, rest = text.index(begin), text.index(end) + len(end)
    line_end = re.compile(r"\r?\n").match(text, rest) if text[:start].strip("\ufeff") else None
    return _without_lines(text, start, line_end.end() if line_end else rest)


def _newline_in(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _append_block(text: str, block: str) -> str:
    """Return the text with a block behind a blank line; it ends as the text does."""
    is_new, has_end, newline = not text.strip("\ufeff"), text.endswith("\n"), _newline_in(text)
    gap = "" if is_new else newline if has_end else newline * 2
    return text + gap + block + (newline if is_new or has_end else "")


def _without_lines(text: str, start: int, end: int) -> str:
    """Return the text without these lines and the blank one before them."""
    head, rest = text[:start], text[end:]
    if not head.strip("\ufeff"):
        return head + re.sub(r"\A\r?\n", "", rest)
    head = re.sub(r"(?<=\n)\r?\n\Z", "", head)
    return (head if text[start:end].endswith("\n") else re.sub(r"\r?\n\Z", "", head)) + rest


# Lines of `info/exclude`, which tells git the files to ignore on one machine.


def with_ignored_paths(text: str, names: Sequence[str]) -> str:
    """Return the text with a line such as `/.claude/settings.json` for each path."""
    for name in names:
        if _pattern_for(name) not in text.splitlines():
            pair = f"{MARK}\n{_pattern_for(name)}"
            text += f"{pair}\n" if text.endswith("\n") or not text else f"\n{pair}"
    return text


def without_ignored_paths(text: str, names: Sequence[str]) -> str:
    """Return the text without setup's lines for these paths."""
    text = f"\n{text}"
    for name in names:
        pair = f"\n{MARK}\n{_pattern_for(name)}"
        is_inside = f"{pair}\n" in text
        text = text.replace(f"{pair}\n", "\n", 1) if is_inside else text.removesuffix(pair)
    return text[1:]


def _pattern_for(name: str) -> str:
    """Return git's pattern for this path alone."""
    return "/" + re.sub(r"[\\*?\[]|\A[#!]| \Z", lambda match: f"\\{match[0]}", name)
