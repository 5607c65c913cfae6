"""Tests what is read of the work in a project, and that reading it starts no program."""

import os
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from commands.hook import work_at_hand as reader
from commands.hook.work_at_hand import work_at_hand
from core.lessons.task import MOST_FILES, Work
from tests.support.cli_process import without_settings
from tests.support.git_clones import commit, git, new_project, save

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
