"""Tests `cli.py setup` as people run it, and the files on disk afterwards."""

import errno
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from commands.clients.machine import installation_in, runner_of
from commands.clients.setup import try_hook
from commands.clients.table import CLIENTS
from core.messages import has_sentence
from tests.support.cli_process import Desk, Run
from tests.support.costly import one_in
from tests.support.git_clones import copied_checkout
from tests.support.sentences import sentence
from tests.support.tables import ROOT

KEYS = [client.key for client in CLIENTS]
URL = "https://memory.example.com/mcp"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "my 프로젝트", tmp_path / "home")


@pytest.mark.parametrize(
    ("answer", "code"), one_in(2, [("y\n", 0), ("no\n", 1), ("\n", 1), ("\x04", 1)])
)
def test_on_a_terminal_it_asks_once(answer: str, code: int, desk: Desk) -> None:
    done = Run.at_terminal("setup", "codex", answer=answer, **desk.place(NO_COLOR="1"))
    assert (done.code, done.errors) == (code, "")
    assert done.out.count(sentence("en", "setup.ask", count=5)) == 1
    assert bool(desk.files()) == (code == 0)
    assert (sentence("en", "setup.not_changed") in done.out) == (code == 1)
    assert "@@" not in done.out


def test_the_answer_d_shows_our_own_parts_and_asks_again(desk: Desk) -> None:
    (desk.root / ".mcp.json").write_text('{"mcpServers": {"db": {"env": {"KEY": "Hunter2"}}}}')
    done = Run.at_terminal("setup", "claude-code", answer="d\nn\n", **desk.place())
    assert (done.code, done.errors) == (1, "")
    assert done.out.count(sentence("en", "setup.ask", count=7)) == 2
    assert '+    "type": "stdio",' in done.out
    assert "hook session-start" in done.out
    assert "Hunter2" not in done.out
    dry = desk.run("setup", "claude-code", "--dry-run").out
    assert '+    "type": "stdio",' in dry and "Hunter2" not in dry


def test_who_cannot_see_the_plan_or_cannot_answer_is_not_asked(desk: Desk) -> None:
    ours, theirs = os.openpty()
    os.write(ours, b"y\n")
    for stdin, line in ((theirs, "exec "), (subprocess.DEVNULL, "exec <&- ")):
        script = f'{line}"$0" "$1" setup codex'
        command = ("sh", "-c", script, sys.executable, str(ROOT / "cli.py"))
        done = Run.process(*command, stdin=stdin, **desk.place())
        assert (done.code, done.errors) == (1, sentence("en", "setup.no_terminal") + "\n")
    os.close(ours)
    os.close(theirs)
    assert desk.files() == {}


def test_a_file_that_cannot_be_written_is_told_and_the_rest_is_done(desk: Desk) -> None:
    (desk.root / ".codex").mkdir(mode=0o555)
    done = desk.run("setup", "codex", "--yes")
    facts = {"path": ".codex/config.toml", "reason": os.strerror(errno.EACCES)}
    assert (done.code, sentence("en", "setup.not_written", **facts) in done.errors) == (1, True)
    assert (desk.root / "AGENTS.md").is_file()
    assert desk.files("home") == {}


def test_every_remark_that_a_row_may_need_has_a_sentence() -> None:
    said = {f"next_{key}" for key in KEYS} | {"codex_cuts", "codex_hooks_twice"}
    said |= {f"no_remote_{row.key}" for row in CLIENTS if not row.http}
    assert {key for key in said if not has_sentence(f"setup.{key}")} == set()


# Hooks.


@pytest.mark.long  # it costs much
def test_a_hook_that_was_tried_has_bytecode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied_checkout(tmp_path)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    here = installation_in((sys.executable,), str(tmp_path), windows=False)
    assert try_hook(here) == ""
    made = {path.name.partition(".")[0] for path in tmp_path.rglob("*.pyc")}
    assert {"hook", "events", "journal", "recall", "surroundings"} <= made
    assert not {"server", "setup", "scan", "sanitizer", "suspicion"} & made
    (tmp_path / "commands" / "hook" / "hook.py").write_text("raise OSError('torn')\n")
    assert try_hook(here).endswith("OSError")
    assert try_hook(installation_in((str(tmp_path / "gone"),), str(tmp_path), windows=False)) != ""


