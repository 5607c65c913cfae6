"""Tests what the start of a session tells: lessons near to the work, sessions, and approvals."""

import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commands.hook import start as reader
from commands.hook.start import work_at_hand
from core.lessons.task import MOST_FILES, Work
from core.text.plain import estimate_tokens
from rooms.sessions.config import config_path
from tests.support.cli_process import Run, without_settings
from tests.support.client_events import Ran, claude, environment_of, run_hook
from tests.support.git_clones import commit, git, new_project, save
from tests.support.room import a_room, failed, saved
from tests.support.samples import a_line, a_record
from tests.support.stdio_client import ROOT

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
posix = pytest.mark.skipif(os.name == "nt", reason="scripts of a shell")

LAST = (("Refund in cents", ("src/환불.py",)), ("memory", ("README",)))


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's settings, and as much time as a busy machine needs."""
    without_settings(monkeypatch)
    monkeypatch.setattr(reader, "WAIT_S", 60)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = new_project(tmp_path / "shop", "one")
    write(project, "src/환불.py", "1\n")
    commit(project, "Refund in cents")
    git(project, "checkout", "--quiet", "-b", "fix/refund")
    return project


def write(project: Path, path: str, text: str) -> None:
    (project / path).parent.mkdir(parents=True, exist_ok=True)
    (project / path).write_text(text, encoding="utf-8", newline="\n")


@pytest.mark.long  # it costs much
def test_a_clean_tree_shows_its_branch_and_the_last_commits_without_the_memory(
    project: Path,
) -> None:
    save("two")(project)
    assert work_at_hand(project) == Work(branch="fix/refund", commits=LAST)


@pytest.mark.long  # it costs much
def test_five_commits_are_shown_and_no_merge(project: Path) -> None:
    for at in range(5):
        commit(project, str(at))
    git(project, "checkout", "--quiet", "-b", "other", "HEAD~1")
    commit(project, "beside")
    git(project, "merge", "--quiet", "--no-ff", "-m", "merged", "fix/refund")
    subjects = sorted(subject for subject, _ in work_at_hand(project).commits)
    assert subjects == ["1", "2", "3", "4", "beside"]


def test_changed_and_staged_files_are_shown_and_new_and_deleted_ones_are_not(
    project: Path,
) -> None:
    write(project, "src/환불.py", "1 + 1\n")
    write(project, "src/new.py", "1\n")
    write(project, "src/staged.py", "1\n")
    git(project, "add", "src/staged.py")
    (project / "README").unlink()
    assert work_at_hand(project).changed == ("src/환불.py", "src/staged.py")


@pytest.mark.long  # it costs much
def test_a_tree_that_was_copied_shows_no_changes(project: Path) -> None:
    for at in range(MOST_FILES + 1):
        write(project, f"many/{at}", "1\n")
    commit(project, "many")
    for path in (project / "many").iterdir():
        os.utime(path, (1, 1))
    assert work_at_hand(project).changed == ()


def test_of_a_project_below_the_top_paths_begin_there(project: Path) -> None:
    write(project, "src/환불.py", "1 + 1\n")
    work = work_at_hand(project / "src")
    assert (work.changed, work.commits[0][1]) == (("환불.py",), ("환불.py",))


def test_a_linked_work_tree_shows_its_own_work(project: Path, tmp_path: Path) -> None:
    git(project, "worktree", "add", "--quiet", "-b", "beside", str(tmp_path / "tree"))
    write(project, "src/환불.py", "1 + 1\n")
    work = work_at_hand(tmp_path / "tree")
    assert (work.branch, work.changed, work.commits) == ("beside", (), LAST)


def unborn(project: Path) -> Work:
    shutil.rmtree(project / ".git")
    git(project, "init", "--quiet", "-b", "fix/refund")
    return Work(branch="fix/refund")


def detached(project: Path) -> Work:
    git(project, "checkout", "--quiet", "--detach")
    return Work(commits=LAST)


def without_repository(project: Path) -> Work:
    shutil.rmtree(project / ".git")
    return Work()


def with_a_torn_head(project: Path) -> Work:
    (project / ".git" / "HEAD").write_text("nonsense\n")
    return Work()


