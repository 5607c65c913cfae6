"""Reads the JSON of a client's event, and writes the JSON of an answer.

Sources: code.claude.com/docs/en/hooks, cursor.com/docs/hooks, code.visualstudio.com (agent hooks
reference), learn.chatgpt.com/docs/hooks (Codex), geminicli.com/docs/hooks. Clients and versions
spell field names differently; every spelling is taken, and a tool is known by its input.
"""

import contextlib
import json
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from commands.clients.table import HOOKS, RECORDING, Event

MOST_TEXT_CHARS, MOST_WRITTEN_CHARS = 4_000, 400_000
MOST_FILES, MOST_PATH_CHARS = 50, 1_000
_MOST_GIT_FILE_BYTES = 4_096

# Tools that change no file, and those of MCP servers, of which nobody knows; a client may put the
# name of the server before that of the tool.
_READS = re.compile(
    r"(?:.*[-_.:/])?(?:read|view|open|list|ls|glob|grep|search(?!_?replace)|find|fetch|web|get|todo)"
    r"|mcp|.*_memory\Z",
    re.I,
)
# Copilot's editor takes one of these where other tools take a line for a shell.
_EDITS = frozenset(("create", "str_replace", "insert", "undo_edit"))
# Compiled where they are used: most events have no patch.
_PATCHED = r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$"
_REMOVED, _ADDED = r"^-(.*)$", r"^\+(.*)$"
_MOST_NAME_CHARS = 40
_PATHS = ("file_path", "filePath", "path", "notebook_path", "target_file", "files", "file_paths")
_OLD = ("old_string", "oldString", "old_str")
_NEW = ("new_string", "newString", "new_str", "new_source", "code", "newCode", "text")
_WHOLE = ("content", "contents", "file_text")
_PARTS = ("edits", "replacements")
_WORKDIRS = ("workdir", "cwd", "working_directory", "dir_path", "directory")


class Moment(NamedTuple):
    """An event of any client."""

    session: str = ""  # an id, "" when the client names none
    agent: str = ""  # the id of a sub-agent
    source: str = ""  # its beginning, such as `resume`
    folders: tuple[str, ...] = ()  # open in the client
    cwd: str = ""  # where it is at work
    paths: tuple[str, ...] = ()  # files that are going to change, as the client names them
    command: str = ""  # for a shell
    workdir: str = ""  # where the shell is told to start
    text: str = ""  # the lines that a change brings, or the prompt
    removed: str = ""  # the lines that it takes away
    patch: str = ""
    new_content: str = ""  # all that a file is going to hold
    edits: tuple[tuple[str, str], ...] = ()  # pieces of a file, before and after
    over: bool = False  # nothing may follow this stop: it follows an answer, or the user wanted it
    name: str = ""  # the client's name for the event, "" where the answer must not name it
    is_nameless: bool = False  # nothing tells this sub-agent from others of its kind
    asks_nobody: bool = False  # the user lets the model call every tool

    @property
    def says_something(self) -> bool:
        """Whether a record could be about it."""
        return bool(self.paths or self.command.strip() or self.text.strip() or self.removed.strip())


def event_of(client: str, event: str) -> Event | None:
    """Return the client's own event for ours, None if none takes a text."""
    return next((known for known in HOOKS[client].events if known.hook_event == event), None)


def read_moment(client: str, event: str, payload: Mapping[str, Any]) -> Moment:
    """Return the moment of a payload; fields of another type count as missing."""
    name = text_in(payload, "hook_event_name", "hookEventName")
    moment = _call(payload) if event in ("before-action", RECORDING) else Moment()
    if event == "prompt":
        moment = Moment(text=text_in(payload, "prompt")[:MOST_TEXT_CHARS])
    elif moment.new_content:
        moment = moment._replace(text=moment.new_content)
    elif event == "before-action":
        edits = moment.edits
        if moment.patch:
            signs = (_REMOVED, _ADDED)
            old, new = ("\n".join(re.findall(sign, moment.patch, re.M)) for sign in signs)
            edits = ((old, new),)
        lines = [(new_lines(new, old), new_lines(old, new)) for old, new in edits]
        text, removed = ("\n".join(it for edit in lines for it in edit[at]) for at in range(2))
        moment = moment._replace(text=text[:MOST_TEXT_CHARS], removed=removed[:MOST_TEXT_CHARS])
    loops = payload.get("loop_count")
    cwd = _native(payload.get("cwd"))
    roots = payload.get("workspace_roots")
    folders = tuple(filter(None, map(_native, roots))) if isinstance(roots, list) else ()
    agent = text_in(payload, "agent_id", "subagent_id", "agentId")
    if not (name.isascii() and name.isalpha() and len(name) <= _MOST_NAME_CHARS):
        known = None if HOOKS[client].nameless else event_of(client, event)
        name = known.name if known else ""
    return moment._replace(
        session=text_in(payload, "conversation_id", "session_id", "sessionId", "transcript_path"),
        agent=agent,
        source=text_in(payload, "source"),
        folders=folders or ((cwd,) if cwd else ()),
        cwd=cwd,
        over=payload.get("stop_hook_active") is True
        or (isinstance(loops, int) and loops > 0)
        or payload.get("status", "completed") != "completed",
        name=name,
        is_nameless=not agent and bool(text_in(payload, "agentName", "agent_type")),
        asks_nobody=payload.get("permission_mode") == "bypassPermissions",
    )


def render_answer(client: str, event: str, moment: Moment, text: str) -> str:
    """Return the JSON that puts `text` before the model; ASCII, whatever a console takes."""
    known = event_of(client, event)
    if known and known.key:
        return json.dumps({known.key: text})
    if not moment.name:
        return json.dumps({"additionalContext": text})
    said = {"hookEventName": moment.name, "additionalContext": text}
    return json.dumps({"hookSpecificOutput": said})


