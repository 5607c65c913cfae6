"""Puts what a client needs into the text of a file, and takes it out again: JSON, TOML, a block.

Pure: texts and data in, texts and data out. All that is not ours stays. JSON keeps the order of its
keys, its step of indentation and what it had in one line; with comments it is refused, since it
would lose them. A TOML file keeps every byte outside of our table.
"""

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NoReturn

from core.errors import RefusedError

RULES = "rules"
MARK = "# sentinel-memory setup"  # in the list that git has for one machine
Keys = Sequence[str]
Table = Mapping[str, Any]

_STRING = r'"(?:[^"\\]|\\.)*+"?'
_COMMENT = re.compile(rf"({_STRING})|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_COMMA = re.compile(rf"({_STRING}|[\[{{,]\s*+,)|,(?=\s*+[\]}}])", re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
_LIST_IN_LINES = re.compile(r'\[[^\S\n]*+\n\s*+"')


def markers(name: str) -> tuple[str, str]:
    """Return the lines before and after the block of this name."""
    return f"<!-- sentinel-memory {name}: begin -->", f"<!-- sentinel-memory {name}: end -->"


BEGIN, END = markers(RULES)


class CannotEditError(RefusedError):
    """A text cannot be edited without a loss, or its reader takes no such text.

    Facts of the sentence: line, or place (keys with dots).
    """

    table = "setup"


# JSON.


def json_data(text: str, *, takes_mark: bool = True) -> dict[str, Any]:
    """Return the object of a JSON text, {} for blanks. Raises CannotEditError.

    takes_mark: whether the client that reads it takes a byte order mark.
    """
    bare = text.removeprefix("\ufeff")
    if bare != text and not takes_mark:
        raise CannotEditError("json_mark")
    if not bare.strip(" \t\r\n"):
        return {}
    try:
        data = _DECODER.decode(bare)
    except RecursionError:
        raise CannotEditError("json_depth") from None
    except ValueError as error:
        at = getattr(error, "pos", 0)
        if bare != without_comments(bare) and json_data(without_comments(bare)) is not None:
            raise CannotEditError("json_comments", line=bare.count("\n", 0, at) + 1) from None
        raise CannotEditError(
            "json_twice" if str(error) == "twice" else "json_syntax",
            line=bare.count("\n", 0, at) + 1,
        ) from None
    if not isinstance(data, dict):
        raise CannotEditError("other_kind", place="{}")
    return data


def without_comments(text: str) -> str:
    """Return JSON with blanks for its comments and for commas before a closing bracket."""
    for pattern in _COMMENT, _COMMA:
        text = pattern.sub(lambda it: it[1] or re.sub(r"[^\r\n]", " ", it[0]), text)
    return text


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        raise ValueError("twice")
    return data


def _refused(name: str) -> NoReturn:
    raise ValueError(name)


# NaN and Infinity are no JSON
_DECODER = json.JSONDecoder(parse_constant=_refused, object_pairs_hook=_unique)


def json_text(data: Table, before: str) -> str:
    """Return data as JSON in the style of the text before, which stays where it says the same."""
    if before.strip("\ufeff \t\r\n") and _same(json_data(before), data):
        return before
    step = re.search(r"\n([ \t]+)\S", before)
    kept = {line.strip().removesuffix(",") for line in before.split("\n")}
    has_lists_in_lines = bool(_LIST_IN_LINES.search(before))

    def laid_out(value: Any, name: str, indent: str) -> str:
        line = name + json.dumps(value, ensure_ascii=False)
        is_plain = isinstance(value, list) and not any(isinstance(it, dict | list) for it in value)
        if not isinstance(value, dict | list) or not value or ((name or indent) and line in kept):
            return line
        if is_plain and not has_lists_in_lines:
            return line
        inner = indent + (step[1] if step else "  ")
        if isinstance(value, dict):
            signs = "{}"
            parts = [
                laid_out(it, f"{json.dumps(key, ensure_ascii=False)}: ", inner)
                for key, it in value.items()
            ]
        else:
            signs, parts = "[]", [laid_out(it, "", inner) for it in value]
        lines = f",\n{inner}".join(parts)
        return f"{name}{signs[0]}\n{inner}{lines}\n{indent}{signs[1]}"

    text = laid_out(data, "", "")
    if not text.isprintable() and _SURROGATE.search(text):  # which no file can hold
        text = json.dumps(data, indent=step[1] if step else 2)
    text += "" if before.strip("\ufeff") and not before.endswith("\n") else "\n"
    text = text.replace("\n", "\r\n") if "\r\n" in before else text
    return before[: before.startswith("\ufeff")] + text


def _same(one: Any, other: Any) -> bool:
    """Return whether two values are the same as JSON, in which 1 is not true."""
    return json.dumps(one) == json.dumps(other)


def value_at(data: Any, keys: Keys) -> Any:
    """Return what stands in data below these keys, None where an object or a key is missing."""
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def with_value(data: Table, keys: Keys, value: Any) -> dict[str, Any]:
    """Return data with this value below the keys; for None without it, and what then is empty.

    Raises CannotEditError where something else than an object stands on the way.
    """
    key, *rest = keys
    below = value
    if rest:
        there = data.get(key, {})
        if not isinstance(there, dict):
            raise CannotEditError("other_kind", place=key)
        if not there and value is None:
            return dict(data)
        below = with_value(there, rest, value)
    if below is None or (value is None and not below):
        return {name: it for name, it in data.items() if name != key}
    return {**data, key: below}


def with_items(
    data: Table, keys: Keys, items: Sequence[Any], gone: Sequence[Any] = ()
) -> dict[str, Any]:
    """Return data with these items in the list below the keys, and without those that are gone.

    Raises CannotEditError where something else than a list stands there.
    """
    listed = value_at(data, keys)
    if not isinstance(listed, list | None):
        raise CannotEditError("other_kind", place=".".join(keys))
    kept = [it for it in listed or () if it in items or it not in gone]
    kept += [it for it in items if it not in kept]
    if kept == (listed or []):
        return dict(data)
    return with_value(data, keys, kept or None)


# Hooks in JSON. A handler is one command at one event; in some clients it stands in a group, which
# holds the matcher and, for a user, may hold several.

Called = Callable[[Any], str]  # the event of ours that a handler calls, "" for somebody else's


def with_hooks(
    data: Table,
    wanted: Mapping[str, Mapping[str, Table]],
    called: Called,
    *,
    optional: Collection[str] = (),
) -> dict[str, Any]:
    """Return data in which our hooks are these, each where it was before; {} takes them out.

    wanted: by the client's event and by ours, an item of the list at that event. optional: events
    of ours that change where they are there, and are not added. Raises CannotEditError.
    """
    events = data.get("hooks", {})
    if not isinstance(events, dict):
        raise CannotEditError("other_kind", place="hooks")
    result = dict(events)
    for name in dict.fromkeys([*events, *wanted]):
        listed = events.get(name, [])
        if not isinstance(listed, list):  # most clients then pass over the whole file
            raise CannotEditError("other_kind", place=f"hooks.{name}")
        missing = dict(wanted.get(name, {}))
        kept = [it for item in listed for it in _renewed(item, missing, called)]
        kept += [item for ours, item in missing.items() if ours not in optional]
        if kept:
            result[name] = kept
        elif listed:
            del result[name]
    if result == events:
        return dict(data)
    return (
        {**data, "hooks": result} if result else {k: it for k, it in data.items() if k != "hooks"}
    )


def _renewed(item: Any, missing: dict[str, Table], called: Called) -> list[Any]:
    """Return what becomes of an item of the user's list; what is renewed is no longer missing."""
    inner = item.get("hooks") if isinstance(item, dict) else None
    handlers = inner if isinstance(inner, list) else [item]
    ours = [called(it) for it in handlers]
    if not any(ours):
        return [item]
    if len(handlers) == 1 and ours[0] in missing:
        new = missing.pop(ours[0])
        if handlers is not inner:
            return [_joined(item, new)]
        group = {key: it for key, it in item.items() if key != "matcher"}
        return [{**new, **group, "hooks": [_joined(handlers[0], new["hooks"][0])]}]
    left = [it for it, name in zip(handlers, ours, strict=True) if not name]
    return [{**item, "hooks": left}] if left else []


_STARTS = (
    "command",
    "args",
    "bash",
    "powershell",
    "exec",
    "windows",
    "linux",
    "osx",
    "shell",
    "matcher",
)


def _joined(old: Table, new: Table) -> dict[str, Any]:
    """Return a handler with what the user added to it, but nothing that starts something else."""
    kept = {key: it for key, it in old.items() if key in new or key not in _STARTS}
    return {**kept, **new}


def hooks_in(data: Any, called: Called) -> list[tuple[str, Any]]:
    """Return our handlers by the client's event, for groups with the group around each."""
    events = data.get("hooks") if isinstance(data, dict) else None
    found = []
    for name, listed in events.items() if isinstance(events, dict) else ():
        for item in listed if isinstance(listed, list) else ():
            inner = item.get("hooks") if isinstance(item, dict) else None
            handlers = inner if isinstance(inner, list) else [item]
            found += [
                (name, {**item, "hooks": [it]} if handlers is inner else it)
                for it in handlers
                if called(it)
            ]
    return found


def line_end_of(text: str) -> str:
    """Return how a text ends its lines."""
    return "\r\n" if "\r\n" in text else "\n"


# A block of ours in a text, between two comment lines of Markdown.


def block_in(text: str, name: str = RULES) -> str | None:
    """Return what stands between the marks, without adjoining line ends; None for no block.

    Raises CannotEditError for a mark that stands alone, twice or in the wrong order.
    """
    begin, end = markers(name)
    counts = text.count(begin), text.count(end)
    if counts == (0, 0):
        return None
    if counts != (1, 1) or text.index(end) < text.index(begin):
        raise CannotEditError("broken_block")
    return text[text.index(begin) + len(begin) : text.index(end)].strip("\r\n")


def with_block(text: str, body: str, name: str = RULES) -> str:
    """Return the text with this block: where the old one stood, else at its end after a blank line.

    The line ends of the text are kept. Raises CannotEditError.
    """
    newline, (begin, end) = line_end_of(text), markers(name)
    block = newline.join([begin, *body.strip("\r\n").splitlines(), end])
    held = block_in(text, name)
    if held is not None:
        if held.splitlines() == body.strip("\r\n").splitlines():
            return text
        return text[: text.index(begin)] + block + text[text.index(end) + len(end) :]
    if not text.strip("\ufeff"):
        return text + block + newline
    ended = text.endswith("\n")
    return text + newline * (1 if ended else 2) + block + newline * ended


def without_block(text: str, name: str = RULES) -> str:
    """Return the text without the block and the blank line that was put before it.

    Raises CannotEditError.
    """
    if block_in(text, name) is None:
        return text
    begin, end = markers(name)
    before, after = text[: text.index(begin)], text[text.index(end) + len(end) :]
    if before.strip("\ufeff"):
        before = re.sub(r"\r?\n\Z", "", before)
        if not after:
            return re.sub(r"\r?\n\Z", "", before)
    return before + re.sub(r"\A\r?\n", "", after)


# Lines in the list of what git passes over on one machine.


def with_kept_out(text: str, names: Sequence[str]) -> str:
    """Return the text with a line for each of these paths, under one of ours."""
    for name in names:
        if _pattern(name) not in text.splitlines():
            pair = f"{MARK}\n{_pattern(name)}"
            text += f"{pair}\n" if text.endswith("\n") or not text else f"\n{pair}"
    return text


def without_kept_out(text: str, names: Sequence[str]) -> str:
    """Return the text without the lines that setup has put in for these paths."""
    text = f"\n{text}"
    for name in names:
        pair = f"\n{MARK}\n{_pattern(name)}"
        found = f"{pair}\n" in text
        text = text.replace(f"{pair}\n", "\n", 1) if found else text.removesuffix(pair)
    return text[1:]


def _pattern(name: str) -> str:
    """Return the pattern that means this path from the top of the work tree, and no other."""
    return "/" + re.sub(r"[\\*?\[]|\A[#!]| \Z", lambda found: f"\\{found[0]}", name)
