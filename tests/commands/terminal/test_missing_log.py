"""Tests that a log which git has and which is gone is no empty memory and no place for another."""

import os
import re
import shlex
import shutil
from collections.abc import Callable
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
from tests.support.git_clones import commit, git, store_of
from tests.support.samples import a_draft

LOG = ".context/memory_log.jsonl"
ADD = ("add", "--topic", "a", "--missing", "b", "--lesson", "c", "--yes")
SAVED = f"git restore {LOG}"
GIVEN = {"topic": "a", "missing_context": "b", "lesson": "c"}
WAY_BACK = re.compile(r"Run (?P<command>.+?) in the directory (?P<folder>.+?), then try again\.")
WAY_BACK_IN_KOREAN = re.compile(r"(?P<folder>/\S+) 디렉터리에서 (?P<command>.+?)[을를] 실행한 뒤")


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    without_settings(monkeypatch)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A project whose log is committed."""
    root = tmp_path / "shop"
    root.mkdir()
    git(root, "init", "--quiet")
    store_of(root).upsert_log(a_draft("one"))
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


@pytest.mark.parametrize(
    "is_committed",
    [pytest.param(True, marks=pytest.mark.long), False],  # the first costs much
)
def test_one_that_was_deleted_on_purpose_is_an_empty_memory(
    gone: Path, is_committed: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    if is_committed:
        commit(gone)
    else:
        git(gone, "rm", "--quiet", "--cached", LOG)
    assert Run.of(capsys, "list").code == 0
    assert Run.of(capsys, *ADD).code == 0
    assert (gone / LOG).is_file()


def _without_folder(shop: Path) -> Path:
    shutil.rmtree(shop / ".context")
    return shop


def _sparse(shop: Path) -> Path:
    git(shop, "sparse-checkout", "set", "--cone", "src/pay")
    return shop


def _sparse_by_patterns(shop: Path) -> Path:
    git(shop, "sparse-checkout", "set", "--no-cone", "/*", "!/.context/")
    return shop


def _passed_over(shop: Path) -> Path:
    git(shop, "update-index", "--skip-worktree", LOG)
    (shop / LOG).unlink()
    return shop


def _without_checkout(shop: Path) -> Path:
    git(shop.parent, "clone", "--quiet", "--no-checkout", shop.as_uri(), "half")
    return shop.parent / "half"


def _in_a_package(shop: Path) -> Path:
    """A project that is no work tree of its own, and whose folder a shell has to quote."""
    package = shop / "the packages/app"
    store_of(package).upsert_log(a_draft("two"))
    commit(shop)
    (package / LOG).unlink()
    return package


def _without_file(shop: Path) -> Path:
    (shop / LOG).unlink()
    return shop


STATES: dict[str, Callable[[Path], Path]] = {
    "without its file": _without_file,
    "without its folder": _without_folder,
    "without its folder, from below": lambda shop: _without_folder(shop) / "src/pay",
    "in a sparse checkout": _sparse,
    "in a sparse checkout, from below": lambda shop: _sparse(shop) / "src/pay",
    "in a sparse checkout by patterns": _sparse_by_patterns,
    "passed over": _passed_over,
    "without a checkout": _without_checkout,
    "in a package": _in_a_package,
}


@pytest.mark.row("P4")
@pytest.mark.parametrize("state", STATES)
def test_however_it_is_missing_the_command_that_is_named_brings_it_back(
    shop: Path, state: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No log begins meanwhile, and the doctor and a hook say the same."""
    start = STATES[state](shop)
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


@pytest.mark.long  # it costs much
def test_a_memory_of_a_package_needs_no_log_above_it(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    package = shop / "packages/app"
    (package / ".context").mkdir(parents=True)
    (shop / LOG).unlink()
    monkeypatch.chdir(package)
    assert Run.of(capsys, *ADD).code == 0
    assert (package / LOG).is_file()


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("has_git", [True, False])
def test_a_project_whose_log_was_never_committed_begins_one(
    tmp_path: Path,
    has_git: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    root = tmp_path / "new"
    (root / ".context").mkdir(parents=True)
    if has_git:
        git(root, "init", "--quiet")
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
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The system's error names no file, and would pass for one of the output."""
    for name in ("left", "other"):
        (tmp_path / name).mkdir()
    monkeypatch.delenv("SENTINEL_MEMORY_PROJECT", raising=False)
    monkeypatch.chdir(tmp_path / "left")
    (tmp_path / "left").rmdir()
    try:
        refused = Run.of(capsys, "list")
        there = Run.of(capsys, "list", "--project", str(tmp_path / "other"))
    finally:
        os.chdir(tmp_path)
    assert refused.code == 1
    assert refused.errors.startswith("The project directory . (from cwd) does not exist.")
    assert there.code == 0


@pytest.mark.row("P4")
def test_tools_and_resources_refuse_as_the_commands_do(
    gone: Path, start_server: StartServer
) -> None:
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


# Hooks


def hooked(root: Path, event: str, given: dict[str, Any], client: str = "claude-code") -> Ran:
    environment = environment_of(root.parent / "state")
    return run_hook(event, "--client", client, given=given, cwd=root, environment=environment)


@pytest.mark.long  # it costs much
@pytest.mark.row("P4")
def test_the_start_of_a_session_says_it_in_korean(gone: Path) -> None:
    done = run_hook(
        *("session-start", "--client", "claude-code", "--lang", "ko"),
        given=claude("SessionStart", gone, source="startup"),
        cwd=gone,
        environment=environment_of(gone.parent / "state"),
    )
    carry_out(done.text, WAY_BACK_IN_KOREAN)
    assert (gone / LOG).is_file()


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("client", "given"),
    [
        ("claude-code", lambda root: claude("SessionStart", root, source="startup")),
        ("codex", lambda root: codex("SessionStart", root, source="startup")),
        ("gemini", lambda root: gemini("SessionStart", root, source="startup")),
        ("cursor", lambda root: cursor("sessionStart", root)),
    ],
)
def test_the_start_says_it_to_every_client(
    gone: Path, client: str, given: Callable[[Path], dict[str, Any]]
) -> None:
    done = hooked(gone, "session-start", given(gone), client)
    assert (done.code, done.errors) == (0, "")
    assert SAVED in done.out


@pytest.mark.long  # it costs much
def test_later_events_are_silent_and_remind_nobody_to_save(gone: Path) -> None:
    before = files_in(gone)
    events = [
        ("before-action", claude_edit(gone, "src/pay/refund.py")),
        ("prompt", claude("UserPromptSubmit", gone, prompt="mend the refund of one order")),
        ("stop", claude("Stop", gone)),
    ]
    for event, given in events:
        done = hooked(gone, event, given)
        assert (done.code, done.out, done.errors) == (0, "", "")
    assert files_in(gone) == before


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
