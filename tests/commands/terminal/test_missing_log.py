"""Tests that a log which git has and which is gone is no empty memory and no place for another."""

import os
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import StartServer
from tests.support.cli_process import Run, without_settings
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
from tests.support.git_clones import commit, git, new_project, store_of

LOG = ".context/memory_log.jsonl"
ADD = ("add", "--topic", "a", "--missing", "b", "--lesson", "c", "--yes")
GIVEN = {"topic": "a", "missing_context": "b", "lesson": "c"}
WAY_BACK = re.compile(r"Run (?P<command>.+?) in the directory (?P<folder>.+?), then try again\.")
WAY_BACK_IN_KOREAN = re.compile(r"(?P<folder>/\S+) 디렉터리에서 (?P<command>.+?)[을를] 실행한 뒤")


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose log is committed."""
    without_settings(monkeypatch)
    root = new_project(tmp_path / "shop", "one")
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
        program, *words = shlex.split(command)
        assert program == "git"
        git(Path(found["folder"]), *words)


def hooked(root: Path, event: str, given: dict[str, Any], *more: str) -> Ran:
    environment = environment_of(root.parent / "state")
    words = (event, "--client", *(more or ("claude-code",)))
    return run_hook(*words, given=given, cwd=root, environment=environment)


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