def test_a_file_that_a_stranger_left_in_the_project_is_neither_started_nor_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "uv.toml").touch()
    for name in ("uv", "python"):
        (tmp_path / name).write_text("#!/bin/sh\n[ ! -e uv.toml ] || echo followed >&2; exit 0\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.chdir(tmp_path)
    for path in (".", "", f".{os.pathsep}/nowhere"):
        assert runner_of("/h/.cache/uv/environments-v2/x/bin/python", {"PATH": path}) is None
    words = (str(tmp_path / "python"),)
    assert Run.process(*words, cwd=tmp_path).errors == "followed\n"
    monkeypatch.setattr("commands.clients.setup.COMPLAINT", "followed")
    assert try_hook(installation_in(words, str(tmp_path), windows=False)) == ""


@pytest.mark.long
def test_every_hook_that_is_written_answers_its_client(desk: Desk) -> None:
    """Nothing on standard error: its shell finds it, and it knows its event and its client.

    One line of each client goes through a shell.
    """
    keys = [row.key for row in CLIENTS if row.hooks]
    assert desk.run("setup", *keys, "--yes", SENTINEL_MEMORY_LANG="ko")[0] == 0
    texts = [path.read_text() for path in desk.root.rglob("*.json")]
    written = [re.findall(r'"(?:command|bash)": "([^"]* hook [^"]*)"', text) for text in texts]
    for lines in filter(None, written):
        done = [Run.process("sh", "-c", lines[0], given=b"{}", **desk.place())]
        for line in lines[1:]:
            assert " --lang ko" in line
            words = shlex.split(line.removesuffix(" || :"))[2:]
            done.append(Run.placed(*words, given=b"{}", **desk.place()))
        assert {(it.code, it.errors) for it in done} == {(0, "")}
    assert len([*filter(None, written)]) == len(keys) - 1  # two clients have one file


@pytest.mark.long  # it costs much
def test_setup_writes_no_command_in_a_folder_that_uv_may_clear_away(tmp_path: Path) -> None:
    passing, project = tmp_path / "archive-v0" / "x", tmp_path / "project"
    passing.mkdir(parents=True)
    project.mkdir()
    script = copied_checkout(passing) / "cli.py"
    done = Run.started("setup", "gemini", "--yes", script=script, cwd=project)
    assert done.code == 1
    assert done.errors == f"{sentence('en', 'setup.passing', path=str(passing))}\n"
    assert list(project.iterdir()) == []


# For all projects of a user; rooms; a server that others run.


WITH_A_ROW = """
import sys
sys.path.insert(0, sys.argv[1])
from commands.clients import table

rules = {"reads": ["ACME.md"], "homes": ["ACME.md"]}
row = {"name": "Acme Code", "found": ["root:.acme"], "under": "servers", "rules": rules}
row |= {"entry": {"project": "root:.acme/mcp.json"}, "stdio": {"command": "$command"}}
table.CLIENTS += (table.client_from("acme", {**row, "project": "$root"}),)
import cli

sys.exit(cli.main(sys.argv[2:]))
"""


def test_a_new_row_of_the_table_is_a_client_and_nothing_else_is_needed(desk: Desk) -> None:
    (desk.root / ".acme").mkdir()
    started = (sys.executable, "-c", WITH_A_ROW, str(ROOT), "setup")
    done = Run.process(*started, "--yes", **desk.place(PATH="/nowhere"))
    assert (done.code, done.errors) == (0, "")
    assert f"Acme Code ({desk.root / '.acme'})" in done.out.splitlines()[1]
    assert "\n- Acme Code: start it again.\n" in done.out
    entry = json.loads((desk.root / ".acme/mcp.json").read_bytes())["servers"]["sentinel-memory"]
    assert entry["args"][-2:] == ["--project", desk.root.as_posix()]
    assert "@AGENTS.md" in (desk.root / "ACME.md").read_text(encoding="utf-8")
    done = Run.process(*started, "acme", "--remove", "--yes", **desk.place())
    assert (done.code, done.errors, desk.files("my 프로젝트")) == (0, "", {})
    done = Run.process(*started, "emacs", **desk.place())
    assert (done.code, ", copilot, acme" in done.errors) == (2, True)
