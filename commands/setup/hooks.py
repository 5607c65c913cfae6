"""Puts our hooks into the text of a client's file, and takes them out; hooks of the user stay."""

import re
import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from commands.clients.table import EVENTS, HOOKS
from commands.documents.edit_json import with_value, without
from commands.documents.json_tree import Keys, OtherKindError, data_of, object_of
from commands.setup.client_table import COMMANDS, EVENT, LINE, RECORDING, Event, Hooks
from commands.setup.files import Installation, strings_in

Shell = Literal["powershell", "cmd"]

# Another program may have a `cli.py hook`, too: ours names a client that we know.
_NEXT = r"""["']?[\s=]+["']?"""
_CALL = re.compile(
    rf"""(?:^|[/\\\s"'])(?:cli\.py|{COMMANDS[1]}(?:\.exe)?){_NEXT}hook{_NEXT}(?P<event>{"|".join(EVENTS)})"""
    rf"""{_NEXT}--client{_NEXT}(?:{"|".join(HOOKS)})(?![\w-])"""
    rf"""(?:{_NEXT}--lang{_NEXT}(?P<lang>en|ko)(?![\w-]))?"""
)
_VERSION = ("version",)
# Where a client may look for the command; an old one must not stay in a handler of ours.
_COMMANDS = ("command", "args", "bash", "powershell", "exec", "windows", "linux", "osx")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """How the hooks of a client start this program. client: its key.

    project: what they name as the project, "" for nothing. lang: their language, "" for none;
    None for the one of those that are there.
    """

    installation: Installation
    client: str
    project: str = ""
    lang: str | None = None

    def words(self, event: str, lang: str) -> list[str]:
        """Return the command line for one of our events."""
        said = ["--lang", lang] if lang else []
        named = ["--project", self.project] if self.project else []
        started = [*self.installation.cli, "hook", event]
        return [*started, "--client", self.client, *said, *named]


@dataclass(frozen=True, slots=True)
class Place:
    """A handler of ours. path: to it. outer: to what holds nothing but it, itself or its group.

    event: the client's name for it. ours: that of `cli.py hook`. lang: "" where it names none.
    """

    event: str
    ours: str
    lang: str
    path: Keys
    outer: Keys


def with_hooks(text: str, hooks: Hooks, call: Call, *, idle: Collection[str] = (RECORDING,)) -> str:
    """Return the text with a handler for each event of the client but the prompt.

    A handler of ours that is there changes in place, also one for the prompt, which a person wrote.
    idle: events of ours for which there is no use; a handler for those goes. Raises BrokenJsonError
    and OtherKindError.
    """
    there = object_of(text)
    for name, listed in _events(there).items():
        if not isinstance(listed, list):  # most clients then pass over the whole file
            raise OtherKindError(("hooks", name))
    places = places_of(text, hooks)
    known = [(place.event, place.ours) for place in places]
    lang = (
        next((place.lang for place in places if place.lang), "") if call.lang is None else call.lang
    )
    events = [
        event
        for event in hooks.events
        if (event.ours != "prompt" or (event.name, event.ours) in known) and event.ours not in idle
    ]
    if hooks.version and not there:
        text = with_value(text, _VERSION, 1)
    text = _without_others(text, hooks, events)
    for event in events:
        words = call.words(event.ours, lang)
        handler = handler_of(hooks, words, event.ours, windows=call.installation.windows)
        text = _with_event(text, hooks, event, handler)
    return text


def odd_key(text: str, hooks: Hooks) -> str:
    """Return a key that makes the client pass over the whole file; "" for none."""
    data = object_of(text)
    version = data.get("version", 1)
    if hooks.version and (version != 1 or version is True):
        return "version"
    return next((key for key in data if hooks.keys and key not in hooks.keys), "")


def without_hooks(text: str, hooks: Hooks) -> str:
    """Return the text without our handlers, and without the groups and lists made for those."""
    after = _without_others(text, hooks, ())
    if after == text or not hooks.version or object_of(after) != {"version": 1}:
        return after
    rest = without(after, _VERSION)
    return rest if with_value(rest, _VERSION, 1) == after else after


def hook_strings(text: str, hooks: Hooks) -> Iterator[str]:
    """Yield the texts and numbers that setup has put into our handlers."""
    data, keys = data_of(text), {*_COMMANDS, *hooks.handler}
    for place in places_of(text, hooks):
        handler = part_at(data, place.path)
        yield from strings_in([handler[key] for key in keys & handler.keys()])