def without_the_commit(project: Path) -> Work:
    name = git(project, "rev-parse", "HEAD").strip()
    (project / ".git" / "objects" / name[:2] / name[2:]).unlink()
    return Work(branch="fix/refund")


def with_a_torn_index(project: Path) -> Work:
    (project / ".git" / "index").write_bytes(b"nonsense")
    return Work(branch="fix/refund", commits=LAST)


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    "damage",
    [
        *(unborn, detached, without_repository, with_a_torn_head, without_the_commit),
        with_a_torn_index,
    ],
)
def test_what_git_cannot_tell_is_left_out(damage: Callable[[Path], Work], project: Path) -> None:
    assert work_at_hand(project) == Work(branch="fix/refund", commits=LAST)
    expected = damage(project)
    assert work_at_hand(project) == expected


def test_without_git_there_is_nothing_to_see(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    assert work_at_hand(project) == Work()


@posix
def test_a_git_that_does_not_answer_is_not_waited_for(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited = tmp_path / "waited"
    script = f"import pathlib, time; time.sleep(60); pathlib.Path({str(waited)!r}).touch()"
    line = shlex.join([sys.executable, "-I", "-S", "-c", script])
    (tmp_path / "git").write_text(f"#!/bin/sh\nexec {line}\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join((str(tmp_path), os.environ["PATH"])))
    monkeypatch.setattr(reader, "WAIT_S", 0.2)
    assert work_at_hand(project) == Work()
    assert not waited.exists()


# What is open or failed in earlier sessions.

LESSON = "Refunds above 500 EUR wait for a second approver."


class Desk:
    """A project with one lesson."""

    def __init__(self, top: Path) -> None:
        self.root, self.top = top / "shop", top
        (self.root / ".context").mkdir(parents=True)
        record = a_record("who approves a refund", topic="refunds", lesson=LESSON)
        (self.root / ".context" / "memory_log.jsonl").write_bytes(a_line(record))

    def start(self, budget: str = "", client: str = "claude-code", **more: Any) -> Ran:
        given = claude("SessionStart", self.root, **{"source": "startup", **more})
        words = ("session-start", "--client", client)
        where = environment_of(
            self.top / "state", HOME=str(self.top / "home"), SENTINEL_MEMORY_HOOK_BUDGET=budget
        )
        return run_hook(*words, given=given, cwd=self.top, environment=where)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_the_lessons_come_first_then_what_is_open_or_failed(desk: Desk) -> None:
    tried = failed("fetch without a proxy", "CORS")
    saved(a_room(desk.root), "Add a login", now="", status="coding", approaches=(tried,))
    text = desk.start().text
    lessons, sessions = text.split("\n\n")[0], text.split("\n\n")[-1]
    assert LESSON in lessons and LESSON not in sessions
    assert "#1" in sessions and "fetch without a proxy" in sessions and "Add a login" in sessions


def test_a_project_without_sessions_is_shown_its_lessons_only(desk: Desk) -> None:
    text = desk.start().text
    assert LESSON in text and "\n\n" not in text


def test_settings_may_leave_the_sessions_out(desk: Desk) -> None:
    saved(a_room(desk.root), "Add a login", now="", status="coding")
    config = {"recommendations": {"showOnSessionStart": False}}
    config_path(desk.root).write_text(json.dumps(config))
    assert "#1" not in desk.start().text


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("broken", ["no database at all, and quite long " * 100, ""])
def test_a_broken_database_takes_nothing_from_the_lessons(broken: str, desk: Desk) -> None:
    store = a_room(desk.root)
    saved(store, "Add a login", now="", status="coding")
    store.database.close()
    store.path.write_text(broken)
    done = desk.start()
    assert done.code == 0
    assert LESSON in json.loads(done.out)["hookSpecificOutput"]["additionalContext"]
    assert done.errors.count("\n") <= 1


def test_broken_settings_take_nothing_from_the_lessons(desk: Desk) -> None:
    config_path(desk.root).parent.mkdir()
    config_path(desk.root).write_text("[]")
    done = desk.start()
    assert LESSON in done.out
    assert "config.json" in done.errors


@pytest.mark.long  # it costs much
def test_both_stay_within_what_a_hook_may_show(desk: Desk) -> None:
    for at in range(30):
        tried = failed(f"approach {at} {'with many words ' * 10}", "it broke")
        saved(a_room(desk.root), f"Goal {at}", now="", status="coding", approaches=(tried,))
    text = desk.start(budget="200").text
    assert LESSON in text
    assert estimate_tokens(text) <= 200


LOADED = """
import sys
sys.path.insert(0, {root!r})
import cli
try:
    cli.main(["hook", *sys.argv[1:]])
finally:
    print(*sys.modules, file=sys.stderr)
"""


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("has_sessions", [False, True])
def test_sqlite_is_loaded_only_where_there_are_sessions(has_sessions: bool, desk: Desk) -> None:
    if has_sessions:
        saved(a_room(desk.root), "Add a login", now="", status="coding")
    given = json.dumps(claude("SessionStart", desk.root, source="startup")).encode()
    words = (sys.executable, "-c", LOADED.format(root=str(ROOT)), "session-start")
    where = environment_of(desk.top / "state")
    done = Run.process(
        *words, "--client", "claude-code", given=given, cwd=desk.top, environment=where
    )
    loaded = set(done.errors.split())
    assert {"sqlite3", "rooms"} & loaded == ({"sqlite3", "rooms"} if has_sessions else set())
    assert not {"fastmcp", "pydantic", "filelock", "mcp"} & loaded


# What the client does not let the model call unasked.

SERVERS = {"mcpServers": {"sentinel-memory": {"command": "x"}}}
ALLOWED = "mcp__sentinel-memory__log_memory"
CODEX = "[mcp_servers.sentinel-memory]\ncommand = 'x'\n"
# What stands in the files of a client, and whether the start of a session says that it asks.
APPROVALS: list[tuple[str, dict[str, Any], bool]] = [
    ("claude-code", {}, False),
    ("claude-code", {".mcp.json": {"mcpServers": {"other": {}}}}, False),
    ("claude-code", {".mcp.json": SERVERS}, True),
    ("claude-code", {".mcp.json": {"mcpServers": {"sentinel-memory-team": {}}}}, True),
    ("claude-code", {".mcp.json": SERVERS, ".claude/settings.local.json": "{"}, True),
    *(
        ("claude-code", {".mcp.json": SERVERS, file: {"permissions": {key: [item]}}}, False)
        for file, key, item in (
            (".claude/settings.local.json", "allow", ALLOWED),
            (".claude/settings.json", "allow", "mcp__sentinel-memory"),
            ("../home/.claude/settings.json", "allow", "mcp__sentinel-memory__*"),
            (".claude/settings.json", "ask", ALLOWED),
            (".claude/settings.json", "deny", "mcp__sentinel-memory"),
        )
    ),
    ("gemini", {".gemini/settings.json": SERVERS}, True),
    (
        "gemini",
        {".gemini/settings.json": {"mcpServers": {"sentinel-memory": {"trust": True}}}},
        False,
    ),
    ("codex", {".codex/config.toml": CODEX}, True),
    ("codex", {".codex/config.toml": f"{CODEX}default_tools_approval_mode = 'approve'"}, False),
    ("codex", {".codex/config.toml": f"{CODEX}tools.log_memory.approval_mode = 'approve'"}, False),
    ("codex", {".codex/config.toml": "["}, False),
    ("cursor", {".cursor/mcp.json": SERVERS}, False),
]


@pytest.mark.parametrize(("client", "files", "says"), APPROVALS)
def test_a_session_whose_tools_are_not_approved_says_so(
    desk: Desk, client: str, files: dict[str, Any], says: bool
) -> None:
    for name, data in files.items():
        path = desk.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(data if isinstance(data, str) else json.dumps(data))
    assert (f"setup {client}" in desk.start(client=client).out) is says


def test_it_is_said_once_and_not_where_nobody_is_asked(desk: Desk) -> None:
    (desk.root / ".mcp.json").write_text(json.dumps(SERVERS))
    assert "setup claude-code" not in desk.start(permission_mode="bypassPermissions").out
    assert "setup claude-code" in desk.start(session_id="another").out
    for more in ({"source": "compact"}, {"agent_id": "a1"}, {"source": "clear"}):
        again = desk.start(session_id="another", **more).out
        assert LESSON in again and "setup claude-code" not in again
