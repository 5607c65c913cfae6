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
_PATCHED_FILE = r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$"
_REMOVED_LINE, _ADDED_LINE = r"^-(.*)$", r"^\+(.*)$"
_MOST_NAME_CHARS = 40
_PATHS = ("file_path", "filePath", "path", "notebook_path", "target_file", "files", "file_paths")
_OLD_KEYS = ("old_string", "oldString", "old_str")
_NEW_KEYS = ("new_string", "newString", "new_str", "new_source", "code", "newCode", "text")
_CONTENT_KEYS = ("content", "contents", "file_text")
_PART_KEYS = ("edits", "replacements")
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
    is_final: bool = False  # nothing may follow: this stop follows an answer, or the user wanted it
    name: str = ""  # the client's name for the event, "" where the answer must not name it
    is_nameless: bool = False  # nothing tells this sub-agent from others of its kind
    asks_nobody: bool = False  # the user lets the model call every tool

    @property
    def says_something(self) -> bool:
        """Whether a record could be about this event."""
        return bool(self.paths or self.command.strip() or self.text.strip() or self.removed.strip())


def event_of(client: str, name: str) -> Event | None:
    """Return the client's own event for ours, None if none takes a text."""
    return next((event for event in HOOKS[client].events if event.hook_event == name), None)


def read_moment(client: str, event: str, payload: Mapping[str, Any]) -> Moment:
    """Return the moment of a payload; fields of another type count as missing."""
    name = text_in(payload, "hook_event_name", "hookEventName")
    moment = _read_call(payload) if event in ("before-action", RECORDING) else Moment()
    if event == "prompt":
        moment = Moment(text=text_in(payload, "prompt")[:MOST_TEXT_CHARS])
    elif moment.new_content:
        moment = moment._replace(text=moment.new_content)
    elif event == "before-action":
        edits = moment.edits
        if moment.patch:
            signs = (_REMOVED_LINE, _ADDED_LINE)
            old, new = ("\n".join(re.findall(sign, moment.patch, re.M)) for sign in signs)
            edits = ((old, new),)
        lines = [(new_lines(new, old), new_lines(old, new)) for old, new in edits]
        text, removed = ("\n".join(line for edit in lines for line in edit[at]) for at in range(2))
        moment = moment._replace(text=text[:MOST_TEXT_CHARS], removed=removed[:MOST_TEXT_CHARS])
    loops = payload.get("loop_count")
    cwd = _folder_name(payload.get("cwd"))
    roots = payload.get("workspace_roots")
    folders = tuple(filter(None, map(_folder_name, roots))) if isinstance(roots, list) else ()
    agent = text_in(payload, "agent_id", "subagent_id", "agentId")
    if not (name.isascii() and name.isalpha() and len(name) <= _MOST_NAME_CHARS):
        own_event = None if HOOKS[client].nameless else event_of(client, event)
        name = own_event.name if own_event else ""
    return moment._replace(
        session=text_in(payload, "conversation_id", "session_id", "sessionId", "transcript_path"),
        agent=agent,
        source=text_in(payload, "source"),
        folders=folders or ((cwd,) if cwd else ()),
        cwd=cwd,
        is_final=payload.get("stop_hook_active") is True
        or (isinstance(loops, int) and loops > 0)
        or payload.get("status", "completed") != "completed",
        name=name,
        is_nameless=not agent and bool(text_in(payload, "agentName", "agent_type")),
        asks_nobody=payload.get("permission_mode") == "bypassPermissions",
    )


def render_answer(client: str, event: str, moment: Moment, text: str) -> str:
    """Return the JSON that puts `text` before the model; ASCII, whatever a console takes."""
    own_event = event_of(client, event)
    if own_event and own_event.key:
        return json.dumps({own_event.key: text})
    if not moment.name:
        return json.dumps({"additionalContext": text})
    output = {"hookEventName": moment.name, "additionalContext": text}
    return json.dumps({"hookSpecificOutput": output})


# Where a file is.


def path_inside(folder: str, path: str) -> str:
    """Return a path relative to a folder, with `/`; "" when it leads out.

    The path is NFC: macOS takes Hangul apart in names of files.

    >>> path_inside("/shop", "/shop/src/a.py")
    'src/a.py'
    """
    folder, path = (unicodedata.normalize("NFC", part) for part in (folder, path))
    is_windows = bool(re.match(r"[A-Za-z]:[\\/]|\\\\", folder))
    name, top = (part.replace("\\", "/") if is_windows else part for part in (path, folder))
    top = top.rstrip("/") + "/"
    is_absolute = name.startswith("/") or bool(re.match(r"[A-Za-z]:", name))
    key, prefix = (part.casefold() if is_windows else part for part in (name, top))
    if is_absolute and key.startswith(prefix):
        name, is_absolute = name[len(top) :], False
    parts = [part for part in name.split("/") if part not in ("", ".")]
    return "" if is_absolute or ".." in parts else "/".join(parts)


