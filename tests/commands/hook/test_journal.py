"""Tests the notes of hooks about a session, and the work at hand that its start reads."""

import json
import os
import shlex
import shutil
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest

from commands.hook import start as reader
from commands.hook.journal import KEPT_DAYS, Session, forget_old_sessions, open_session, sessions_in
from commands.hook.start import work_in
from core.config import state_directory
from core.lessons.task import MOST_FILES, Work
from tests.support.cli_process import without_settings
from tests.support.costly import one_in
from tests.support.git_clones import commit, git, new_project, store_of
from tests.support.samples import LATER, a_draft
from tests.support.tables import none_of, table

DAY_S = 86_400


@pytest.fixture
def directory(tmp_path: Path) -> str:
    return str(tmp_path / "state" / "shop-1")


def test_a_noted_event_is_there_for_the_next_hook_without_empty_facts(directory: str) -> None:
    session = open_session(directory, "s")
    assert (session.events, os.path.exists(directory)) == ([], False)
    before = session.note("before-action", agent="", shown=["a@1"], changed=True, tokens=0)
    assert before == session
    (event,) = open_session(directory, "s").events
    assert isinstance(event.pop("at"), int)
    assert event == {"event": "before-action", "shown": ["a@1"], "changed": True}
    session.note("stop", agent="가\n\ud800")
    _, line = Path(session.path).read_bytes().strip().split(b"\n\n")
    assert line.isascii() and json.loads(line)["agent"] == "가\n\ud800"


def test_nobody_else_may_read_the_file(directory: str) -> None:
    session = open_session(directory, "s")
    session.note("stop")
    assert os.stat(directory).st_mode & 0o777 == 0o700
    assert os.stat(session.path).st_mode & 0o777 == 0o600


def test_of_two_that_note_the_same_only_the_first_finds_it_missing(directory: str) -> None:
    one, other = open_session(directory, "s"), open_session(directory, "s")
    assert not one.note("stop", reminded=True).has_noted("reminded")
    assert other.note("stop", reminded=True).has_noted("reminded")
    with open(one.path, "ab") as file:  # lines that are no events are passed over
        file.write(b'\xff\n[]\n{"at": "x", "event": "stop"}\n{"at": 1, "event": 2}\n')
        file.write(b'{"at": 1, "event": "stop", "shown": "all"}\n' + b"[" * 100_000 + b"\n")
        file.write(b'{"at": 5, "event": "stop", "shown": [1, null, "a@1"], "agent": ["x"]}\n{"at"')
    one.note("prompt")  # behind a torn line
    session = open_session(directory, "s")
    assert [event["at"] == 5 for event in session.events] == [False, False, True, False]
    assert session.shown_versions("") == set()


def test_sessions_without_an_id_are_told_apart_by_their_beginning(directory: str) -> None:
    def noted(event: str, **facts: object) -> Session:
        open_session(directory, "").note(event, **facts)
        return open_session(directory, "")

    of_an_older_version = {"withheld": ["x@1"], "triggered": ["y@1"]}  # which says nothing now
    first = noted("before-action", shown=["a@1"], reminded=True, **of_an_older_version)
    assert first.shown_versions("") == {"a@1"}
    noted("session-start")
    noted("before-action", shown=["b@1"])
    session = noted("session-start", agent="x")
    assert (session.shown_versions(""), session.has_noted("reminded")) == ({"b@1"}, False)
    assert [len(it.events) for it in sessions_in(directory)] == [1, 3]


def test_an_id_becomes_the_name_of_a_file_in_the_directory(directory: str) -> None:
    names = {
        "5f3c-9a1e": "5f3c-9a1e",
        "../../etc/passwd": f"etc-passwd-{zlib.crc32(b'../../etc/passwd'):08x}",
        "..": f"-{zlib.crc32(b'..'):08x}",
        "가": f"-{zlib.crc32('가'.encode()):08x}",
        "\ud800": f"-{zlib.crc32(b'?'):08x}",
        "x" * 500: f"{'x' * 60}-{zlib.crc32(b'x' * 500):08x}",
    }
    none_of(
        session
        for session, name in names.items()
        if open_session(directory, session).path != os.path.join(directory, f"{name}.jsonl")
    )


