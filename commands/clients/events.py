"""Reads what a client tells a hook, and writes the JSON in which the client takes an answer.

Sources: code.claude.com/docs/en/hooks, cursor.com/docs/hooks, code.visualstudio.com (agent hooks
reference), learn.chatgpt.com/docs/hooks (Codex), geminicli.com/docs/hooks. Clients and versions
spell field names differently and this file takes every spelling; it knows a tool by its input
rather than by its name.
"""

import contextlib
import json
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from commands.clients.table import COMPLAINT, EVENTS, HOOKS, Event

__all__ = ["COMPLAINT", "EVENTS", "HOOKS"]
MOST_TEXT_CHARS, MOST_WRITTEN_CHARS = 4_000, 400_000
MOST_FILES, MOST_PATH_CHARS = 50, 1_000

# Tools that change no file, and those of MCP servers, of which nobody knows; a client may put the
# name of the server before that of the tool.
_READS = re.compile(
    r"(?:.*[-_.:/])?(?:read|view|open|list|ls|glob|grep|search(?!_?replace)|find|fetch|web|get|todo)"
    r"|mcp|.*_memory\Z",
    re.I,
)
# Copilot's editor takes one of these where other tools take a line for a shell.
_EDITS = frozenset(("create", "str_replace", "insert", "undo_edit"))
_DRIVE = re.compile(r"\A/(?=[A-Za-z]:[\\/])")
_NAME = re.compile(r"[A-Za-z]{1,40}")
_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$", re.M)
_REMOVED, _ADDED = re.compile(r"^-(.*)$", re.M), re.compile(r"^\+(.*)$", re.M)
_PATHS = ("file_path", "filePath", "path", "notebook_path", "target_file", "files", "file_paths")
_OLD = ("old_string", "oldString", "old_str")
_NEW = ("new_string", "newString", "new_str", "new_source", "code", "newCode", "text")
_WHOLE = ("content", "contents", "file_text")
_PARTS = ("edits", "replacements")


class Moment(NamedTuple):
    """What is about to happen in a client, in the words of no client.

    session, agent: ids, "" when the client names none; agent is that of a sub-agent. source: what
    began the session. folders: what the client has open. cwd: where it is at work. paths: files
    that are going to change, as the client names them. command: a shell command. text: the lines
    that a change brings, or what the user asks. removed: those that it takes away. is_whole: the
    text is all that a file is going to hold. over: nothing may follow this stop, because it follows
    an answer to a stop or the user wanted it. name: the client's name for the event, "" where the
    answer must not name it. is_nameless: nothing tells this sub-agent from others of its kind.
    """

    session: str = ""
    agent: str = ""
    source: str = ""
    folders: tuple[str, ...] = ()
    cwd: str = ""
    paths: tuple[str, ...] = ()
    command: str = ""
    text: str = ""
    removed: str = ""
    is_whole: bool = False
    over: bool = False
    name: str = ""
    is_nameless: bool = False

    @property
    def says_something(self) -> bool:
        """Whether a record could be about anything here."""
        return bool(self.paths or self.command.strip() or self.text.strip() or self.removed.strip())


def event_of(client: str, event: str) -> Event | None:
    """Return the client's own event for one of ours; None where it has none that takes a text."""
    return next((known for known in HOOKS[client].events if known.ours == event), None)


def read_moment(client: str, event: str, payload: Mapping[str, Any]) -> Moment:
    """Return the moment that a client describes, without what is missing or of another type."""
    name = _text(payload, "hook_event_name", "hookEventName")
    told: dict[str, Any] = {}
    if event == "before-action":
        told = action_in(payload)
    elif event == "prompt":
        told = {"text": _text(payload, "prompt")[:MOST_TEXT_CHARS]}
    loops = payload.get("loop_count")
    cwd = _native(payload.get("cwd"))
    roots = payload.get("workspace_roots")
    folders = tuple(filter(None, map(_native, roots))) if isinstance(roots, list) else ()
    agent = _text(payload, "agent_id", "subagent_id", "agentId")
    if not _NAME.fullmatch(name):
        known = None if HOOKS[client].nameless else event_of(client, event)
        name = known.name if known else ""
    return Moment(
        session=_text(payload, "conversation_id", "session_id", "sessionId", "transcript_path"),
        agent=agent,
        source=_text(payload, "source"),
        folders=folders or ((cwd,) if cwd else ()),
        cwd=cwd,
        **told,
        over=payload.get("stop_hook_active") is True
        or (isinstance(loops, int) and loops > 0)
        or payload.get("status", "completed") != "completed",
        name=name,
        is_nameless=not agent and bool(_text(payload, "agentName", "agent_type")),
    )


