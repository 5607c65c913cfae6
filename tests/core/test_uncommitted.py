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


LOG = ".context/memory_log.jsonl"


def untracked(project: Path) -> None:
    git(project, "rm", "--quiet", "--cached", LOG)
    git(project, "commit", "--quiet", "--message", "forget the log")


def anew(project: Path, *options: str) -> None:
    shutil.rmtree(project / ".git")
    git(project, "init", "--quiet", *options)


def of_windows(project: Path) -> None:
    """The lines end as an editor there leaves them; git takes them up as they were."""
    path_of(project).write_bytes(path_of(project).read_bytes().replace(b"\n", b"\r\n"))


Change = Callable[[Path], object]
STATES: dict[str, tuple[list[Change], bool]] = {
    "committed": ([], False),
    "saved": ([save("three")], True),
    "only less": ([delete("one")], True),
    "staged": ([save("three"), lambda it: git(it, "add", "--all")], True),
    "untracked": ([untracked], True),
    "ignored": ([lambda it: (it / ".gitignore").write_text(".context/\n"), untracked], False),
    "other line ends": ([of_windows], False),
    "no commit yet": ([anew], True),
    "sha256": ([lambda it: anew(it, "--object-format=sha256"), commit], False),
    "detached": ([lambda it: git(it, "checkout", "--quiet", "--detach")], False),
}


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(("changes", "expected"), STATES.values(), ids=STATES)
def test_it_is_whether_git_would_have_something_to_commit(
    changes: list[Change], expected: bool, project: Path
) -> None:
    for change in changes:
        change(project)
    found = asked(project)
    git(project, "add", "--all")
    status = git(project, "status", "--porcelain", "--", LOG)
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


def _lose(project: Path, revision: str) -> None:
    name = git(project, "rev-parse", revision).strip()
    (project / ".git" / "objects" / name[:2] / name[2:]).unlink()


DAMAGES: dict[str, Change] = {
    "no repository": lambda it: shutil.rmtree(it / ".git"),
    "no head": lambda it: (it / ".git/HEAD").write_text("nonsense\n"),
    "a torn branch": lambda it: (it / ".git/refs/heads/main").write_text("nonsense\n"),
    "no commit": lambda it: _lose(it, "HEAD"),
    "no tree": lambda it: _lose(it, "HEAD^{tree}"),
    "a filter": lambda it: (it / ".gitattributes").write_text("*.jsonl filter=lfs\n"),
}


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_nothing_is_said_where_git_cannot_tell(damage: Change, project: Path) -> None:
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