# Where a file is.


def path_inside(folder: str, path: str) -> str:
    """Return a path relative to a folder, with `/`; "" when it leads out.

    The path is NFC: macOS takes Hangul apart in names of files.

    >>> path_inside("/shop", "/shop/src/a.py")
    'src/a.py'
    """
    folder, path = (unicodedata.normalize("NFC", name) for name in (folder, path))
    windows = bool(re.match(r"[A-Za-z]:[\\/]|\\\\", folder))
    there, top = (name.replace("\\", "/") if windows else name for name in (path, folder))
    top = top.rstrip("/") + "/"
    absolute = there.startswith("/") or bool(re.match(r"[A-Za-z]:", there))
    known, begins = (name.casefold() if windows else name for name in (there, top))
    if absolute and known.startswith(begins):
        there, absolute = there[len(top) :], False
    parts = [part for part in there.split("/") if part not in ("", ".")]
    return "" if absolute or ".." in parts else "/".join(parts)


def paths_inside(root: str, moment: Moment) -> Iterator[str]:
    """Yield an action's files, relative to the project or its copy in another work tree."""
    folders = dict.fromkeys(it for it in (*moment.folders, moment.cwd) if it) or [root]
    for path in moment.paths:
        # A relative one is meant from where the client is at work.
        below = os.path.join(moment.workdir, path)
        places = dict.fromkeys(os.path.normpath(os.path.join(it, below)) for it in folders)
        found = [path_inside(linked_project(root, place) or root, place) for place in places]
        if not any(found):  # perhaps a link stands between them
            with contextlib.suppress(OSError, ValueError):
                real = os.path.realpath(next(iter(places)))
                found = [path_inside(os.path.realpath(root), real)]
        yield from filter(None, found)


def linked_project(root: str, place: str) -> str:
    """Return the project's folder in the other work tree that holds `place`, or ""."""
    top, own_top = _top_of(os.path.dirname(place)), _top_of(root)
    if top == own_top or not top or not own_top or _repository(top) != _repository(own_top):
        return ""
    return os.path.join(top, path_inside(own_top, root))


def _top_of(folder: str) -> str:
    while not os.path.exists(os.path.join(folder, ".git")):
        folder, below = os.path.dirname(folder), folder
        if folder == below:
            return ""
    return folder


def _repository(top: str) -> str:
    """Return the git directory that all work trees of a repository share."""
    found = os.path.join(top, ".git")
    with contextlib.suppress(OSError, ValueError):
        if os.path.isfile(found):
            with open(found, "rb") as file:
                line = os.fsdecode(file.read(_MOST_GIT_FILE_BYTES)).strip()
            own = line.removeprefix("gitdir:").strip().replace("\\", "/")
            found = os.path.join(top, own.rpartition("/worktrees/")[0] or own)
    return os.path.realpath(found)


def _call(payload: Mapping[str, Any]) -> Moment:
    """Return the input of a tool; nothing of a tool that only reads."""
    given = payload.get("tool_input") or payload.get("toolArgs")
    if isinstance(given, str):  # some clients send the JSON as a text
        try:
            given = json.loads(given, strict=False)
        except (ValueError, RecursionError):
            given = {"input": given}
    tool = text_in(payload, "tool_name", "toolName")
    if not isinstance(given, dict) or _READS.match(tool) or given.get("command") == "view":
        return Moment()
    command = given.get("command", given.get("cmd"))
    if isinstance(command, list):  # as an argument vector
        import shlex

        command = shlex.join(it for it in command if isinstance(it, str))
    command = command[: 4 * MOST_TEXT_CHARS] if isinstance(command, str) else ""
    texts = (command, text_in(given, "input", "patch"))
    patch = next((text for text in texts if "*** " in text), "")
    workdir = text_in(given, *_WORKDIRS)
    if patch and (paths := re.findall(_PATCHED, patch, re.M)):
        files = tuple(path.strip() for path in paths[:MOST_FILES])
        return Moment(paths=files, workdir=workdir, patch=patch)
    parts = [given]
    for key in _PARTS:
        listed = given.get(key)
        parts += [it for it in listed if isinstance(it, dict)] if isinstance(listed, list) else []
    old, new, whole = (
        [
            "\n".join(it[:MOST_WRITTEN_CHARS] for it in map(part.get, names) if isinstance(it, str))
            for part in parts
        ]
        for names in (_OLD, _NEW, _WHOLE)
    )
    return Moment(
        command="" if command in _EDITS else command,
        workdir=workdir,
        paths=tuple(dict.fromkeys(path for part in parts for path in _paths(part)))[:MOST_FILES],
        new_content="\n".join(filter(None, whole)),
        edits=tuple(edit for edit in zip(old, new, strict=True) if any(edit)),
    )


def _paths(given: Mapping[str, Any]) -> Iterator[str]:
    for key in _PATHS:
        value = given.get(key)
        for path in value if isinstance(value, list) else [value]:
            if isinstance(path, str) and path.strip() and len(path) <= MOST_PATH_CHARS:
                yield path.strip()


def _native(folder: object) -> str:
    """Return the name of a folder, or ""; Cursor writes `/c:/shop` for `c:/shop`."""
    name = folder.strip() if isinstance(folder, str) else ""
    return name[1:] if re.match(r"/[A-Za-z]:[\\/]", name) else name


def text_in(payload: Mapping[str, Any], *names: str) -> str:
    """Return the first of these members that is a non-empty text, else ""."""
    texts = (payload.get(name) for name in names)
    return next((it for it in texts if isinstance(it, str) and it), "")


def new_lines(text: str, before: str) -> list[str]:
    """Return the lines that `before` lacks; a moved or indented line is not new."""
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
