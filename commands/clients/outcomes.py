"""Reads what a client tells once a tool has run: a command, an edit or a save, and how it went.

Seen with real clients: Claude Code, Codex, Gemini CLI, Copilot CLI. By their documents: Cursor
(cursor.com/docs/hooks), VS Code (hooks reference). A tool is known by its input rather than by its
name; whether it failed by an exit code, by a sign of an error, or by the event itself.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from commands.clients.events import HOOKS, MOST_FILES, action_in, edits_in, new_lines, texts_under

SAVE = "context_save"
MOST_ANSWER_CHARS, MOST_OUTPUT_CHARS = 20_000, 20_000  # at the beginning, and at the end
_MOST_TEXTS, _MOST_DEPTH, _MOST_END_CHARS = 200, 8, 600
_MOST_COUNTED_CHARS = 200_000  # of what an edit takes away and brings

_ANSWERS = ("tool_response", "toolResult", "tool_output", "result_json", "tool_result")
_ERRORS = ("error", "error_message")
_CODES = ("exitCode", "exit_code", "returnCode", "return_code")
_PRINTED = ("stdout", "output", "textResultForLlm", "llmContent", "text", "stderr", "message")
_BEFORE = ("originalFile", "originalContent")
# How clients write the exit code of a command at the end of its output.
_CODE_AT_END = re.compile(
    r"(?:<shellId: \S{1,80} completed with exit code (-?\d{1,10})>"
    r"|^Exit Code: (-?\d{1,10})(?:\n[^\n]*+){0,3}+)\s*\Z",
    re.M,
)
_FENCE = re.compile(  # what Gemini CLI puts around an output
    r"\A<untrusted_context>\n(?:Output: )?"
    r"|(?:\nProcess Group PGID: \d{1,10})?\n</untrusted_context>\Z"
)
_PATCH_PART = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$", re.M)
_ADDED, _REMOVED = re.compile(r"^\+", re.M), re.compile(r"^-", re.M)
_DONE = {"Add": "Write", "Update": "Edit", "Delete": "Delete"}


class Edit(NamedTuple):
    """A change of a file. verb: Edit, Write or Delete; added, removed: lines, None if unknown."""

    path: str
    verb: str = "Edit"
    added: int | None = None
    removed: int | None = None


class Outcome(NamedTuple):
    """What a tool has done. command: a line for a shell. edits: of the files that it names.

    failed: None where nothing tells. output: the end of what it printed. save: what `context_save`
    has answered, "" for another tool or a failed one.
    """

    command: str = ""
    edits: tuple[Edit, ...] = ()
    failed: bool | None = None
    output: str = ""
    save: str = ""

    def __bool__(self) -> bool:
        return bool(self.command.strip() or self.edits or self.save)


def read_outcome(client: str, payload: Mapping[str, Any]) -> Outcome:
    """Return what a client tells of a tool that has run, empty for one that changes nothing."""
    tool = next(texts_under(payload, ("tool_name", "toolName")), "")
    answer = next((payload[key] for key in _ANSWERS if key in payload), None)
    answer = _parsed(answer) if isinstance(answer, str) else answer
    error = next(texts_under(payload, _ERRORS), "")
    printed = error or _printed(answer)
    failed = True if error or _is_failure(payload) else _failed(answer, printed)
    if tool.endswith(SAVE):
        said = "" if failed else "\n".join(islice(_texts(answer), _MOST_TEXTS))
        return Outcome(save=said[:MOST_ANSWER_CHARS])
    action = action_in(payload)
    command, paths = action.get("command", ""), action.get("paths", ())
    goes_on = isinstance(answer, dict) and "backgroundTaskId" in answer
    if failed is None and not goes_on and (paths or HOOKS[client].tells_failure):
        failed = False
    edits = tuple(_edits(payload, paths, answer)) if paths else ()
    output = _CODE_AT_END.sub("", _FENCE.sub("", printed[-MOST_OUTPUT_CHARS:])).strip()
    return Outcome(command=command if not edits else "", edits=edits, failed=failed, output=output)


def _is_failure(payload: Mapping[str, Any]) -> bool:
    name = next(texts_under(payload, ("hook_event_name", "hookEventName")), "")
    return name.endswith("Failure")


def _parsed(text: str) -> Any:
    """Return the JSON that a text holds; the text itself for another one."""
    try:
        return json.loads(text) if text[:1] in ("{", "[") else text
    except (ValueError, RecursionError):
        return text


def _printed(answer: Any) -> str:
    """Return what a tool has printed, on either stream."""
    if isinstance(answer, str):
        return answer
    if not isinstance(answer, dict):
        return "\n".join(islice(_texts(answer), _MOST_TEXTS))
    told = [answer[key] for key in _PRINTED if answer.get(key)] or [
        answer[key] for key in _ERRORS if answer.get(key)
    ]
    return "\n".join(islice(_texts(told), _MOST_TEXTS))


def _failed(answer: Any, printed: str) -> bool | None:
    """Return whether a tool has failed, as far as its answer or the end of its output tells."""
    if isinstance(answer, dict):
        codes = [answer[key] for key in _CODES if type(answer.get(key)) is int]
        if codes:
            return bool(codes[0])
        signs = [answer.get(key) for key in ("is_error", "isError", "interrupted", "error")]
        if any(signs) or answer.get("resultType") in ("failure", "error", "denied", "rejected"):
            return True
    found = _CODE_AT_END.search(printed[-_MOST_END_CHARS:])
    return bool(int(found[1] or found[2])) if found else None


def _texts(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield the texts in a value of JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict) and depth < _MOST_DEPTH:
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part, depth + 1)


def _edits(payload: Mapping[str, Any], paths: Sequence[str], answer: Any) -> Iterator[Edit]:
    """Yield the changes of a tool's files; how many lines, where one file or a patch tells."""
    patch, pairs, whole = edits_in(payload)
    parts = list(_PATCH_PART.finditer(patch))
    if parts:
        ends = [*(part.start() for part in parts[1:]), len(patch)]
        for part, end in zip(parts[:MOST_FILES], ends, strict=False):
            text = patch[part.end() : end]
            added, removed = (len(sign.findall(text)) for sign in (_ADDED, _REMOVED))
            yield Edit(part[2].strip(), _DONE[part[1]], added, removed)
        return
    if len(paths) != 1:
        yield from (Edit(path) for path in paths)
        return
    if whole:
        known = answer if isinstance(answer, dict) else {}
        shown = known.get("returnDisplay")
        sources = (known, shown if isinstance(shown, dict) else {})
        before = next((text for it in sources for text in texts_under(it, _BEFORE)), "")
        pairs = [(before, whole)]
    verb, size = "Write" if whole else "Edit", sum(len(old) + len(new) for old, new in pairs)
    if not 0 < size <= _MOST_COUNTED_CHARS:
        yield Edit(paths[0], verb)
        return
    added = sum(len(new_lines(new, old)) for old, new in pairs)
    removed = sum(len(new_lines(old, new)) for old, new in pairs)
    yield Edit(paths[0], verb, added, removed)
