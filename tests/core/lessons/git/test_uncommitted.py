"""Tests whether the log is said to have changes that git has not committed, as git sees it."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from core import git as uncommitted
from core.git import is_uncommitted
from tests.support.cli_process import without_settings
from tests.support.git_clones import (
    commit,
    copied,
    delete,
    git,
    new_project,
    path_of,
    save,
    slow_git,
)
from tests.support.hostile_repository import Traps, make_project, poison
from tests.support.hostile_settings import GROUPS

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
posix = pytest.mark.skipif(os.name == "nt", reason="scripts of a shell")


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's settings, and as much time as a busy machine needs."""
    without_settings(monkeypatch)
    monkeypatch.setattr(uncommitted, "WAIT_S", 60)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return new_project(tmp_path / "shop", "one", "two")


def asked(project: Path) -> bool:
    return is_uncommitted(path_of(project), path_of(project).read_bytes)


def staged(project: Path) -> None:
    save("three")(project)
    git(project, "add", "--all")


def untracked(project: Path) -> None:
    git(project, "rm", "--quiet", "--cached", ".context/memory_log.jsonl")
    git(project, "commit", "--quiet", "--message", "forget the log")


def ignored(project: Path) -> None:
    (project / ".gitignore").write_text(".context/\n")
    untracked(project)


def amid_windows(project: Path) -> None:
    """The lines end as an editor there leaves them; git takes them up as they were."""
    path_of(project).write_bytes(path_of(project).read_bytes().replace(b"\n", b"\r\n"))


def unborn(project: Path) -> None:
    shutil.rmtree(project / ".git")
    git(project, "init", "--quiet")


def of_sha256(project: Path) -> None:
    shutil.rmtree(project / ".git")
    git(project, "init", "--quiet", "--object-format=sha256")
    commit(project)


def detached(project: Path) -> None:
    git(project, "checkout", "--quiet", "--detach")


STATES: dict[str, tuple[Callable[[Path], object], bool]] = {
    "committed": (bool, False),
    "saved": (save("three"), True),
    "only less": (delete("one"), True),
    "staged": (staged, True),
    "untracked": (untracked, True),
    "ignored": (ignored, False),
    "other line ends": (amid_windows, False),
    "no commit yet": (unborn, True),
    "sha256": (of_sha256, False),
    "detached": (detached, False),
}


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("state", STATES)
def test_it_is_whether_git_would_have_something_to_commit(state: str, project: Path) -> None:
    change, expected = STATES[state]
    change(project)
    found = asked(project)
    git(project, "add", "--all")
    status = git(project, "status", "--porcelain", "--", ".context/memory_log.jsonl")
    assert (found, bool(status)) == (expected, expected)


@pytest.mark.long  # it costs much
def test_a_log_below_the_top_and_one_in_a_linked_work_tree_are_found(
    project: Path, tmp_path: Path
) -> None:
    below = project / "가게 [a]"
    save("three")(below)
    assert asked(below)
    commit(project)
    assert not asked(below)
    git(project, "worktree", "add", "--quiet", str(tmp_path / "tree"))
    assert not asked(tmp_path / "tree")
    save("four")(tmp_path / "tree")
    assert (asked(tmp_path / "tree"), asked(project)) == (True, False)


@posix
def test_a_log_that_is_a_link_is_that_of_the_repository_it_leads_to(
    project: Path, tmp_path: Path
) -> None:
    other = new_project(tmp_path / "other", "another")
    path_of(project).unlink()
    path_of(project).symlink_to(path_of(other))
    assert not asked(project)
    save("more")(other)
    assert asked(project)


# Where nobody can tell.


def without_repository(project: Path) -> None:
    shutil.rmtree(project / ".git")


def without_head(project: Path) -> None:
    (project / ".git" / "HEAD").write_text("nonsense\n")


def with_a_torn_branch(project: Path) -> None:
    (project / ".git" / "refs" / "heads" / "main").write_text("nonsense\n")


def without_the_commit(project: Path) -> None:
    _lose(project, "HEAD")


def without_the_tree(project: Path) -> None:
    _lose(project, "HEAD^{tree}")


def _lose(project: Path, revision: str) -> None:
    name = git(project, "rev-parse", revision).strip()
    (project / ".git" / "objects" / name[:2] / name[2:]).unlink()


def with_a_filter(project: Path) -> None:
    (project / ".gitattributes").write_text("*.jsonl filter=lfs\n")


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    "damage",
    [
        without_repository,
        without_head,
        with_a_torn_branch,
        without_the_commit,
        without_the_tree,
        with_a_filter,
    ],
)
def test_nothing_is_said_where_git_cannot_tell(
    damage: Callable[[Path], None], project: Path
) -> None:
    save("three")(project)
    assert asked(project)
    damage(project)
    assert not asked(project)


def test_nothing_is_said_without_git(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save("three")(project)
    monkeypatch.setenv("PATH", "")
    assert not asked(project)


@posix
def test_a_git_that_does_not_answer_is_not_waited_for(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save("three")(project)
    slow_git(tmp_path / "git")
    monkeypatch.setenv("PATH", os.pathsep.join((str(tmp_path), os.environ["PATH"])))
    monkeypatch.setattr(uncommitted, "WAIT_S", 0.2)
    assert not asked(project)  # the late answer says otherwise


@pytest.mark.long  # it costs much
@posix
@pytest.mark.parametrize("filtered", [True, False])
@pytest.mark.parametrize("group", GROUPS)
def test_no_setting_of_the_repository_starts_a_program(
    group: str, filtered: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_project(tmp_path / "made")
    project, traps = copied(made, tmp_path / "shop"), Traps(tmp_path / "traps")
    monkeypatch.setenv("PATH", os.pathsep.join((str(traps.here / "programs"), os.environ["PATH"])))
    if not filtered:
        for path in (".gitattributes", ".git/info/attributes"):
            (project / path).write_text("")
    save("five")(project)
    poison(project, traps, GROUPS[group], made)
    assert asked(project) == (not filtered)
    assert traps.taken() == set()
