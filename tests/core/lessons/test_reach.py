"""Tests what the anchors of a lesson reach in a project."""

import shutil
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
from tests.support.sentences import in_language

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")

TRACKED = 200  # with the attributes of the project
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


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of 200 files: one piece stands in 6 of them, one in 7, one in all."""
    texts = {
        f"src/{at}.py": f"{COMMON}\n" + "six(x)\n" * (at < 6) + "seven(x)\n" * (at < 7)
        for at in range(TRACKED - 1)
    }
    return add(new_project(tmp_path_factory.mktemp("made") / "shop", "one"), texts)


@pytest.mark.long  # it costs much
def test_a_piece_in_many_tracked_files_is_left_out_and_a_path_of_no_file_named(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert kept([" six(x)", "nowhere("], made) == ["six(x)", "nowhere("]
    reach = reach_of((), ["six(x)", "seven(x)", COMMON], made)
    assert reach.triggers == ("six(x)",)
    assert [it["number"] for it in reach.common] == [2, 3]
    assert reach.notes[0].startswith(
        "Piece 2 of when is left out: it occurs in 7 of 200 tracked files beyond the lesson's paths"
    )
    notes = in_language("ko", lambda: reach.notes)
    assert "git이 추적하는 파일 200개 가운데 lesson의 paths 밖에 있는 7개" in notes[0]
    assert not any("seven" in note for note in reach.notes)
    (made / ".git" / "info").mkdir(exist_ok=True)
    (made / ".git" / "info" / "exclude").write_text("built/\n")
    for name in ("new/draft.py", "built/a.js"):
        (made / name).parent.mkdir(exist_ok=True)
        (made / name).write_text("")
    there = ["src/1.py", "src/", "*.py", "**/1?.py", "new/*.py", "src", "built/*.js", "built/a.js"]
    gone = ["src/refund.py", "web/**", "src/*.ts", "refund.py"]
    assert reach_of([*there, *gone], (), made).nowhere == tuple(gone)
    [note] = reach_of(["src/1.py", "src/refund.py:42"], (), made).notes
    assert note.startswith("No file of the project matches src/refund.py in paths.")
    assert paths_nowhere(gone, made, []) == ()
    monkeypatch.setattr(call, "WAIT_S", 0)
    assert reach_of(gone, (), made).nowhere == ()


def test_a_piece_is_literal_and_may_be_common_within_the_paths(made: Path, tmp_path: Path) -> None:
    assert kept([COMMON], made, (), "src/**") == [COMMON]
    assert kept([COMMON, "seven(x)"], made, (), "src/1*.py", "src/0.py") == ["seven(x)"]
    known = [COMMON, *(f"call{at}(" for at in range(8))]
    assert kept(known, made, known) == known
    assert reach_of((), [*known[:3], "seven(x)"], made, known).common[0]["number"] == 4
    pieces = ["six(x)", "Six(x)", "six.x.", "s.x(x)", "-six(x)", "--help"]
    assert counted(pieces, made) == ([6, 0, 0, 0, 0, 0], TRACKED)
    files = {f"{at}.py": "three(x)\n" * (at < 3) + "four(x)\n" * (at < 4) for at in range(9)}
    small = add(new_project(tmp_path / "shop", "one"), files)
    assert kept(["three(x)", "four(x)"], small) == ["three(x)"]


def test_only_tracked_files_count_and_no_rules_of_clients(made: Path, tmp_path: Path) -> None:
    assert counted([COMMON], made / "src") == ([TRACKED - 1], TRACKED - 1)
    (made / "shelf").mkdir(exist_ok=True)
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
    reach_of((), [f"token={secret}", "six(x)"], made)
    assert "six(x)" in asked
    assert not any(secret in it for it in asked)
    assert kept([COMMON], tmp_path) == [COMMON]
    slow = slow_git(tmp_path / "slow-git")  # by its own name no PATH finds it
    for wait_s, program in ((0, call.program), (0.3, lambda: str(slow))):
        with monkeypatch.context() as patch:
            patch.setattr(call, "WAIT_S", wait_s)
            patch.setattr(call, "program", program)
            assert kept([COMMON], made) == [COMMON]  # and not left out by a late answer
    monkeypatch.setenv("PATH", str(tmp_path))
    assert kept([COMMON], made) == [COMMON]
