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
from commands.hook.scene import HookArguments, has_memory, payload_of, project_of
from core.config import CONTEXT_DIRECTORY, read_settings, safe_file_name
from rooms.sessions.actions import Caller, Deed, bind_conversation, record_actions

SAVE = "context_save"
MOST_ANSWER_CHARS, MOST_OUTPUT_CHARS = 20_000, 20_000  # at the beginning, and at the end
_MOST_TEXTS, _MOST_DEPTH, _MOST_END_CHARS = 200, 8, 600
_MOST_COUNTED_CHARS = 200_000  # before and after an edit
_MOST_NAME_CHARS = 80  # of a conversation, as the client names it

_ANSWER_KEYS = ("tool_response", "toolResult", "tool_output", "result_json", "tool_result")
_ERRORS = ("error", "error_message")
_CODES = ("exitCode", "exit_code", "returnCode", "return_code")
_SIGNS = ("is_error", "isError", "interrupted", "error")
_OUTPUT_KEYS = ("stdout", "output", "textResultForLlm", "llmContent", "text", "stderr", "message")
_OLD_CONTENT_KEYS = ("originalFile", "originalContent")
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
_VERBS = {"Add": "Write", "Update": "Edit", "Delete": "Delete"}


def record_action(arguments: HookArguments) -> None:
    """Record one event, read from standard input.

    Raises SentinelError when the sessions cannot be used.
    """
    client, environment = arguments.client, arguments.environment
    # It goes on when the client, which need not wait for it, asks it to end.
    with contextlib.suppress(ValueError, OSError):  # ValueError: not the main thread
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    payload = payload_of(arguments)
    if payload is None:
        return
    moment = events.read_moment(client, RECORDING, payload)
    if not moment.session:  # nobody could say whose it is
        return
    project = project_of(arguments, moment)
    if not has_memory(project):
        return
    caller = Caller(client, safe_file_name(moment.session, _MOST_NAME_CHARS))
    answer = next((payload[key] for key in _ANSWER_KEYS if key in payload), None)
    if isinstance(answer, str) and answer[:1] in ("{", "["):
        with contextlib.suppress(ValueError, RecursionError):  # it may only begin like JSON
            answer = json.loads(answer, strict=False)
    has_failed, output = _outcome_of(client, payload, moment, answer)
    if events.text_in(payload, "tool_name", "toolName").endswith(SAVE):
        text = "" if has_failed else "\n".join(islice(_texts_in(answer), _MOST_TEXTS))
        if text := text[:MOST_ANSWER_CHARS]:
            bind_conversation(project.root, caller, text, environment)
        return
    deeds = list[Deed]()
    if moment.command.strip() and not moment.paths:
        deeds.append(Deed("command", moment.command, has_failed, output))
    for edit in _edits_in(moment, answer):
        path = next(events.paths_inside(project.folder, moment._replace(paths=(edit.path,))), "")
        is_ours = path.startswith(f"{CONTEXT_DIRECTORY}/")
        if path and not is_ours and len(path) <= events.MOST_PATH_CHARS:
            line = f"{edit.verb} {path}{'' if has_failed else edit.counts}"
            deeds.append(Deed("edit", line, has_failed, output, path))
    if deeds:
        strict = read_settings(environment).strict
        record_actions(project.root, deeds, caller, environment, strict=strict)


def _outcome_of(
    client: str, payload: Mapping[str, Any], moment: events.Moment, answer: Any
) -> tuple[bool | None, str]:
    """Return whether a tool failed, None if nothing tells, and its last output."""
    error = events.text_in(payload, *_ERRORS)
    if error or isinstance(answer, str):
        text = error or answer
    else:
        parts = answer
        if isinstance(answer, dict):
            parts = [answer[key] for key in _OUTPUT_KEYS if answer.get(key)]
            parts = parts or [answer[key] for key in _ERRORS if answer.get(key)]
        text = "\n".join(islice(_texts_in(parts), _MOST_TEXTS))
    fields = answer if isinstance(answer, dict) else {}
    codes = [fields[key] for key in _CODES if type(fields.get(key)) is int]
    is_failure = fields.get("resultType") in ("failure", "error", "denied", "rejected")
    code_at_end = _CODE_AT_END.search(text[-_MOST_END_CHARS:])
    has_failed = None
    if error or events.text_in(payload, "hook_event_name", "hookEventName").endswith("Failure"):
        has_failed = True
    elif codes:
        has_failed = bool(codes[0])
    elif is_failure or any(fields.get(key) for key in _SIGNS):
        has_failed = True
    elif code_at_end:
        has_failed = bool(int(code_at_end[1] or code_at_end[2]))
    elif "backgroundTaskId" not in fields and (moment.paths or HOOKS[client].tells_failure):
        has_failed = False
    output = _CODE_AT_END.sub("", _FENCE.sub("", text[-MOST_OUTPUT_CHARS:]))
    return has_failed, output.strip()


def _texts_in(value: Any, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict) and depth < _MOST_DEPTH:
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts_in(part, depth + 1)


class Edit(NamedTuple):
    path: str
    verb: str = "Edit"  # or Write, or Delete
    counts: str = ""  # ` (+2 -1)`: the lines added and removed, where something tells


def _edits_in(moment: events.Moment, answer: Any) -> Iterator[Edit]:
    """Yield edits, with counts of lines for a patch or a single file."""
    if parts := list(_PATCH_PART.finditer(moment.patch)):
        ends = [*(part.start() for part in parts[1:]), len(moment.patch)]
        for part, end in zip(parts[: events.MOST_FILES], ends, strict=False):
            text = moment.patch[part.end() : end]
            additions, removals = (len(sign.findall(text)) for sign in (_ADDED, _REMOVED))
            yield Edit(part[2].strip(), _VERBS[part[1]], f" (+{additions} -{removals})")
        return
    pairs = moment.edits
    if moment.new_content:
        answer_fields = answer if isinstance(answer, dict) else {}
        display = answer_fields.get("returnDisplay")
        before = events.text_in(answer_fields, *_OLD_CONTENT_KEYS) or (
            events.text_in(display, *_OLD_CONTENT_KEYS) if isinstance(display, dict) else ""
        )
        pairs = ((before, moment.new_content),)
    size = sum(len(old) + len(new) for old, new in pairs)
    verb = "Write" if moment.new_content and len(moment.paths) == 1 else "Edit"
    if len(moment.paths) != 1 or not 0 < size <= _MOST_COUNTED_CHARS:
        yield from (Edit(path, verb) for path in moment.paths)
        return
    additions = sum(len(events.new_lines(new, old)) for old, new in pairs)
    removals = sum(len(events.new_lines(old, new)) for old, new in pairs)
    yield Edit(moment.paths[0], verb, f" (+{additions} -{removals})")
