"""Tests that a log which git has and which is gone is no empty memory and no place for another."""

import os
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import StartServer
from tests.support.cli_process import Command, Run, without_settings
from tests.support.client_events import (
    Ran,
    claude,
    claude_edit,
    codex,
    cursor,
    environment_of,
    gemini,
    run_hook,
)
from tests.support.git_clones import commit, git, store_of
from tests.support.samples import a_draft

LOG = ".context/memory_log.jsonl"
ADD = ("add", "--topic", "a", "--missing", "b", "--lesson", "c", "--yes")
GIVEN = {"topic": "a", "missing_context": "b", "lesson": "c"}
WAY_BACK = re.compile(r"Run (?P<command>.+?) in the directory (?P<folder>.+?), then try again\.")
WAY_BACK_IN_KOREAN = re.compile(r"(?P<folder>/\S+) 디렉터리에서 (?P<command>.+?)[을를] 실행한 뒤")
PACKAGE = "the packages/app"  # which a shell has to quote


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose log is committed, and that of a package which is no work tree of its own."""
    without_settings(monkeypatch)
    root = tmp_path / "shop"
    root.mkdir()
    git(root, "init", "--quiet")
    for folder in (root, root / PACKAGE):
        store_of(folder).upsert_log(a_draft("one"))
    (root / "src/pay").mkdir(parents=True)
    (root / "src/pay/refund.py").write_text("pass\n")
    commit(root)
    return root


@pytest.fixture
def gone(shop: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose log was committed and deleted without git."""
    (shop / LOG).unlink()
    monkeypatch.chdir(shop)
    return shop


def done_in(folder: Path, *steps: str) -> None:
    """Carry out commands of git there, and `rm`."""
    for step in steps:
        program, *words = shlex.split(step)
        if program == "git":
            git(folder, *words)
        elif (folder / words[0]).is_dir():
            shutil.rmtree(folder / words[0])
        else:
            (folder / words[0]).unlink()


def files_in(folder: Path) -> dict[str, bytes]:
    """Every file of a work tree, and every folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else b""
        for path in folder.rglob("*")
        if ".git" not in path.relative_to(folder).parts
    }


def carry_out(text: str, sentence: re.Pattern[str] = WAY_BACK) -> None:
    """Do what a sentence says, in the directory that it names."""
    found = sentence.search(text)
    assert found, text
    for command in found["command"].split(" && "):
        assert command.startswith("git ")
        done_in(Path(found["folder"]), command)


def hooked(root: Path, event: str, given: dict[str, Any], *more: str) -> Ran:
    environment = environment_of(root.parent / "state")
    words = (event, "--client", *(more or ("claude-code",)))
    return run_hook(*words, given=given, cwd=root, environment=environment)


BELOW = "src/pay"
STATES = {  # what was done, and where a command is given then
    "without its file": ([f"rm {LOG}"], "."),
    "without its folder": (["rm .context"], "."),
    "without its folder, from below": (["rm .context"], BELOW),
    "in a sparse checkout": ([f"git sparse-checkout set --cone {BELOW}"], "."),
    "in a sparse checkout, from below": ([f"git sparse-checkout set --cone {BELOW}"], BELOW),
    "by patterns": (["git sparse-checkout set --no-cone '/*' '!/.context/'"], "."),
    "passed over": ([f"git update-index --skip-worktree {LOG}", f"rm {LOG}"], "."),
    "without a checkout": (["git clone --quiet --no-checkout . ../half"], "../half"),
    "in a package": ([f"rm '{PACKAGE}/{LOG}'"], PACKAGE),
}


@pytest.mark.row("P4")
@pytest.mark.parametrize("state", STATES)
def test_however_it_is_missing_the_command_that_is_named_brings_it_back(
    shop: Path, state: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No log begins meanwhile, and the doctor and a hook say the same."""
    steps, folder = STATES[state]
    done_in(shop, *steps)
    start = (shop / folder).resolve()
    (shop.parent / "list.md").write_text("- Use Node 22\n")
    monkeypatch.chdir(start)
    before = files_in(start)
    reading = (("list",), ("search", "one"), ("stats",), ("export",))
    saving = (ADD, ("import", str(shop.parent / "list.md")))
    refused = [Run.of(capsys, *words) for words in (*reading, *saving)]
    assert {(done.code, done.out) for done in refused} == {(1, "")}
    assert len({done.errors for done in refused}) == 1
    said = WAY_BACK.search(refused[0].errors)
    doctor = Run.of(capsys, "doctor")
    assert said and said["command"] in doctor.out and said["folder"] in doctor.out
    assert (doctor.code, "the first save creates it" in doctor.out) == (1, False)
    told = hooked(start, "session-start", claude("SessionStart", start, source="startup"))
    assert files_in(start) == before
    assert WAY_BACK.findall(told.text) == WAY_BACK.findall(refused[0].errors)
    carry_out(refused[0].errors)
    assert "Lessons: 1 of 1" in Run.of(capsys, "list").out


