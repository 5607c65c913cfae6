"""Tests what the start of a session reads of the work at hand, for the lessons near to it."""

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from commands.hook import start as reader
from commands.hook.start import work_at_hand
from core.lessons.task import MOST_FILES, Work
from tests.support.cli_process import without_settings
from tests.support.costly import one_in
from tests.support.git_clones import commit, git, new_project, store_of
from tests.support.samples import LATER, a_draft
from tests.support.tables import table

LAST = (("Refund in cents", ("src/환불.py",)), ("memory", ("README",)))
WORK = table("commands/hook")["work"]  # what is done, and then what is told


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
    """Carry out one step of a row."""
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
def test_what_git_cannot_tell_and_what_it_does_not_know_is_left_out(
    state: str, project: Path
) -> None:
    commit_id = git(project, "rev-parse", "HEAD").strip()
    head = f".git/objects/{commit_id[:2]}/{commit_id[2:]}"
    *steps, expected = WORK[state]
    for step in steps:
        bring(project, *(head if it == "HEAD" else it for it in step))
    expected["changed"] = tuple(expected.get("changed", ()))
    expected["commits"] = LAST if expected.pop("commits", False) else ()
    assert work_at_hand(project) == Work(**expected)


@pytest.mark.long  # it costs much
def test_five_commits_are_shown_no_merge_and_no_changes_of_a_copied_tree(project: Path) -> None:
    for at in range(5):
        commit(project, str(at))
    git(project, "checkout", "--quiet", "-b", "other", "HEAD~1")
    commit(project, "beside")
    git(project, "merge", "--quiet", "--no-ff", "-m", "merged", "fix/refund")
    subjects = sorted(subject for subject, _ in work_at_hand(project).commits)
    assert subjects == ["1", "2", "3", "4", "beside"]
    for at in range(MOST_FILES + 1):
        write(project, f"many/{at}", "1\n")
    commit(project, "many")
    for path in (project / "many").iterdir():
        os.utime(path, (1, 1))
    assert work_at_hand(project).changed == ()


def test_a_project_below_the_top_and_a_work_tree_show_theirs(project: Path, tmp_path: Path) -> None:
    git(project, "worktree", "add", "--quiet", "-b", "beside", str(tmp_path / "tree"))
    write(project, "src/환불.py", "1 + 1\n")
    work = work_at_hand(project / "src")
    assert (work.changed, work.commits[0][1]) == (("환불.py",), ("환불.py",))
    assert work_at_hand(tmp_path / "tree") == Work(branch="beside", commits=LAST)


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
