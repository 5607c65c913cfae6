"""Puts our hooks into the text of a client's file and takes them out; those of the user stay."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from faces.hook_events import EVENTS
from faces.jsonc import Keys, OtherKindError, data_of, with_value, without
from faces.setup_table import Event, Hooks, Installation

_CALL = re.compile(
    rf"""(?:^|[/\\\s"'])cli\.py["']?\s+["']?hook["']?\s+["']?({"|".join(EVENTS)})(?![\w-])"""
)
# All in which a client may look for the command; of a handler of ours no old one may stay.
_COMMANDS = ("command", "args", "bash", "powershell", "exec", "windows", "linux", "osx")


@dataclass(frozen=True, slots=True)
class _Place:
    """A handler of ours. path: to it. outer: to what holds nothing but it, itself or its group."""

    event: str
    ours: str
    path: Keys
    outer: Keys


def with_hooks(
    text: str, hooks: Hooks, installation: Installation, key: str, *, prompt: bool
) -> str:
    """The text with a handler for each event of the client, the prompt only where that is wanted.

    A handler of ours that is there changes in place, also one for the prompt. Raises what the
    edits of `faces.jsonc` raise.
    """
    there = [(place.event, place.ours) for place in _places(text, hooks)]
    events = [
        event
        for event in hooks.events
        if event.ours != "prompt" or prompt or (event.name, event.ours) in there
    ]
    if hooks.version and "version" not in _document(text):
        text = with_value(text, ("version",), 1)
    text = _without_others(text, hooks, events)
    for event in events:
        words = [*installation.runner, installation.cli, "hook", event.ours, "--client", key]
        text = _with_event(text, hooks, event, hooks.handler(words, installation.windows))
    return text


def without_hooks(text: str, hooks: Hooks) -> str:
    """The text without our handlers, and without the groups and lists that held only those."""
    return _without_others(text, hooks, ())


def has_hooks(text: str, hooks: Hooks) -> bool:
    """Whether any handler of ours is there."""
    return bool(_places(text, hooks))


def hook_strings(text: str, hooks: Hooks) -> Iterator[str]:
    """The texts in our handlers that are there."""
    data = data_of(text)
    for place in _places(text, hooks):
        for it in _at(data, place.path).values():
            yield from [it] if isinstance(it, str) else it if isinstance(it, list) else ()


def _without_others(text: str, hooks: Hooks, events: Sequence[Event]) -> str:
    """Only the first handler of ours for each of these events stays."""
    kept = {(event.name, event.ours) for event in events}
    leaving = []
    for place in _places(text, hooks):
        if (place.event, place.ours) in kept:
            kept.remove((place.event, place.ours))
        else:
            leaving.append(place.outer)
    for path in reversed(leaving):
        text = without(text, path)
    return text


def _with_event(text: str, hooks: Hooks, event: Event, handler: dict[str, Any]) -> str:
    matcher = {"matcher": event.matcher} if event.matcher else {}
    value = {**matcher, "hooks": [handler]} if hooks.grouped else {**handler, **matcher}
    found = next(
        (it for it in _places(text, hooks) if (it.event, it.ours) == (event.name, event.ours)), None
    )
    is_shared = found is not None and hooks.grouped and found.outer == found.path
    if found and is_shared:
        group = _at(data_of(text), found.path[:3])
        if (group.get("matcher") or "") != event.matcher:  # a group of the user, for other moments
            text, found = without(text, found.path), None
    if found is None:
        events = _document(text).get("hooks")
        listed = events.get(event.name) if isinstance(events, dict) else None
        position = len(listed) if isinstance(listed, list) else 0
        return with_value(text, ("hooks", event.name, position), value)
    there = _at(_document(text), found.path)
    for key in _COMMANDS:
        if key in there and key not in handler:
            text = without(text, (*found.path, key))
    for key, it in handler.items():
        if there.get(key) != it:
            text = with_value(text, (*found.path, key), it)
    if is_shared:
        return text
    if matcher:
        return with_value(text, (*found.outer, "matcher"), event.matcher)
    return without(text, (*found.outer, "matcher"))


def _document(text: str) -> dict[str, Any]:
    """The data of a document, which is an object. Raises OtherKindError and BrokenJsonError."""
    data = data_of(text)
    if data is not None and not isinstance(data, dict):
        raise OtherKindError(())
    return data or {}


def _at(data: Any, path: Keys) -> Any:
    for key in path:
        data = data[key]
    return data


def _places(text: str, hooks: Hooks) -> list[_Place]:
    events = _document(text).get("hooks")
    found = []
    for event, listed in events.items() if isinstance(events, dict) else ():
        for at, item in enumerate(listed) if isinstance(listed, list) else ():
            path: Keys = ("hooks", event, at)
            if not hooks.grouped:
                found.append((event, item, path, path))
                continue
            inner = item.get("hooks") if isinstance(item, dict) else None
            handlers = inner if isinstance(inner, list) else []
            for position, handler in enumerate(handlers):
                below = (*path, "hooks", position)
                found.append((event, handler, below, path if len(handlers) == 1 else below))
    named = [(event, _ours(handler), path, outer) for event, handler, path, outer in found]
    return [_Place(event, ours, path, outer) for event, ours, path, outer in named if ours]


def _ours(handler: object) -> str:
    """The event of `cli.py hook` that a handler calls, "" for a handler of somebody else."""
    if not isinstance(handler, dict):
        return ""
    texts = [it for it in (handler.get(key) for key in _COMMANDS) if isinstance(it, str)]
    listed = handler.get("args")
    words = [it for it in listed if isinstance(it, str)] if isinstance(listed, list) else []
    for text in (*texts, " ".join(words)):
        called = _CALL.search(text)
        if called:
            return called[1]
    return ""
