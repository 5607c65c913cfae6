"""Tests the hook that records what a client has done, with what every client tells it."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from commands.clients.table import HOOKS, RECORDING
from tests.support.after_events import CLIENTS, answered, conversation, edited, ran
from tests.support.client_events import Ran, claude, copilot, environment_of, gemini, run_hook
from tests.support.room import a_room, saved
from tests.support.stdio_client import ROOT

TOKEN = "ghp_" + "Ab3" * 12
ALL = pytest.mark.parametrize("client", CLIENTS)


class Desk:
    """A project with a directory for its memory, and a state directory."""

    def __init__(self, top: Path) -> None:
        self.root, self.state = top / "shop", top / "state"
        (self.root / ".context").mkdir(parents=True)

    def hook(self, client: str, given: Any, **variables: str) -> Ran:
        words = (RECORDING, "--client", CLIENTS[client])
        where = environment_of(self.state, **variables)
        return run_hook(*words, given=given, cwd=self.state.parent, environment=where)

    def take(self, client: str, given: Any, **variables: str) -> None:
        """Hand over an event; the hook must say nothing and end well."""
        assert self.hook(client, given, **variables) == Ran(0, "", "")

    @property
    def path(self) -> Path:
        return self.root / ".context" / "sessions" / "history.db"

    def rows(self, table: str = "waiting_actions") -> list[tuple[Any, ...]]:
        if not self.path.exists():
            return []
        columns = "type, content, coalesce(result, ''), coalesce(file_path, '')"
        with closing(sqlite3.connect(self.path)) as connection:
            return connection.execute(f"SELECT {columns} FROM {table} ORDER BY rowid").fetchall()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T28")
@ALL
def test_a_command_is_recorded_with_how_it_went_as_far_as_the_client_tells(
    client: str, desk: Desk
) -> None:
    desk.take(client, ran(client, desk.root, "cd web && npm test", 0, "all good"))
    desk.take(client, ran(client, desk.root, "npm test", 3, "1 failed"))
    desk.take(client, ran(client, desk.root, "ls", 0, "a b"))
    went = "" if client in ("codex", "vscode") else "success"
    if client in ("codex", "vscode"):
        bad = ("command", "npm test", "", "")
    else:
        head = "Exit code 3\n" if client == "claude-code" else ""
        bad = ("error", "npm test", f"failed: {head}1 failed", "")
    assert desk.rows() == [("command", "cd web && npm test", went, ""), bad]


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T27")
@ALL
def test_an_edit_is_recorded_with_its_file_and_its_lines(client: str, desk: Desk) -> None:
    desk.take(client, edited(client, desk.root))
    line = ("edit", "Edit src/refund.py (+2 -1)", "success", "src/refund.py")
    assert desk.rows() == [line]


@pytest.mark.long  # it costs much
@ALL
def test_the_answer_of_a_save_binds_the_conversation_to_its_session(
    client: str, desk: Desk
) -> None:
    desk.take(client, ran(client, desk.root, "npm test"))
    other = conversation(client, ran(client, desk.root, "npm install"), "another")
    desk.take(client, other)
    now = {"now": ""}
    session = saved(a_room(desk.root), "Mend it", status="coding", **now)
    desk.take(client, answered(client, desk.root, f"Saved #{session.number}."))
    desk.take(client, edited(client, desk.root))
    kept = [content for _, content, _, _ in desk.rows("actions")]
    assert kept == ["npm test", "Edit src/refund.py (+2 -1)"]
    assert [content for _, content, _, _ in desk.rows()] == ["npm install"]


def test_every_event_that_a_client_is_given_for_this_is_read(desk: Desk) -> None:
    """The payloads above come by these events and no others."""
    named = {
        event.name.lower()
        for hooks in HOOKS.values()
        for event in hooks.events
        if event.ours == RECORDING
    }
    assert named == {"posttooluse", "posttoolusefailure", "aftertool"}


@pytest.mark.long  # it costs much
@ALL
def test_a_project_without_a_memory_is_left_alone(client: str, desk: Desk) -> None:
    (desk.root / ".context").rmdir()
    desk.take(client, ran(client, desk.root, "npm test"))
    assert list(desk.root.iterdir()) == []


def test_files_of_the_memory_and_outside_of_the_project_are_none_of_it(desk: Desk) -> None:
    desk.take("claude-code", edited("claude-code", desk.root, ".context/memory_log.jsonl"))
    desk.take("claude-code", edited("claude-code", desk.root, "../elsewhere.py"))
    assert desk.rows() == []


@pytest.mark.long  # it costs much
def test_a_new_file_counts_every_line_and_a_patch_each_of_its_files(desk: Desk) -> None:
    tool = {"file_path": str(desk.root / "a.py"), "content": "x = 1\ny = 2\n"}
    answer: dict[str, Any] = {"type": "create", "originalFile": None, "structuredPatch": []}
    given = {"tool_name": "Write", "tool_input": tool, "tool_response": answer}
    desk.take("claude-code", claude("PostToolUse", desk.root, **given))
    answer = {"type": "update", "originalFile": "x = 1\nz = 3\n"}
    desk.take("claude-code", claude("PostToolUse", desk.root, **{**given, "tool_response": answer}))
    patch = (
        "*** Begin Patch\n*** Add File: b.py\n+one\n+two\n*** Update File: src/c.py\n@@\n-a\n+b\n"
        "*** Delete File: d.py\n*** End Patch\n"
    )
    shell = {"tool_name": "Bash", "tool_input": {"command": patch}, "tool_response": "Success."}
    desk.take("codex", claude("PostToolUse", desk.root, **shell))
    assert [row[1] for row in desk.rows()] == [
        "Write a.py (+2 -0)",
        "Write a.py (+1 -1)",
        "Write b.py (+2 -0)",
        "Edit src/c.py (+1 -1)",
        "Delete d.py (+0 -0)",
    ]


@pytest.mark.row("003 T28")
def test_an_edit_that_failed_is_an_error(desk: Desk) -> None:
    given = copilot(
        desk.root,
        toolName="edit",
        toolArgs={"path": str(desk.root / "a.py"), "old_str": "x", "new_str": "y"},
        error="No match found",
    )
    desk.take("copilot", given)
    tool = {"file_path": str(desk.root / "b.py"), "old_string": "x", "new_string": "y"}
    answer = {"llmContent": "Could not find x", "error": {"message": "Could not find x"}}
    said = {"tool_name": "replace", "tool_input": tool, "tool_response": answer}
    desk.take("gemini", gemini("AfterTool", desk.root, **said))
    assert desk.rows() == [
        ("error", "Edit a.py", "failed: No match found", "a.py"),
        ("error", "Edit b.py", "failed: Could not find x", "b.py"),
    ]


@pytest.mark.long  # it costs much
def test_a_command_that_goes_on_or_was_stopped_is_told_as_such(desk: Desk) -> None:
    tool = {"tool_name": "Bash", "tool_input": {"command": "npm run dev"}}
    for answer in ({"stdout": "", "backgroundTaskId": "b1"}, {"stdout": "", "interrupted": True}):
        desk.take("claude-code", claude("PostToolUse", desk.root, **tool, tool_response=answer))
    assert [row[2] for row in desk.rows()] == ["", "failed"]


@pytest.mark.long  # it costs much
def test_a_refusal_of_the_tool_binds_nothing(desk: Desk) -> None:
    session = saved(a_room(desk.root), "Mend it", status="coding", now="")
    desk.take("codex", ran("codex", desk.root, "npm test"))
    given = answered("codex", desk.root, f"#{session.number} is archived. Nothing was saved.")
    given["tool_response"]["isError"] = True
    desk.take("codex", given)
    assert (len(desk.rows("actions")), len(desk.rows())) == (0, 1)


@pytest.mark.long  # it costs much
def test_other_tools_are_not_recorded(desk: Desk) -> None:
    read = {"tool_name": "Read", "tool_input": {"file_path": str(desk.root / "a.py")}}
    memory = {"tool_name": "mcp__sentinel-memory__log_memory", "tool_input": {"topic": "a"}}
    for tool in (read, memory, {}, {"tool_name": "Bash"}, {"tool_name": "Bash", "tool_input": 1}):
        desk.take("claude-code", claude("PostToolUse", desk.root, **tool))
    assert desk.rows() == []


def test_hooks_of_claude_code_that_another_client_runs_record_nothing(desk: Desk) -> None:
    given = ran("claude-code", desk.root, "npm test")
    desk.take("claude-code", given, CURSOR_VERSION="3.2")
    desk.take("claude-code", {**given, "timestamp": 1})
    assert desk.rows() == []


def test_a_conversation_without_a_name_is_not_recorded(desk: Desk) -> None:
    given = ran("codex", desk.root, "npm test")
    desk.take("codex", {key: value for key, value in given.items() if key != "session_id"})
    assert desk.rows() == []


@pytest.mark.long  # it costs much
def test_secrets_never_reach_the_disk(desk: Desk) -> None:
    for client in CLIENTS:
        given = ran(client, desk.root, f"TOKEN={TOKEN} npm test", 1, f"denied: {TOKEN}")
        desk.take(client, given)
    assert len(desk.rows()) == len(CLIENTS)
    for file in desk.root.parent.rglob("*"):
        assert file.is_dir() or TOKEN.encode() not in file.read_bytes()


@pytest.mark.long  # it costs much
def test_an_output_of_200_kb_is_cut_to_its_end(desk: Desk) -> None:
    for client in CLIENTS:
        given = ran(client, desk.root, "npm test", 1, "x" * 200_000 + "\nthe end")
        desk.take(client, given)
    results = [row[2] for row in desk.rows() if row[2]]
    assert len(results) == 4
    assert all(len(text) <= 300 and text.endswith("x\nthe end") for text in results)


DEEP = json.loads('{"a":' * 200 + "1" + "}" * 200)
ODD: list[Any] = [
    None, 1, True, [], {}, "", "\ud800", DEEP, [[["x"]] * 3], {"command": []},
    {"command": ["npm", 1, "test"]}, {"command": "npm test\0\ud800\x1b[2J"}, {"files": [1, None]},
    {"file_path": "x" * 5_000, "content": "y"}, {"file_path": "a\0b", "content": "y"},
    {"file_path": "../../etc/passwd", "content": "y"}, {"edits": [1, {"old_string": 1}]},
    {"command": "*** Begin Patch\n*** Add File: \n*** Update File: ../x\n+a"}, "{", "[" * 5_000,
]  # fmt: skip


@pytest.mark.long
@ALL
def test_hostile_payloads_end_well(client: str, desk: Desk) -> None:
    """Each client gets a third of all pairs of a key and a value."""
    given = ran(client, desk.root, "npm test")
    for key, odd in [*product([*given, "error"], ODD)][[*CLIENTS].index(client) % 3 :: 3]:
        done = desk.hook(client, {**given, key: odd})
        assert (done.out, done.code) == ("", 0), (key, odd)
        assert "Traceback" not in done.errors


@pytest.mark.long  # it costs much
def test_what_is_no_payload_is_said_in_one_line(desk: Desk) -> None:
    for given in (b"", b"[]", b"{", b"\xff\xfe", b"null"):
        done = desk.hook("codex", given)
        assert (done.out, done.code, done.errors.count("\n")) == ("", 0, 1)


@pytest.mark.long  # it costs much
def test_what_takes_too_long_is_said_to_be_left_out() -> None:
    busy = (
        "import sys; from commands.hook import hook; hook.MOST_WORK_S = hook.MOST_STARTS = 0;"
        " sys.exit(hook.main(sys.argv[1:]))"
    )
    words = (sys.executable, "-c", busy, RECORDING, "--client", "codex")
    with subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as hook:
        assert hook.stderr
        assert "too long to record" in hook.stderr.read().decode()
    assert hook.returncode == 0


def test_a_database_of_another_program_is_said_and_left_as_it_is(desk: Desk) -> None:
    desk.path.parent.mkdir()
    desk.path.write_bytes(b"no database at all, and quite long " * 100)
    done = desk.hook("codex", ran("codex", desk.root, "npm test"))
    assert (done.out, done.code, done.errors.count("\n")) == ("", 0, 1)
    assert desk.path.read_bytes() == b"no database at all, and quite long " * 100


def test_settings_that_cannot_be_used_are_said(desk: Desk) -> None:
    desk.path.parent.mkdir()
    (desk.path.parent / "config.json").write_text('{"actionLogging": {"enabled": 1}}')
    done = desk.hook("codex", ran("codex", desk.root, "npm test"))
    assert "actionLogging.enabled" in done.errors
    assert not desk.path.exists()


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_nothing_is_left_beside_the_database(desk: Desk) -> None:
    desk.take("codex", ran("codex", desk.root, "npm test"))
    names = sorted(path.name for path in desk.path.parent.iterdir())
    assert names == [".gitignore", "history.db"]
