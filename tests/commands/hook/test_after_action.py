"""Tests the hook that records a client's actions, with the events of every client."""

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from commands.clients.table import HOOKS, RECORDING
from tests.support.client_events import CLIENTS, Ran, answered, claude, edited, event, ran
from tests.support.client_events import Desk as AnyDesk
from tests.support.costly import one_in
from tests.support.session_samples import a_room, saved
from tests.support.tables import ROOT, table

ROWS = table("commands/after_action")
TOKEN = "ghp_" + "Ab3" * 12
ALL = pytest.mark.parametrize("client", one_in(3, CLIENTS))


class Desk(AnyDesk):
    """A project with a directory for its memory, and the actions that hooks have recorded."""

    def take(self, client: str, given: Any, **variables: str) -> None:
        """Hand over an event; the hook must say nothing and end well."""
        done = self.hook(CLIENTS[client], RECORDING, given, variables=variables)
        assert done == Ran(0, "", "")

    @property
    def path(self) -> Path:
        return self.root / ".context" / "sessions" / "history.db"

    def rows(self, *, of_session: bool = False) -> list[tuple[Any, ...]]:
        """The recorded actions: those that wait for a session, or those of sessions."""
        if not self.path.exists():
            return []
        columns = "type, content, coalesce(result, ''), coalesce(file_path, '')"
        with closing(sqlite3.connect(self.path)) as connection:
            whose = "IN" if of_session else "NOT IN"
            condition = f"context_id {whose} (SELECT id FROM contexts) ORDER BY rowid"
            return connection.execute(f"SELECT {columns} FROM actions WHERE {condition}").fetchall()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = Desk(tmp_path / "shop", tmp_path / "elsewhere")
    (desk.root / ".context").mkdir()
    return desk


@pytest.mark.row("003 T27", "003 T28")
@ALL
def test_each_action_is_recorded_and_bound_to_its_session(client: str, desk: Desk) -> None:
    """A command with how it went as far as the client tells, an edit with its file and lines."""
    desk.take(client, ran(client, desk.root, "cd web && npm test", 0, "all good"))
    desk.take(client, ran(client, desk.root, "npm test", 3, "1 failed"))
    desk.take(client, ran(client, desk.root, "ls", 0, "a b"))
    head = "Exit code 3\n" if client == "claude-code" else ""
    done = [
        ("command", "cd web && npm test", "success", ""),
        ("error", "npm test", f"failed: {head}1 failed", ""),
    ]
    if client in ("codex", "vscode"):
        done = [("command", content, "", "") for _, content, _, _ in done]
    assert desk.rows() == done
    key = {"copilot": "sessionId", "cursor": "conversation_id"}.get(client, "session_id")
    desk.take(client, {**ran(client, desk.root, "npm install"), key: "another"})
    session = saved(a_room(desk.root), "Mend it", status="coding", now="")
    desk.take(client, answered(client, desk.root, f"Saved #{session.number}."))
    desk.take(client, edited(client, desk.root))
    edit = ("edit", "Edit src/refund.py (+2 -1)", "success", "src/refund.py")
    assert desk.rows(of_session=True) == [*done, edit]
    assert [content for _, content, _, _ in desk.rows()] == ["npm install"]


def test_a_refusal_of_the_tool_binds_nothing(desk: Desk) -> None:
    session = saved(a_room(desk.root), "Mend it", status="coding", now="")
    desk.take("codex", ran("codex", desk.root, "npm test"))
    given = answered("codex", desk.root, f"#{session.number} is archived. Nothing was saved.")
    given["tool_response"]["isError"] = True
    desk.take("codex", given)
    assert (len(desk.rows(of_session=True)), len(desk.rows())) == (0, 1)


def test_every_event_that_a_client_is_given_for_this_is_read() -> None:
    """The payloads above come by these events and no others."""
    events = [it for hooks in HOOKS.values() for it in hooks.events]
    named = {it.name.lower() for it in events if it.hook_event == RECORDING}
    assert named == {"posttooluse", "posttoolusefailure", "aftertool"}


