"""Tests where setup writes: for a project, or for all projects of a user."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from commands.setup.client_table import CLIENTS, COMMANDS
from commands.setup.configured import configured_clients
from commands.setup.files import Tree
from commands.setup.here import commands_here, tree_of
from commands.setup.plan import MARK, with_kept_out, without_kept_out
from core.lessons.file import COMPANIONS
from tests.support.cli_process import Run
from tests.support.desk import Desk
from tests.support.git_clones import copied_checkout
from tests.support.sentences import sentence
from tests.support.setup_bench import Bench
from tests.support.stdio_client import ROOT

pytestmark = pytest.mark.skipif(os.name == "nt", reason="paths of POSIX")

OF_USER = {
    "cursor": {".cursor/mcp.json", ".cursor/hooks.json"},
    "claude-code": {".claude.json", ".claude/settings.json", ".claude/CLAUDE.md"},
    "codex": {".codex/config.toml", ".codex/hooks.json", ".codex/AGENTS.md"},
    "gemini": {".gemini/settings.json", ".gemini/GEMINI.md"},
    "copilot": {
        *(".copilot/mcp-config.json", ".copilot/hooks/sentinel-memory.json"),
        ".copilot/copilot-instructions.md",
    },
}
KEYS = [client.key for client in CLIENTS]


def git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, check=True)
    return done.stdout.decode()


@pytest.fixture
def cloned(desk: Desk) -> Desk:
    """A project with a git of its own."""
    git(desk.root, "init", "-q")
    return desk


# For all projects of a user.


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("client", OF_USER)
def test_a_user_is_set_up_once_for_all_projects(client: str, bench: Bench) -> None:
    planned = bench.plan(client, level="user")
    assert planned.problems == ()
    names = {str(change.path.relative_to(bench.home)) for change in planned.changes}
    assert names == OF_USER[client]
    assert str(bench.root) not in "".join(change.text for change in planned.changes)
    bench.take(planned)
    assert bench.plan(client, level="user").changes == ()
    for project in (bench.root, bench.top / "another"):
        project.mkdir(exist_ok=True)
        [found] = configured_clients(
            project, server=bench.tool / "server.py", home=bench.home, environment={}
        )
        assert (found.project, found.problem) == (project, "")
    bench.take(bench.plan(client, level="user", remove=True))
    assert bench.files() == {}


@pytest.mark.parametrize("client", sorted(set(KEYS) - set(OF_USER)))
def test_a_client_without_files_of_a_user_is_told(client: str, bench: Bench) -> None:
    planned = bench.plan(client, level="user")
    assert planned.changes == ()
    assert [note.key for note in planned.notes] == ["no_user_level"]


def test_rules_of_a_user_say_for_which_projects_they_are(bench: Bench) -> None:
    bench.put({"home/.codex/AGENTS.override.md": "mine\n", "home/.gemini/GEMINI.md": "내 규칙\n"})
    bench.take(bench.plan("codex", "gemini", level="user", lang="ko"))
    for name in ("home/.codex/AGENTS.override.md", "home/.gemini/GEMINI.md"):
        assert sentence("ko", "setup.only_where_kept") in bench.files()[name].decode()
    assert "home/.codex/AGENTS.md" not in bench.files()
    bench.take(bench.plan("codex", "gemini", level="user"))
    assert (
        sentence("ko", "setup.only_where_kept") in bench.files()["home/.gemini/GEMINI.md"].decode()
    )
    bench.take(bench.plan("codex", "gemini", level="user", remove=True))
    assert bench.files()["home/.gemini/GEMINI.md"].decode() == "내 규칙\n"


def test_an_entry_that_served_one_project_serves_each_from_then_on(bench: Bench) -> None:
    line = f'command = "{bench.python}"\nargs = ["{bench.tool}/server.py", "--project", "/other"]\n'
    bench.put({"home/.codex/config.toml": f"[mcp_servers.sentinel-memory]\n{line}"})
    planned = bench.plan("codex", level="user")
    assert [note.key for note in planned.notes] == ["served_one_before"]
    assert '"--project"' not in planned.changes[0].text


@pytest.mark.long  # it costs much
def test_hooks_of_a_user_are_silent_where_there_is_no_memory(desk: Desk) -> None:
    code, _, errors = desk.run("setup", "claude-code", "--user", "--yes")
    assert (code, errors) == (0, "")
    assert {name.partition("/")[0] for name in desk.files()} == {"home"}
    for session, is_kept in (("a", False), ("b", True)):
        said = {"session_id": session, "cwd": str(desk.root)}
        edit = {"tool_name": "Edit", "tool_input": {"file_path": str(desk.root / "a.py")}}
        for event, more in (("before-action", edit), ("stop", {})):
            words = (sys.executable, str(ROOT / "cli.py"), "hook", event, "--client", "claude-code")
            done = Run.process(*words, given=json.dumps(said | more).encode(), **desk.place())
            assert (done.code, done.errors) == (0, "")
        assert bool(done.out) == is_kept  # the reminder to log what was missing
        assert (desk.root / ".context").exists() == is_kept
        (desk.root / ".context").mkdir(exist_ok=True)


@pytest.mark.long  # it costs much
def test_a_user_can_be_set_up_from_the_home_directory(desk: Desk) -> None:
    code, out, errors = desk.run("setup", "codex", "--user", "--yes", cwd=desk.home)
    assert (code, errors) == (0, "")
    assert out.startswith(sentence("en", "setup.of_user"))
    assert not (desk.home / ".context").exists()


# What is for one machine alone.


@pytest.mark.long  # it costs much
def test_the_approvals_of_one_person_are_kept_out_of_git(cloned: Desk) -> None:
    before = (cloned.root / ".git/info/exclude").read_bytes()
    code, out, errors = cloned.run("setup", "claude-code", "--yes")
    assert (code, errors) == (0, "")
    assert git(cloned.root, "status", "--porcelain", "-uall").splitlines() == [
        "?? .claude/settings.json",
        "?? .context/.gitattributes",
        "?? .context/.gitignore",
        "?? .mcp.json",
        "?? CLAUDE.md",
    ]
    assert (cloned.root / ".claude/settings.local.json").exists()
    assert " ".join(
        sentence("en", "setup.next_local", files=".mcp.json, .claude/settings.json").split()
    ) in (" ".join(out.split()))
    assert cloned.run("setup", "claude-code", "--yes")[1].endswith(
        sentence("en", "setup.nothing_to_do") + "\n"
    )
    assert cloned.run("setup", "claude-code", "--remove", "--yes")[0] == 0
    assert git(cloned.root, "status", "--porcelain", "-uall") == ""
    assert (cloned.root / ".git/info/exclude").read_bytes() == before


def test_hooks_do_not_stand_in_two_files_that_one_client_reads(bench: Bench) -> None:
    bench.do("claude-code")
    shared, local = (f"root/.claude/settings{it}.json" for it in ("", ".local"))
    wanted = {name: json.loads(bench.path(name).read_text()) for name in (shared, local)}
    bench.put({local: json.dumps(wanted[local] | wanted[shared])})
    bench.do("claude-code")
    assert {name: json.loads(bench.path(name).read_text()) for name in wanted} == wanted


@pytest.mark.long  # it costs much
def test_a_project_below_the_top_is_named_from_there(desk: Desk) -> None:
    below = desk.root / "a [b] *" / "작업"
    below.mkdir(parents=True)
    git(desk.root, "init", "-q")
    code, out, _ = desk.run("setup", "claude-code", "--yes", "--project", str(below))
    assert code == 0
    assert sentence(
        "en", "setup.below_top", top=str(desk.root), option=f"--project '{desk.root}'"
    ) in (out.replace(f"--project {desk.root}.", f"--project '{desk.root}'."))
    assert "settings.local.json" not in git(desk.root, "status", "--porcelain", "-uall")
    (desk.root / "a b x" / "작업" / ".claude").mkdir(parents=True)
    (desk.root / "a b x" / "작업" / ".claude" / "settings.local.json").touch()
    assert "settings.local.json" in git(desk.root, "status", "--porcelain", "-uall")


@pytest.mark.parametrize("text", ["", "# mine\n", "*.log", "*.log\r\n", f"{MARK}\n", "/a\n"])
def test_lines_that_keep_files_out_are_taken_out_to_the_byte(text: str) -> None:
    names = [".mcp.json", "a b/.cursor/mcp.json", "#x", "끝 "]
    kept = with_kept_out(text, names)
    assert with_kept_out(kept, names) == kept
    assert without_kept_out(kept, names) == text
    assert without_kept_out(text, names) == text


def test_a_line_of_the_user_that_keeps_a_file_out_stays() -> None:
    assert with_kept_out("/.mcp.json\n", [".mcp.json"]) == "/.mcp.json\n"
    assert without_kept_out("/.mcp.json\n", [".mcp.json"]) == "/.mcp.json\n"


def test_outside_git_nothing_is_said_of_the_tree(tmp_path: Path) -> None:
    assert tree_of(tmp_path, ["a"]) is None


def test_a_linked_work_tree_has_the_list_of_its_repository(cloned: Desk) -> None:
    git(
        cloned.root,
        "-c",
        "user.name=a",
        "-c",
        "user.email=b",
        "commit",
        "-qm",
        "x",
        "--allow-empty",
    )
    other = cloned.root.parent / "other"
    git(cloned.root, "worktree", "add", "-q", str(other))
    tree = tree_of(other, ["a"])
    assert tree == Tree(cloned.root / ".git/info/exclude", "", frozenset())


# Commands on the PATH.


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    """A directory with the two commands of an installation."""
    folder = tmp_path / "venv" / "bin"
    folder.mkdir(parents=True)
    for name in COMMANDS:
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    return folder


@pytest.mark.long  # it costs much
def test_commands_of_this_environment_on_the_path_are_written_without_a_path(
    scripts: Path, bench: Bench
) -> None:
    found = commands_here(str(scripts / "python"), {"PATH": str(scripts)})
    assert found
    bench.take(bench.plan(*KEYS, installation=found))
    below = {name: text.decode() for name, text in bench.files().items() if "home" not in name}
    assert len(below) > 10
    for text in below.values():
        assert str(bench.root) not in text
        assert str(scripts) not in text
    assert bench.plan(*KEYS, installation=found).changes == ()
    assert [
        (entry.project, entry.problem)
        for entry in configured_clients(
            bench.root,
            server=bench.tool / "server.py",
            home=bench.home,
            environment={"PATH": str(scripts)},
        )
    ] == [(bench.root, "")] * len(KEYS)
    bench.take(bench.plan(*KEYS, installation=found, remove=True))
    assert bench.files() == {}


def test_a_command_linked_into_the_path_counts(scripts: Path, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    linked.mkdir()
    for name in COMMANDS:
        (linked / name).symlink_to(scripts / name)
    assert commands_here(str(scripts / "python"), {"PATH": str(linked)})


def test_commands_of_another_environment_do_not_count(scripts: Path) -> None:
    assert commands_here(sys.executable, {"PATH": str(scripts)}) is None
    (scripts / COMMANDS[1]).unlink()
    assert commands_here(str(scripts / "python"), {"PATH": str(scripts)}) is None


@pytest.mark.long  # it costs much
def test_nothing_is_written_that_starts_what_uv_may_clear_away(tmp_path: Path) -> None:
    passing = tmp_path / "archive-v0" / "x"
    for name in (*COMMANDS, "python"):
        passing.mkdir(parents=True, exist_ok=True)
        (passing / name).write_text("#!/bin/sh\n")
        (passing / name).chmod(0o755)
    assert commands_here(str(passing / "python"), {"PATH": str(passing)}) is None
    script, project = copied_checkout(passing) / "cli.py", tmp_path / "project"
    project.mkdir()
    done = Run.started("setup", "gemini", "--yes", script=script, cwd=project)
    assert (done.code, done.errors) == (
        1,
        f"{sentence('en', 'setup.passing', path=str(passing))}\n",
    )
    assert list(project.iterdir()) == []


# The directory of the memory.


@pytest.mark.long  # it costs much
def test_setup_makes_the_directory_of_the_memory_and_takes_it_back(cloned: Desk) -> None:
    assert cloned.run("setup", "gemini", "codex", "--yes")[0] == 0
    folder = cloned.root / ".context"
    assert {path.name: path.read_text() for path in folder.iterdir()} == COMPANIONS
    assert cloned.run("setup", "gemini", "--remove", "--yes")[0] == 0
    assert folder.is_dir()  # Codex still has it
    assert cloned.run("setup", "codex", "--remove", "--yes")[0] == 0
    assert not folder.exists()


@pytest.mark.long  # it costs much
def test_a_memory_that_has_a_log_is_never_taken_back(cloned: Desk) -> None:
    assert cloned.run("setup", "codex", "--yes")[0] == 0
    (cloned.root / ".context/memory_log.jsonl").touch()
    assert cloned.run("setup", "codex", "--remove", "--yes")[0] == 0
    assert {path.name for path in (cloned.root / ".context").iterdir()} == {
        *COMPANIONS,
        "memory_log.jsonl",
    }


@pytest.mark.long  # it costs much
def test_files_of_a_memory_that_git_has_are_the_teams(cloned: Desk) -> None:
    assert cloned.run("setup", "codex", "--yes")[0] == 0
    git(cloned.root, "add", ".context")
    assert cloned.run("setup", "codex", "--remove", "--yes")[0] == 0
    assert {path.name for path in (cloned.root / ".context").iterdir()} == set(COMPANIONS)


@pytest.mark.long  # it costs much
def test_a_first_session_below_the_root_uses_the_memory_of_the_root(cloned: Desk) -> None:
    assert cloned.run("setup", "codex", "--yes")[0] == 0
    below = cloned.root / "sub"
    below.mkdir()
    code, out, _ = cloned.run("list", "--json", cwd=below)
    assert code == 0
    assert json.loads(out)["project"] == str(cloned.root)
