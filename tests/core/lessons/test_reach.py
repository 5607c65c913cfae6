"""Tests what the anchors of a lesson reach in a project."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from commands.clients.table import CLIENTS
from core import git as call
from core.git import RULES, files_with
from core.lessons.anchors import matches
from core.lessons.reach import paths_nowhere, reach_of
from tests.support.cli_process import without_settings
from tests.support.git_clones import commit, git, new_project, run_git, slow_git

COMMON = "import logging"


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's settings, and as much time as a busy machine needs."""
    without_settings(monkeypatch)
    monkeypatch.setattr(call, "WAIT_S", 60)


def add(project: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    commit(project)
    return project


def kept(pieces: list[str], project: Path, known: Sequence[str] = (), *paths: str) -> list[str]:
    """The triggers of these that a save keeps."""
    return [*reach_of(paths, pieces, project, known).triggers]


def counted(pieces: list[str], project: Path) -> tuple[list[int], int]:
    """In how many tracked files each piece stands, and how many there are."""
    found, tracked = files_with(pieces, project)
    return [*map(len, found)], tracked


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A project of ten files; one piece stands in nine of them."""
    texts = {f"src/{at}.py": f"{COMMON}\n" for at in range(9)}
    return add(new_project(tmp_path / "made", "one"), texts)


def test_only_tracked_files_count_and_no_rules_of_clients(made: Path, tmp_path: Path) -> None:
    assert counted([COMMON, "import.logging"], made / "src") == ([9, 0], 9)
    known = [COMMON, *(f"call{at}(" for at in range(8))]
    assert kept(known, made, known) == known
    assert kept([COMMON], made) == []
    assert reach_of((), [*known[1:3], COMMON], made, known[1:]).common[0]["number"] == 3
    assert paths_nowhere(["gone.py"], made, []) == ()
    (made / "shelf").mkdir()
    assert counted([COMMON], made / "shelf") == ([0], 0)
    project = add(new_project(tmp_path / "shop", "one"), {"a.py": "call(x)\n"})
    (project / "b.py").write_text("call(x)\n")
    (project / "a.py").write_text("nothing\n")
    assert counted(["call(x)"], project) == ([1], 2)
    git(project, "branch", "other")
    add(project, {"a.py": "call(x) + 1\n"})
    git(project, "checkout", "--quiet", "other")
    add(project, {"a.py": "call(x) + 2\n"})
    assert run_git(project, "merge", "main").returncode
    assert len(git(project, "ls-files", "--unmerged").splitlines()) == 3
    assert counted(["call(x)"], project) == ([1], 3)  # of b.py; in conflict it holds nothing yet
    names = [name.replace("**", "x.md") for name in RULES]
    files = {f"{top}{name}": "call(x)\n" for top in ("", "web/") for name in names}
    other = add(new_project(tmp_path / "rules", "one"), files)
    assert counted(["call(x)", "one"], other) == ([0, 0], 1)
    rules = [it.rules for it in CLIENTS if it.rules]
    read = {name for it in rules for name in (*it.reads, *it.homes, it.instead) if name}
    assert [name for name in read if not any(matches(rule, name) for rule in RULES)] == []


def test_a_secret_is_given_to_no_other_program_and_where_git_cannot_tell_all_is_taken(
    made: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    secret = "ghp" + "_" + "a1B2c3D4e5" * 3 + "F6g7h8"
    asked: list[str] = []
    run = call.run

    def noted(*given: Any, **more: Any) -> Any:
        asked.extend(map(str, given))
        return run(*given, **more)

    monkeypatch.setattr(call, "run", noted)
    reach_of((), [f"token={secret}", COMMON], made)
    assert COMMON in asked
    assert not any(secret in it for it in asked)
    assert kept([COMMON], tmp_path) == [COMMON]
    slow = slow_git(tmp_path / "slow-git")  # by its own name no PATH finds it
    for wait_s, program in ((0, call.program), (0.3, lambda: str(slow))):
        with monkeypatch.context() as patch:
            patch.setattr(call, "WAIT_S", wait_s)
            patch.setattr(call, "program", program)
            assert kept([COMMON], made) == [COMMON]  # and not left out by a late answer
            assert reach_of(["gone.py"], (), made).nowhere == () or wait_s
    monkeypatch.setenv("PATH", str(tmp_path))
    assert kept([COMMON], made) == [COMMON]
