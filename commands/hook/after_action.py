"""Records a command, an edit, or a save: the event `after-action` of `cli.py hook`.

It answers nothing. It knows a tool by its input, and a failure by an exit code, a sign of an error,
or the event. Seen with real clients: Claude Code, Codex, Gemini CLI, Copilot CLI. By their
documents: Cursor (cursor.com/docs/hooks), VS Code (hooks reference).
"""

import contextlib
import json
import re
import signal
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from commands.clients.table import HOOKS, RECORDING
from commands.hook import events
from commands.hook.scene import Asked, has_memory, payload_of, project_of
from core.config import CONTEXT_DIRECTORY, read_settings, safe_file_name
from rooms.sessions.actions import Caller, Deed, bind_conversation, record_actions

SAVE = "context_save"
MOST_ANSWER_CHARS, MOST_OUTPUT_CHARS = 20_000, 20_000  # at the beginning, and at the end
_MOST_TEXTS, _MOST_DEPTH, _MOST_END_CHARS = 200, 8, 600
_MOST_COUNTED_CHARS = 200_000  # before and after an edit
_MOST_NAME_CHARS = 80  # of a conversation, as the client names it

_ANSWERS = ("tool_response", "toolResult", "tool_output", "result_json", "tool_result")
_ERRORS = ("error", "error_message")
_CODES = ("exitCode", "exit_code", "returnCode", "return_code")
_SIGNS = ("is_error", "isError", "interrupted", "error")
_PRINTED = ("stdout", "output", "textResultForLlm", "llmContent", "text", "stderr", "message")
_BEFORE = ("originalFile", "originalContent")
# How clients write the exit code of a command at the end of its output.
_CODE_AT_END = re.compile(
    r"(?:<shellId: \S{1,80} completed with exit code (-?\d{1,10})>"
    r"|^Exit Code: (-?\d{1,10})(?:\n[^\n]*+){0,3}+)\s*\Z",
    re.M,
)
_FENCE = re.compile(  # around an output of Gemini CLI
    r"\A<untrusted_context>\n(?:Output: )?"
    r"|(?:\nProcess Group PGID: \d{1,10})?\n</untrusted_context>\Z"
)
_PATCH_PART = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$", re.M)
_ADDED, _REMOVED = re.compile(r"^\+", re.M), re.compile(r"^-", re.M)
_DONE = {"Add": "Write", "Update": "Edit", "Delete": "Delete"}


def record_action(asked: Asked) -> None:
    """Record one event, read from standard input.

    Raises SentinelError when the sessions cannot be used.
    """
    client, environment = asked.client, asked.environment
    # It goes on when the client, which need not wait for it, asks it to end.
    with contextlib.suppress(ValueError, OSError):  # ValueError: not the main thread
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    payload = payload_of(asked)
    if payload is None:
        return
    moment = events.read_moment(client, RECORDING, payload)
    if not moment.session:  # nobody could say whose it is
        return
    project = project_of(asked, moment)
    if not has_memory(project):
        return
    caller = Caller(client, safe_file_name(moment.session, _MOST_NAME_CHARS))
    answer = next((payload[key] for key in _ANSWERS if key in payload), None)
    if isinstance(answer, str) and answer[:1] in ("{", "["):
        with contextlib.suppress(ValueError, RecursionError):  # it may only begin like JSON
            answer = json.loads(answer, strict=False)
    failed, output = _outcome(client, payload, moment, answer)
    if events.text_in(payload, "tool_name", "toolName").endswith(SAVE):
        said = "" if failed else "\n".join(islice(_texts(answer), _MOST_TEXTS))
        if said := said[:MOST_ANSWER_CHARS]:
            bind_conversation(project.root, caller, said, environment)
        return
    deeds = list[Deed]()
    if moment.command.strip() and not moment.paths:
        deeds.append(Deed("command", moment.command, failed, output))
    for edit in _edits(moment, answer):
        path = next(events.paths_inside(project.folder, moment._replace(paths=(edit.path,))), "")
        is_ours = path.startswith(f"{CONTEXT_DIRECTORY}/")
        if path and not is_ours and len(path) <= events.MOST_PATH_CHARS:
            line = f"{edit.verb} {path}{'' if failed else edit.counts}"
            deeds.append(Deed("edit", line, failed, output, path))
    if deeds:
        strict = read_settings(environment).strict
        record_actions(project.root, deeds, caller, environment, strict=strict)


def _outcome(
    client: str, payload: Mapping[str, Any], moment: events.Moment, answer: Any
) -> tuple[bool | None, str]:
    """Return whether a tool failed, None if nothing tells, and its last output."""
    error = events.text_in(payload, *_ERRORS)
    if error or isinstance(answer, str):
        printed = error or answer
    else:
        parts = answer
        if isinstance(answer, dict):
            parts = [answer[key] for key in _PRINTED if answer.get(key)]
            parts = parts or [answer[key] for key in _ERRORS if answer.get(key)]
        printed = "\n".join(islice(_texts(parts), _MOST_TEXTS))
    held = answer if isinstance(answer, dict) else {}
    codes = [held[key] for key in _CODES if type(held.get(key)) is int]
    is_bad = held.get("resultType") in ("failure", "error", "denied", "rejected")
    found = _CODE_AT_END.search(printed[-_MOST_END_CHARS:])
    failed = None
    if error or events.text_in(payload, "hook_event_name", "hookEventName").endswith("Failure"):
        failed = True
    elif codes:
        failed = bool(codes[0])
    elif is_bad or any(held.get(key) for key in _SIGNS):
        failed = True
    elif found:
        failed = bool(int(found[1] or found[2]))
    elif "backgroundTaskId" not in held and (moment.paths or HOOKS[client].tells_failure):
        failed = False
    output = _CODE_AT_END.sub("", _FENCE.sub("", printed[-MOST_OUTPUT_CHARS:]))
    return failed, output.strip()


def _texts(value: Any, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict) and depth < _MOST_DEPTH:
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part, depth + 1)


class Edit(NamedTuple):
    path: str
    verb: str = "Edit"  # or Write, or Delete
    counts: str = ""  # ` (+2 -1)`: the lines added and removed, where something tells


def _edits(moment: events.Moment, answer: Any) -> Iterator[Edit]:
    """Yield edits, with counts of lines for a patch or a single file."""
    if parts := list(_PATCH_PART.finditer(moment.patch)):
        ends = [*(part.start() for part in parts[1:]), len(moment.patch)]
        for part, end in zip(parts[: events.MOST_FILES], ends, strict=False):
            text = moment.patch[part.end() : end]
            added, removed = (len(sign.findall(text)) for sign in (_ADDED, _REMOVED))
            yield Edit(part[2].strip(), _DONE[part[1]], f" (+{added} -{removed})")
        return
    pairs = moment.edits
    if moment.new_content:
        known = answer if isinstance(answer, dict) else {}
        shown = known.get("returnDisplay")
        before = events.text_in(known, *_BEFORE) or (
            events.text_in(shown, *_BEFORE) if isinstance(shown, dict) else ""
        )
        pairs = ((before, moment.new_content),)
    size = sum(len(old) + len(new) for old, new in pairs)
    verb = "Write" if moment.new_content and len(moment.paths) == 1 else "Edit"
    if len(moment.paths) != 1 or not 0 < size <= _MOST_COUNTED_CHARS:
        yield from (Edit(path, verb) for path in moment.paths)
        return
    added = sum(len(events.new_lines(new, old)) for old, new in pairs)
    removed = sum(len(events.new_lines(old, new)) for old, new in pairs)
    yield Edit(moment.paths[0], verb, f" (+{added} -{removed})")