def answer(client: str, event: str, moment: Moment, text: str) -> str:
    """Return the JSON that puts `text` before a client's model; ASCII, whatever a console takes."""
    known = event_of(client, event)
    if known and known.key:
        return json.dumps({known.key: text})
    if not moment.name:
        return json.dumps({"additionalContext": text})
    return json.dumps(
        {"hookSpecificOutput": {"hookEventName": moment.name, "additionalContext": text}}
    )


def inside(folder: str, path: str) -> str:
    """Return a path relative to a folder, with `/` between its names; "" when it leads out of it.

    In NFC: macOS gives the names of files as Hangul that is taken apart.
    """
    folder, path = (unicodedata.normalize("NFC", name) for name in (folder, path))
    windows = bool(re.match(r"[A-Za-z]:[\\/]|\\\\", folder))
    there, top = (name.replace("\\", "/") if windows else name for name in (path, folder))
    top = top.rstrip("/") + "/"
    absolute = there.startswith("/") or bool(re.match(r"[A-Za-z]:", there))
    if absolute and (there.casefold() if windows else there).startswith(
        top.casefold() if windows else top
    ):
        there, absolute = there[len(top) :], False
    parts = [part for part in there.split("/") if part not in ("", ".")]
    return "" if absolute or ".." in parts else "/".join(parts)


def folder_of(moment: Moment) -> str:
    """Return the innermost of the folders that a client has open in which this happens."""
    place = moment.paths[0] if moment.paths else moment.cwd
    around = [folder for folder in moment.folders if folder == place or inside(folder, place)]
    return max(around, key=len, default=moment.folders[0] if moment.folders else moment.cwd)


def paths_inside(root: str, moment: Moment) -> Iterator[str]:
    """Yield an action's files, relative to the project or to the worktree that stands for it."""
    folders = [folder for folder in (*moment.folders, moment.cwd) if folder]
    tops = [
        root,
        *(_top_of(folder) for folder in folders if folder != root and not inside(root, folder)),
    ]
    for path in moment.paths:
        # A relative one is meant from where the client is at work.
        places = [os.path.normpath(os.path.join(folder, path)) for folder in folders or [root]]
        found = [name for place in places for top in tops if (name := inside(top, place))]
        if not found:  # perhaps a link stands between them
            with contextlib.suppress(OSError, ValueError):
                real = os.path.realpath(places[0])
                found = [inside(os.path.realpath(root), real)]
        yield from filter(None, found)


def _top_of(folder: str) -> str:
    """Return the git worktree that a folder is in; the folder itself where there is none."""
    path = folder
    while not os.path.exists(os.path.join(path, ".git")):
        path, below = os.path.dirname(path), path
        if path == below:
            return folder
    return path