NONE_MISSING = {  # what was done in the project, and where a command is given then
    "deleted in a commit": ([f"rm {LOG}", "git commit --quiet --all --message gone"], "."),
    "taken out of git": ([f"git rm --quiet --cached {LOG}", f"rm {LOG}"], "."),
    "of a package below": ([f"rm {LOG}"], "packages/new"),
    "of a new repository": (["git init --quiet ../new"], "../new"),
    "outside git": ([], "../plain"),
}


@pytest.mark.parametrize("state", NONE_MISSING)
def test_where_git_has_none_a_log_begins(
    shop: Path, state: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    steps, folder = NONE_MISSING[state]
    done_in(shop, *steps)
    root = (shop / folder).resolve()
    (root / ".context").mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(root)
    assert "no record" in Run.of(capsys, "list").out.lower()
    assert hooked(root, "session-start", claude("SessionStart", root, source="startup")).text == ""
    hooked(root, "before-action", claude_edit(root, "a.py"))
    assert "log_memory" in hooked(root, "stop", claude("Stop", root)).out
    assert Run.of(capsys, *ADD).code == 0
    (root / LOG).unlink()
    assert Run.of(capsys, *ADD).code == 0


@pytest.mark.skipif(os.name == "nt", reason="no working directory can be removed there")
def test_a_working_directory_that_is_gone_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    """The system's error names no file, and would pass for one of the output."""
    for name in ("left", "other"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "left")
    (tmp_path / "left").rmdir()
    try:
        refused = command("list")
        there = command("list", "--project", str(tmp_path / "other"))
    finally:
        os.chdir(tmp_path)
    assert (refused.code, there.code) == (1, 0)
    assert refused.errors.startswith("The project directory . (from cwd) does not exist.")


@pytest.mark.row("P4")
def test_tools_and_resources_refuse_as_commands_do(gone: Path, start_server: StartServer) -> None:
    before = files_in(gone)
    server = start_server(cwd=gone)
    refused = {
        server.refusal("search_memory", query="one"),
        server.refusal("log_memory", **GIVEN),
        server.refusal("compact_memory"),
        server.refusal("compact_memory", delete_ids=["0123456789abcdef@abcdef"]),
        *(
            server.request("resources/read", {"uri": uri})["error"]["message"]
            for uri in ("memory://log", "memory://record/0123456789abcdef")
        ),
        server.request("prompts/get", {"name": "memory_injection"})["error"]["message"],
    }
    assert files_in(gone) == before
    [said] = refused
    carry_out(said)
    assert "records: 1" in server.call("search_memory", query="one")
    server.call("log_memory", **GIVEN)
    assert len(store_of(gone).read_all()) == 2


@pytest.mark.long  # it costs much
@pytest.mark.row("P4")
def test_the_start_says_it_to_every_client_and_later_events_are_silent(gone: Path) -> None:
    before = files_in(gone)
    for client, given in {
        "claude-code": claude("SessionStart", gone, source="startup"),
        "codex": codex("SessionStart", gone, source="startup"),
        "gemini": gemini("SessionStart", gone, source="startup"),
        "cursor": cursor("sessionStart", gone),
    }.items():
        done = hooked(gone, "session-start", given, client)
        assert (done.code, done.errors) == (0, "")
        assert f"git restore {LOG}" in done.out, client
    for event, given in {
        "before-action": claude_edit(gone, "src/pay/refund.py"),
        "prompt": claude("UserPromptSubmit", gone, prompt="mend the refund of one order"),
        "stop": claude("Stop", gone),
    }.items():
        done = hooked(gone, event, given)
        assert (done.code, done.out, done.errors) == (0, "", "")
    assert files_in(gone) == before
    given = claude("SessionStart", gone, source="startup")
    done = hooked(gone, "session-start", given, "claude-code", "--lang", "ko")
    carry_out(done.text, WAY_BACK_IN_KOREAN)
    assert (gone / LOG).is_file()


@pytest.mark.long  # it costs much
@pytest.mark.skipif(os.name == "nt", reason="a program that is a script")
def test_no_git_is_started_where_the_log_is_there_or_no_repository_is(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only a missing log in a repository is asked about; `git` is a program that leaves a mark."""
    programs, plain = tmp_path / "programs", tmp_path / "plain"
    programs.mkdir()
    plain.mkdir()
    mark = tmp_path / "git was started"
    (programs / "git").write_text(f"#!/bin/sh\n: > '{mark}'\nexit 128\n")
    (programs / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    for folder in (shop, plain):
        monkeypatch.chdir(folder)
        assert Run.of(capsys, "search", "one").code == 0
        assert Run.of(capsys, "stats").code == 0
        assert not mark.exists()
        Run.of(capsys, *ADD)
        hooked(folder, "before-action", claude_edit(folder, "x.py"))
        mark.unlink(missing_ok=True)  # a save and a first action ask git other things
        hooked(folder, "stop", claude("Stop", folder))
        assert not mark.exists()
    (shop / LOG).unlink()
    monkeypatch.chdir(shop)
    Run.of(capsys, "search", "one")
    assert mark.exists()