@ALL
def test_a_project_without_a_memory_is_left_alone(client: str, desk: Desk) -> None:
    """So is the `.context` of another tool."""
    notes = desk.root / ".context" / "notes.md"
    notes.write_text("of another tool")
    desk.take(client, ran(client, desk.root, "npm test"))
    assert list(desk.root.rglob("*")) == [notes.parent, notes]
    shutil.rmtree(notes.parent)
    desk.take(client, ran(client, desk.root, "npm test"))
    assert list(desk.root.iterdir()) == []


@pytest.mark.long  # it costs much
def test_an_action_outside_the_project_or_of_nobody_is_not_recorded(desk: Desk) -> None:
    given = ran("claude-code", desk.root, "npm test")
    desk.take("claude-code", given, CURSOR_VERSION="3.2")
    desk.take("claude-code", {**given, "timestamp": 1})
    nameless = {key: it for key, it in given.items() if not key.endswith(("_id", "path"))}
    desk.take("claude-code", nameless)
    for path in (".context/memory_log.jsonl", "../elsewhere.py"):
        desk.take("claude-code", edited("claude-code", desk.root, path))
    read = {"tool_name": "Read", "tool_input": {"file_path": str(desk.root / "a.py")}}
    memory = {"tool_name": "mcp__sentinel-memory__log_memory", "tool_input": {"topic": "a"}}
    for tool in (read, memory, {}, {"tool_name": "Bash"}, {"tool_name": "Bash", "tool_input": 1}):
        desk.take("claude-code", claude("PostToolUse", desk.root, **tool))
    assert desk.rows() == []


@pytest.mark.row("003 T28")
def test_an_edit_or_a_command_is_recorded_with_its_outcome(desk: Desk) -> None:
    """A new file counts every line, a patch each of its files; some fail, and some go on."""
    recorded = list[tuple[Any, ...]]()
    for client, builder, name, more, rows in ROWS["done"]:
        more = json.loads(json.dumps(more).replace("{project}", desk.root.as_posix()))
        desk.take(client, event(builder, name, desk.root, **more))
        recorded += map(tuple, rows)
        assert desk.rows() == recorded
    assert sorted(it.name for it in desk.path.parent.iterdir()) == [".gitignore", "history.db"]


@pytest.mark.long  # it costs much
def test_an_output_of_200_kb_is_cut_to_its_end_and_secrets_never_reach_the_disk(desk: Desk) -> None:
    printed = f"{TOKEN}\n" + "x" * 200_000 + f"\nthe {TOKEN} end"
    for client in CLIENTS:
        desk.take(client, ran(client, desk.root, f"TOKEN={TOKEN} npm test", 1, printed))
    assert len(desk.rows()) == len(CLIENTS)
    results = [row[2] for row in desk.rows() if row[2]]
    assert len(results) == 4
    assert all(len(text) <= 300 and "x\nthe " in text and text.endswith(" end") for text in results)
    for file in desk.root.parent.rglob("*"):
        assert file.is_dir() or TOKEN.encode() not in file.read_bytes()


ODD = [*ROWS["odd"], json.loads('{"a":' * 200 + "1" + "}" * 200), "[" * 5_000]
ODD += [{"file_path": "x" * 5_000, "content": "y"}]


@pytest.mark.long
@pytest.mark.parametrize("client", CLIENTS)
def test_hostile_payloads_end_well(client: str, desk: Desk) -> None:
    """Each client gets a sixth of all pairs of a key and a value."""
    given = ran(client, desk.root, "npm test")
    for key, odd in [*product([*given, "error"], ODD)][[*CLIENTS].index(client) :: 6]:
        done = desk.hook(CLIENTS[client], RECORDING, {**given, key: odd})
        assert (done.out, done.code) == ("", 0), (key, odd)
        assert "Traceback" not in done.errors


@pytest.mark.long  # it costs much
def test_a_record_that_takes_too_long_is_said_to_be_left_out() -> None:
    busy = (
        "import sys; from commands.hook import hook; hook.MOST_WORK_S = hook.MOST_STARTS = 0;"
        " sys.exit(hook.main(sys.argv[1:]))"
    )
    words = (sys.executable, "-c", busy, RECORDING, "--client", "codex")
    with subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as hook:
        assert hook.stderr
        assert "too long to record" in hook.stderr.read().decode()
    assert hook.returncode == 0