def action_in(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a moment that a tool call fills which changes something."""
    given = _input(payload)
    if given is None:
        return {}
    command = _command(given)
    if command in _EDITS:
        command = ""
    patch = _patch(given)
    if patch and (paths := _PATCHED.findall(patch)):
        removed, added = ("\n".join(sign.findall(patch)) for sign in (_REMOVED, _ADDED))
        changed = _changed([(removed, added)])
        return {"paths": tuple(path.strip() for path in paths[:MOST_FILES]), **changed}
    parts = list(_parts(given))
    files = dict.fromkeys(path for part in parts for path in _paths(part))
    told: dict[str, Any] = {"paths": tuple(files)[:MOST_FILES], "command": command}
    whole, edits = _writings(parts)
    if whole:
        return {**told, "text": whole, "is_whole": True}
    return told | _changed(edits)


def edits_in(payload: Mapping[str, Any]) -> tuple[str, list[tuple[str, str]], str]:
    """Return the patch that a tool call holds, its edits before and after, or a whole new text."""
    given = _input(payload)
    if given is None:
        return "", [], ""
    whole, edits = _writings(list(_parts(given)))
    return _patch(given), [edit for edit in edits if any(edit)], whole


def _input(payload: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the input of a tool that may change something."""
    given = payload.get("tool_input") or payload.get("toolArgs")
    if isinstance(given, str):  # some clients send the JSON as a text
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            given = {"input": given}
    tool = _text(payload, "tool_name", "toolName")
    if not isinstance(given, dict) or _READS.match(tool) or given.get("command") == "view":
        return None
    return given


def _patch(given: Mapping[str, Any]) -> str:
    texts = (_command(given), _text(given, "input", "patch"))
    return next((text for text in texts if "*** " in text), "")


def _writings(parts: Sequence[Mapping[str, Any]]) -> tuple[str, list[tuple[str, str]]]:
    """Return the whole new text of a file, "" for none, and the edits before and after."""
    whole = "\n".join(text for part in parts for text in _values(part, _WHOLE))
    old, new = ([*("\n".join(_values(it, names)) for it in parts)] for names in (_OLD, _NEW))
    return whole, list(zip(old, new, strict=True))


def _changed(edits: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the lines that edits bring and take away; each is the text before and after."""
    added, removed = list[str](), list[str]()
    for old, new in edits:
        added += new_lines(new, old)
        removed += new_lines(old, new)
    return {"text": _joined(added), "removed": _joined(removed)}


def _joined(lines: Sequence[str]) -> str:
    return "\n".join(lines)[:MOST_TEXT_CHARS]


def _command(given: Mapping[str, Any]) -> str:
    command = given.get("command", given.get("cmd"))
    if isinstance(command, list):  # as an argument vector
        return " ".join(word for word in command if isinstance(word, str))[:MOST_TEXT_CHARS]
    return command[: 4 * MOST_TEXT_CHARS] if isinstance(command, str) else ""


def _parts(given: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the input of a tool, and the single edits that it may list."""
    yield given
    for key in _PARTS:
        listed = given.get(key)
        yield from (
            (part for part in listed if isinstance(part, dict)) if isinstance(listed, list) else ()
        )


def _paths(given: Mapping[str, Any]) -> Iterator[str]:
    for key in _PATHS:
        value = given.get(key)
        for path in value if isinstance(value, list) else [value]:
            if isinstance(path, str) and path.strip() and len(path) <= MOST_PATH_CHARS:
                yield path.strip()


def _values(given: Mapping[str, Any], names: Sequence[str]) -> Iterator[str]:
    for name in names:
        if isinstance(value := given.get(name), str):
            yield value[:MOST_WRITTEN_CHARS]


def _native(folder: object) -> str:
    """Return the name of a folder, "" for anything else; Cursor writes `/c:/shop` for `c:/shop`."""
    return _DRIVE.sub("", folder.strip()) if isinstance(folder, str) else ""


def _text(payload: Mapping[str, Any], *names: str) -> str:
    """Return the first of these members that is a text and not empty; else ""."""
    return next(texts_under(payload, names), "")


def texts_under(payload: Mapping[str, Any], names: Iterable[str]) -> Iterator[str]:
    """Yield those of these members that are texts and not empty."""
    return (text for name in names if isinstance(text := payload.get(name), str) and text)


def new_lines(text: str, before: str) -> list[str]:
    """Return the lines of a text that it did not have before; moved and indented ones it had."""
    lines, others = text.splitlines(), before.splitlines()
    left = Counter(map(str.strip, lines))
    left.subtract(Counter(map(str.strip, others)))
    found = list[str]()
    for line in lines:
        key = line.strip()
        if key and left[key] > 0:
            left[key] -= 1
            found.append(line)
    return found