def paths_inside(root: str, moment: Moment) -> Iterator[str]:
    """Yield an action's files, relative to the project or its copy in another work tree."""
    folders = dict.fromkeys(folder for folder in (*moment.folders, moment.cwd) if folder) or [root]
    for path in moment.paths:
        # A relative one is meant from where the client is at work.
        name = os.path.join(moment.workdir, path)
        places = dict.fromkeys(os.path.normpath(os.path.join(folder, name)) for folder in folders)
        paths = [path_inside(linked_project(root, place) or root, place) for place in places]
        if not any(paths):  # perhaps a link stands between them
            with contextlib.suppress(OSError, ValueError):
                real_path = os.path.realpath(next(iter(places)))
                paths = [path_inside(os.path.realpath(root), real_path)]
        yield from filter(None, paths)


def linked_project(root: str, place: str) -> str:
    """Return the project's folder in the other work tree that holds `place`, or ""."""
    top, own_top = _top_of(os.path.dirname(place)), _top_of(root)
    if top == own_top or not top or not own_top or _repository_of(top) != _repository_of(own_top):
        return ""
    return os.path.join(top, path_inside(own_top, root))


def _top_of(folder: str) -> str:
    while not os.path.exists(os.path.join(folder, ".git")):
        folder, child = os.path.dirname(folder), folder
        if folder == child:
            return ""
    return folder


def _repository_of(top: str) -> str:
    """Return the git directory that all work trees of a repository share."""
    path = os.path.join(top, ".git")
    with contextlib.suppress(OSError, ValueError):
        if os.path.isfile(path):
            with open(path, "rb") as file:
                line = os.fsdecode(file.read(_MOST_GIT_FILE_BYTES)).strip()
            git_directory = line.removeprefix("gitdir:").strip().replace("\\", "/")
            path = os.path.join(top, git_directory.rpartition("/worktrees/")[0] or git_directory)
    return os.path.realpath(path)


def _read_call(payload: Mapping[str, Any]) -> Moment:
    """Return the input of a tool; nothing of a tool that only reads."""
    arguments = payload.get("tool_input") or payload.get("toolArgs")
    if isinstance(arguments, str):  # some clients send the JSON as a text
        try:
            arguments = json.loads(arguments, strict=False)
        except (ValueError, RecursionError):
            arguments = {"input": arguments}
    tool = text_in(payload, "tool_name", "toolName")
    if not isinstance(arguments, dict) or _READS.match(tool) or arguments.get("command") == "view":
        return Moment()
    command = arguments.get("command", arguments.get("cmd"))
    if isinstance(command, list):  # as an argument vector
        import shlex

        command = shlex.join(word for word in command if isinstance(word, str))
    command = command[: 4 * MOST_TEXT_CHARS] if isinstance(command, str) else ""
    texts = (command, text_in(arguments, "input", "patch"))
    patch = next((text for text in texts if "*** " in text), "")
    workdir = text_in(arguments, *_WORKDIRS)
    if patch and (paths := re.findall(_PATCHED_FILE, patch, re.M)):
        files = tuple(path.strip() for path in paths[:MOST_FILES])
        return Moment(paths=files, workdir=workdir, patch=patch)
    parts = [arguments]
    for key in _PART_KEYS:
        value = arguments.get(key)
        values = value if isinstance(value, list) else []
        parts += [part for part in values if isinstance(part, dict)]
    old, new, contents = list[str](), list[str](), list[str]()
    for part in parts:
        for column, names in (old, _OLD_KEYS), (new, _NEW_KEYS), (contents, _CONTENT_KEYS):
            pieces = (text for text in map(part.get, names) if isinstance(text, str))
            column.append("\n".join(text[:MOST_WRITTEN_CHARS] for text in pieces))
    return Moment(
        command="" if command in _EDITS else command,
        workdir=workdir,
        paths=tuple(dict.fromkeys(path for part in parts for path in _paths_in(part)))[:MOST_FILES],
        new_content="\n".join(filter(None, contents)),
        edits=tuple(edit for edit in zip(old, new, strict=True) if any(edit)),
    )


def _paths_in(arguments: Mapping[str, Any]) -> Iterator[str]:
    for key in _PATHS:
        value = arguments.get(key)
        for path in value if isinstance(value, list) else [value]:
            if isinstance(path, str) and path.strip() and len(path) <= MOST_PATH_CHARS:
                yield path.strip()


def _folder_name(folder: object) -> str:
    """Return the name of a folder, or ""; Cursor writes `/c:/shop` for `c:/shop`."""
    name = folder.strip() if isinstance(folder, str) else ""
    return name[1:] if re.match(r"/[A-Za-z]:[\\/]", name) else name


def text_in(payload: Mapping[str, Any], *names: str) -> str:
    """Return the first of these members that is a non-empty text, else ""."""
    texts = (payload.get(name) for name in names)
    return next((text for text in texts if isinstance(text, str) and text), "")


def new_lines(text: str, before: str) -> list[str]:
    """Return the lines that `before` lacks; a moved or indented line is not new."""
    lines, others = text.splitlines(), before.splitlines()
    counts = Counter(map(str.strip, lines))
    counts.subtract(Counter(map(str.strip, others)))
    added_lines = list[str]()
    for line in lines:
        key = line.strip()
        if key and counts[key] > 0:
            counts[key] -= 1
            added_lines.append(line)
    return added_lines