def test_the_oldest_are_listed_first_and_removed_when_untouched_for_long(directory: str) -> None:
    paths = [Path(directory, f"{name}.jsonl") for name in ("b", "a", "new")]
    for at, path in enumerate(paths):
        open_session(directory, path.stem).note("stop")
        if path.stem != "new":
            os.utime(path, (at, at))
    for name in ("notes.txt", "surroundings.json.7.tmp"):  # of a stranger, of a killed hook
        Path(directory, name).write_text("mine")
        os.utime(Path(directory, name), (1, 1))
    assert [Path(it.path) for it in sessions_in(directory)] == paths
    recent_s = paths[-1].stat().st_mtime - (KEPT_DAYS - 1) * DAY_S
    os.utime(paths[-1], (recent_s, recent_s))
    forget_old_sessions(directory)
    assert sorted(os.listdir(directory)) == ["new.jsonl", "notes.txt"]


def test_where_there_is_no_directory_there_are_no_sessions() -> None:
    for directory in ("", "/nonexistent/sessions"):
        assert list(sessions_in(directory)) == []
        forget_old_sessions(directory)
    assert open_session("", "s") == Session("")
    with pytest.raises(OSError):
        open_session("", "s").note("stop")


def test_each_system_has_its_place_for_the_state_and_a_link_leads_to_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", "/home/dev")
    project = tmp_path / "결제 shop"
    project.mkdir()
    (tmp_path / "link").symlink_to(project)
    changed = f"shop-{zlib.crc32('결제 shop'.encode()):08x}"
    ours = f"{changed}-{zlib.crc32(os.path.realpath(project).encode()):08x}"
    for platform, environment, base in table("commands/journal")["places"]:
        for path in (project, tmp_path / "link"):
            assert state_directory(str(path), environment, platform) == f"{base}/{ours}"
    monkeypatch.setenv("HOME", "nowhere")
    assert state_directory("/shop", {}) == ""


# The work at hand, for the lessons near to it.

LAST = (("Refund in cents", ("src/환불.py",)), ("memory", ("README",)))
WORK = table("commands/hook")["work"]  # the changes, and then the work that is read


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """On a machine with nobody's settings, and as much time as a busy one needs."""
    without_settings(monkeypatch)
    monkeypatch.setattr(reader, "WAIT_S", 60)
    project = new_project(tmp_path / "shop", "one")
    write(project, "src/환불.py", "1\n")
    commit(project, "Refund in cents")
    git(project, "checkout", "--quiet", "-b", "fix/refund")
    return project


def write(project: Path, path: str, text: str) -> None:
    (project / path).parent.mkdir(parents=True, exist_ok=True)
    (project / path).write_text(text, encoding="utf-8", newline="\n")


def bring(project: Path, verb: str, *words: Any) -> None:
    path = project / str(words[0])
    if verb == "file":
        write(project, *words)
    elif verb == "git":
        git(project, *words)
    elif verb == "logged":
        store_of(project, LATER).upsert_log(a_draft(**words[0]))
    elif path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


@pytest.mark.parametrize("state", one_in(8, WORK))
def test_a_fact_that_git_cannot_tell_or_does_not_know_is_left_out(
    state: str, project: Path
) -> None:
    commit_id = git(project, "rev-parse", "HEAD").strip()
    head = f".git/objects/{commit_id[:2]}/{commit_id[2:]}"
    *steps, expected = WORK[state]
    for step in steps:
        bring(project, *(head if it == "HEAD" else it for it in step))
    expected["changed_files"] = tuple(expected.get("changed_files", ()))
    expected["commits"] = LAST if expected.pop("commits", False) else ()
    assert work_in(project) == Work(**expected)


@pytest.mark.long  # it costs much
def test_five_commits_are_shown_no_merge_and_no_changes_of_a_copied_tree(project: Path) -> None:
    for at in range(5):
        commit(project, str(at))
    git(project, "checkout", "--quiet", "-b", "other", "HEAD~1")
    commit(project, "beside")
    git(project, "merge", "--quiet", "--no-ff", "-m", "merged", "fix/refund")
    subjects = sorted(subject for subject, _ in work_in(project).commits)
    assert subjects == ["1", "2", "3", "4", "beside"]
    for at in range(MOST_FILES + 1):
        write(project, f"many/{at}", "1\n")
    commit(project, "many")
    for path in (project / "many").iterdir():
        os.utime(path, (1, 1))
    assert work_in(project).changed_files == ()


def test_a_project_below_the_top_and_a_work_tree_show_theirs(project: Path, tmp_path: Path) -> None:
    git(project, "worktree", "add", "--quiet", "-b", "beside", str(tmp_path / "tree"))
    write(project, "src/환불.py", "1 + 1\n")
    work = work_in(project / "src")
    assert (work.changed_files, work.commits[0][1]) == (("환불.py",), ("환불.py",))
    assert work_in(tmp_path / "tree") == Work(branch="beside", commits=LAST)


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
    assert work_in(project) == Work()
    assert not waited.exists()
