"""Tests the choice of a folder's repository, how git is called in it, and the answers of git.

Whether the log has changes that git has not committed is told as git sees it.
"""

import os
import shutil
import sys
import time
from pathlib import Path

import pytest

from core import git as call
from core.git import HistoryError, Repository, WorkTree, files_with, is_uncommitted
from tests.support.cli_process import without_settings
from tests.support.git_clones import commit, copied, git, new_project, path_of, save, slow_git
from tests.support.hostile_repository import GROUPS, Traps, make_project, poison


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's settings, and as much time as a busy machine needs."""
    without_settings(monkeypatch)
    monkeypatch.setattr(call, "WAIT_S", 60)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with two versions of a log."""
    project = new_project(tmp_path / "shop", "one")
    save("two")(project)
    commit(project, "two")
    return project


def asked(project: Path) -> bool:
    return is_uncommitted(path_of(project), path_of(project).read_bytes)


def reason(folder: Path) -> tuple[str, str]:
    """Why a folder is in no work tree: the key of the sentence, and the reason by git."""
    with pytest.raises(HistoryError) as caught:
        WorkTree(folder)
    return caught.value.key, str(caught.value.facts.get("reason", ""))


# Repositories that are not the user's.


@pytest.mark.parametrize("value", ["*", "{project}"])
def test_a_git_directory_that_git_refuses_is_none_unless_the_user_says_that_it_is_safe(
    project: Path, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(call._SET_VARIABLES, "GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    key, said = reason(project / ".context")  # nor is one further up taken
    assert (key, "dubious ownership" in said) == ("git_failed", True)
    safe = value.format(project=project)
    given = {"COUNT": "2", "KEY_0": "core.bare", "VALUE_0": "true"}
    for name, it in (given | {"KEY_1": "safe.directory", "VALUE_1": safe}).items():
        monkeypatch.setenv(f"GIT_CONFIG_{name}", it)
    assert WorkTree(project).top == project
    monkeypatch.delenv("GIT_CONFIG_KEY_0")
    (tmp_path / "config").write_text(f"[safe]\n\tdirectory = {safe}\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    assert WorkTree(project).top == project


# How git is called.


def test_git_is_not_taken_from_the_current_directory_and_sees_only_the_users_settings(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("GIT_DIR", "GIT_TRACE2_EVENT", "GIT_SSH_COMMAND", "GIT_CONFIG_PARAMETERS"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", "kept")
    seen = {name for name in call.build_environment() if name.startswith("GIT_")}
    config = {"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"}
    assert seen - call._SET_VARIABLES.keys() - {"GIT_CEILING_DIRECTORIES"} == config
    for folder in (tmp_path, tmp_path / "bin"):
        folder.mkdir(exist_ok=True)
        shutil.copy(sys.executable, folder / "git")
    monkeypatch.chdir(tmp_path)
    for entry in ("", ".", "bin"):
        monkeypatch.setenv("PATH", entry)
        assert call.find_git() == ""
        with pytest.raises(HistoryError) as caught:
            WorkTree(tmp_path)
        assert caught.value.key == "no_git"
    monkeypatch.setenv("PATH", os.pathsep.join(("", ".", str(tmp_path / "bin"))))
    assert call.find_git() == str(tmp_path / "bin" / "git")


# Whether the log has changes that are not committed.


@pytest.mark.long  # it costs much
def test_a_log_below_an_odd_top_in_a_linked_tree_or_behind_a_link_is_asked_about_where_it_is(
    project: Path, tmp_path: Path
) -> None:
    below, tree = project / "가게 [a]", tmp_path / "상점\n2"
    save("three")(below)
    assert asked(below)
    commit(project)
    assert not asked(below)
    git(project, "worktree", "add", "--quiet", "-b", "tree", str(tree))
    assert (WorkTree(tree / ".context").top, WorkTree(tree).prefix) == (tree, "")
    assert not asked(tree)
    path_of(below).unlink()
    path_of(below).symlink_to(path_of(tree))
    assert not asked(below)
    save("four")(tree)
    assert (asked(tree), asked(below), asked(project)) == (True, True, False)


def test_git_is_asked_no_longer_than_wanted_and_without_it_nothing_is_said(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save("three")(project)
    with monkeypatch.context() as patch:
        patch.setenv("PATH", "")
        assert not asked(project)
    with pytest.raises(HistoryError, match=r"did not answer within 0 s"):
        WorkTree(project, deadline_s=time.monotonic())
    repository = Repository(path_of(project))
    slow_git(tmp_path / "git")
    monkeypatch.setenv("PATH", os.pathsep.join((str(tmp_path), os.environ["PATH"])))
    with monkeypatch.context() as patch:
        patch.setattr(call, "WAIT_S", 0.2)
        assert not asked(project)  # the late answer says otherwise
    monkeypatch.setattr(call, "TIMEOUT_S", 0)
    with pytest.raises(HistoryError, match=r"answer within 0 s"):
        next(repository.read_contents(["0" * 40]))


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("filtered", [True, False])
@pytest.mark.parametrize("group", GROUPS)
def test_no_setting_of_the_repository_starts_a_program_or_changes_a_count(
    group: str, filtered: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_project(tmp_path / "made")
    project, traps = copied(made, tmp_path / "shop"), Traps(tmp_path / "traps")
    monkeypatch.setenv("PATH", os.pathsep.join((str(traps.here / "programs"), os.environ["PATH"])))
    if not filtered:
        for path in (".gitattributes", ".git/info/attributes"):
            (project / path).write_text("")
    save("five")(project)
    before = files_with(["2", "x"], project)
    poison(project, traps, GROUPS[group], made)
    assert asked(project) == (not filtered)
    assert files_with(["2", "x"], project) == before
    assert traps.taken() == set()
