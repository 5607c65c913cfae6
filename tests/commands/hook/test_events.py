"""Tests how the program reads what clients tell a hook, payload by payload."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands.clients.table import HOOKS
from commands.hook.events import (
    MOST_FILES,
    MOST_TEXT_CHARS,
    Moment,
    answer,
    inside,
    new_lines,
    read_moment,
)
from tests.support.rows import none_of
from tests.support.tables import table

ROWS = table("commands/events")

PATCH = (
    "*** Begin Patch\r\n*** Add File: src/new.py\r\n+import os\r\n*** Update File: src/a.py\r\n"
    "@@\r\n same\r\n-old\r\n+new\r\n*** Move to: src/b.py\r\n*** Delete File: src/c.py\r\n"
)
PATCHED = ("src/new.py", "src/a.py", "src/b.py", "src/c.py")


def tool(name: str, given: Any, **more: Any) -> dict[str, Any]:
    return {"tool_name": name, "tool_input": given, **more}


def read(payload: dict[str, Any]) -> tuple[tuple[str, ...], str, str]:
    """Files, command and text of a tool call."""
    moment = read_moment("claude-code", "before-action", payload)
    return moment.paths, moment.command, moment.text


@pytest.mark.parametrize(
    ("payload", "files", "command", "text"),
    ROWS["the_files_the_command_and_the_text_of_a_tool_are_read"],
)
def test_the_files_the_command_and_the_text_of_a_tool_are_read(
    payload: dict[str, Any], files: list[str], command: str, text: str
) -> None:
    assert read(payload) == (tuple(files), command, text)


def test_a_tool_that_changes_nothing_or_is_unknown_is_no_action() -> None:
    given = {"file_path": "/p/a.py", "path": "/p/a.py", "content": "x", "command": "x"}
    names = [
        *("Read", "read_file", "view", "Grep", "Glob", "LS", "list_dir", "WebFetch", "TodoWrite"),
        *("search_files", "get_errors", "mcp__files__write", "mcp_files_write", "MCP:write"),
        *("files-read_file", "sentinel-memory-log_memory", "search_memory", "fs.list_dir"),
    ]
    none_of(
        name
        for name in names
        if read(tool(name, given)) != ((), "", "")
        or read_moment("cursor", "before-action", tool(name, given)).says_something
    )


def test_what_is_missing_or_of_another_type_is_left_out() -> None:
    payloads: list[dict[str, Any]] = [
        {},
        {"tool_name": None, "tool_input": None},
        {"tool_name": ["Edit"], "tool_input": [1]},
        tool("Edit", {"file_path": 7, "path": [None, {}, ""], "edits": "x", "content": ["x"]}),
        tool("Edit", {"edits": [[], 3, {"file_path": {}}], "command": {"x": 1}}),
        tool("Edit", {"file_path": "a" * 5_000}),
        {"cwd": [], "session_id": 5, "agent_id": {}, "workspace_roots": {"a": 1}, "prompt": []},
    ]
    events = [(client, it.ours) for client, hooks in HOOKS.items() for it in hooks.events]
    none_of(
        (client, event, moment)
        for client, event in events
        for moment in (read_moment(client, event, payload) for payload in payloads)
        if moment != Moment(name=moment.name)
    )


def test_only_the_beginning_of_a_long_input_is_read() -> None:
    edits = [{"file_path": f"src/{at}.py", "new_string": "x" * 5_000} for at in range(500)]
    paths, command, text = read(tool("Edit", {"edits": edits, "command": "y" * 50_000}))
    assert paths == tuple(f"src/{at}.py" for at in range(MOST_FILES))
    assert (len(command), len(text)) == (4 * MOST_TEXT_CHARS, MOST_TEXT_CHARS)
    patch = "".join(f"*** Add File: {at}\n+{'x' * 50}\n" for at in range(500))
    paths, command, text = read(tool("apply_patch", {"input": patch}))
    assert (len(paths), command, len(text)) == (MOST_FILES, "", MOST_TEXT_CHARS)


@pytest.mark.parametrize(
    ("payload", "session", "agent"),
    [
        ({"session_id": "s", "transcript_path": "t"}, "s", ""),
        ({"conversation_id": "c", "session_id": "s"}, "c", ""),
        ({"sessionId": "s", "agent_id": "a"}, "s", "a"),
        ({"session_id": "", "transcript_path": "t", "subagent_id": "a"}, "t", "a"),
        ({"session_id": None}, "", ""),
    ],
)
def test_a_session_and_a_sub_agent_have_their_ids(
    payload: dict[str, Any], session: str, agent: str
) -> None:
    moment = read_moment("vscode", "session-start", payload)
    assert (moment.session, moment.agent) == (session, agent)


@pytest.mark.parametrize(
    ("payload", "folders", "cwd"),
    [
        ({"cwd": "/shop/src"}, ("/shop/src",), "/shop/src"),
        ({"workspace_roots": ["/a", "/b"], "cwd": "/b/src"}, ("/a", "/b"), "/b/src"),
        ({"workspace_roots": ["/c:/shop", "/D:\\x"], "cwd": ""}, ("c:/shop", "D:\\x"), ""),
        ({"workspace_roots": [None, " "], "cwd": "/home/c:/x"}, ("/home/c:/x",), "/home/c:/x"),
    ],
)
def test_the_folders_that_are_open_and_the_one_at_work(
    payload: dict[str, Any], folders: tuple[str, ...], cwd: str
) -> None:
    moment = read_moment("cursor", "session-start", payload)
    assert (moment.folders, moment.cwd) == (folders, cwd)


@pytest.mark.parametrize(
    ("payload", "over"),
    ROWS["nothing_follows_a_stop_that_follows_an_answer_or_that_the_user_wanted"],
)
def test_nothing_follows_a_stop_that_follows_an_answer_or_that_the_user_wanted(
    payload: dict[str, Any], over: bool
) -> None:
    assert read_moment("cursor", "stop", payload).over is over


@pytest.mark.parametrize(
    ("client", "event", "payload", "name"),
    [
        ("claude-code", "session-start", {"hook_event_name": "SubagentStart"}, "SubagentStart"),
        ("gemini", "prompt", {"hook_event_name": 'x"}, {'}, "BeforeAgent"),
        ("vscode", "before-action", {"hookEventName": "PreToolUse"}, "PreToolUse"),
        ("codex", "prompt", {}, "UserPromptSubmit"),
    ],
)
def test_an_answer_names_the_event_as_the_client_does(
    client: str, event: str, payload: dict[str, Any], name: str
) -> None:
    assert answer(client, event, read_moment(client, event, payload), "값") == (
        f'{{"hookSpecificOutput": {{"hookEventName": "{name}", "additionalContext": "\\uac12"}}}}'
    )


@pytest.mark.parametrize(
    ("client", "event", "key"),
    [
        ("vscode", "session-start", "additionalContext"),
        ("cursor", "before-action", "additional_context"),
        ("cursor", "stop", "followup_message"),
    ],
)
def test_an_answer_without_the_name_of_an_event_has_one_key(
    client: str, event: str, key: str
) -> None:
    moment = read_moment(client, event, {"sessionId": "s"})
    assert answer(client, event, moment, "값") == f'{{"{key}": "\\uac12"}}'


@pytest.mark.parametrize(
    ("folder", "path", "name"), ROWS["a_path_is_told_from_the_folder_or_lies_outside"]
)
def test_a_path_is_told_from_the_folder_or_lies_outside(folder: str, path: str, name: str) -> None:
    assert inside(folder, path) == name


LINES = table("commands/changed_lines")


@pytest.mark.parametrize(("text", "before", "new"), LINES["only_lines_that_were_not_there_are_new"])
def test_only_lines_that_were_not_there_are_new(text: str, before: str, new: list[str]) -> None:
    assert new_lines(text, before) == new


@pytest.mark.long  # it costs much
@given(st.text(), st.text())
def test_nothing_is_new_in_what_was_there_and_all_words_are_where_nothing_was(
    one: str, other: str
) -> None:
    assert new_lines(one, one) == []
    assert "".join(new_lines(one, "")).split() == "".join(one.splitlines()).split()
    assert set(new_lines(one, other)) <= set(one.splitlines())