def _without_others(text: str, hooks: Hooks, events: Sequence[Event]) -> str:
    """Return the text with only the first handler of ours for each of these events."""
    kept, places = {(event.name, event.ours) for event in events}, places_of(text, hooks)
    leaving = []
    for at, place in enumerate(places):
        if (place.event, place.ours) in kept:
            kept.remove((place.event, place.ours))
        else:
            leaving.append((place.path, _is_older(place, places[at + 1 :], hooks)))
    for path, is_older in reversed(leaving):  # its group goes with the last handler in it
        outer = next(place.outer for place in places_of(text, hooks) if place.path == path)
        text = without(text, outer, kept=2 if is_older else 0)
    return text


def _is_older(place: Place, after: Sequence[Place], hooks: Hooks) -> bool:
    """Say whether an event's list was there before our handlers: a new one comes behind others.

    The handler for a prompt does not count, since it may come later than all.
    """
    order = [event.name for event in hooks.events if event.ours != "prompt"]
    earlier = order[: order.index(place.event)] if place.event in order else []
    return any(other.event in earlier for other in after)


def _with_event(text: str, hooks: Hooks, event: Event, handler: dict[str, Any]) -> str:
    matcher = {"matcher": event.matcher} if event.matcher else {}
    value = {**matcher, "hooks": [handler]} if hooks.grouped else {**handler, **matcher}
    found = next(
        (
            place
            for place in places_of(text, hooks)
            if (place.event, place.ours) == (event.name, event.ours)
        ),
        None,
    )
    is_shared = found is not None and hooks.grouped and found.outer == found.path
    if found and is_shared:
        group = part_at(data_of(text), found.path[:3])
        if (group.get("matcher") or "") != event.matcher:  # a group of the user, for other moments
            text, found = without(text, found.path), None
    if found is None:
        listed = _events(object_of(text)).get(event.name)
        position = len(listed) if isinstance(listed, list) else 0
        return with_value(text, ("hooks", event.name, position), value)
    there = part_at(object_of(text), found.path)
    for key in (*_COMMANDS, "shell"):
        if key in there and key not in handler:
            text = without(text, (*found.path, key))
    for key, value in handler.items():
        if there.get(key) != value:
            text = with_value(text, (*found.path, key), value)
    if is_shared:
        return text
    if matcher:
        return with_value(text, (*found.outer, "matcher"), event.matcher)
    return without(text, (*found.outer, "matcher"))


def _events(data: dict[str, Any]) -> dict[str, Any]:
    events = data.get("hooks")
    return events if isinstance(events, dict) else {}


def part_at(data: Any, path: Keys) -> Any:
    """Return what stands at a path that exists."""
    for key in path:
        data = data[key]
    return data


def places_of(text: str, hooks: Hooks) -> list[Place]:
    """Return our handlers in a file. Raises BrokenJsonError and OtherKindError."""
    found = []
    for event, listed in _events(object_of(text)).items():
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
    called = [(event, _call_in(handler), path, outer) for event, handler, path, outer in found]
    return [
        Place(event, call["event"], call["lang"] or "", path, outer)
        for event, call, path, outer in called
        if call
    ]


def _call_in(handler: object) -> re.Match[str] | None:
    """Return the call of `cli.py hook` in a handler, None in a handler of somebody else."""
    if not isinstance(handler, dict):
        return None
    texts = [text for text in (handler.get(key) for key in _COMMANDS) if isinstance(text, str)]
    listed = handler.get("args")
    words = [word for word in listed if isinstance(word, str)] if isinstance(listed, list) else []
    for text in (*texts, " ".join(words)):
        called = _CALL.search(text)
        if called:
            return called
    return None


# A hook is a line for a shell, because clients read the configurations of others and not all know a
# list of arguments. The line outlives what it starts: an interpreter that is gone or a checkout
# that has moved must not fail with a status that a client takes for a veto of its tool call.

_ENDS = {"powershell": "; exit 0", "cmd": " & exit /b 0"}


def handler_of(hooks: Hooks, words: Sequence[str], event: str, *, windows: bool) -> dict[str, Any]:
    """Return what is written for one of our events; its line always ends with status 0."""
    end = _ENDS[hooks.shell] if windows else " || :"
    line = command_line(words, windows=windows, shell=hooks.shell) + end
    form = hooks.windows or hooks.handler if windows else hooks.handler
    handler = {
        key: part.replace(EVENT, event).replace(LINE, line) if isinstance(part, str) else part
        for key, part in form.items()
    }
    return {**handler, **hooks.unawaited} if event == RECORDING else handler


def command_line(words: Sequence[str], *, windows: bool, shell: Shell = "powershell") -> str:
    """Return the words as a line for a shell of the system; `shell` is the one of Windows."""
    if not windows:
        return shlex.join(words)
    if all(re.fullmatch(r"[\w.:/+=-]+", word) for word in words):
        return " ".join(words)
    if shell == "powershell":
        return "& " + " ".join("'" + word.replace("'", "''") + "'" for word in words)
    # A line that begins with a quote would lose its outermost quotes in cmd.
    return "call " + " ".join(f'"{word}"' for word in words)
