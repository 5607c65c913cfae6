"""Tests how commits are read: each hunk as it was made, and nothing without an end."""

import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from commands.hook.commits import MOST_HUNK_CHARS, MOST_HUNKS, Commit, commits_of
from core.git import HistoryError
from tests.support.git_clones import commit, git, new_project, run_git


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return new_project(tmp_path / "shop", "VAT differs by country")


def changed(project: Path, subject: str, **files: str) -> None:
    """A commit that gives these files these texts; `__` in a name stands for a dot."""
    for name, text in files.items():
        (project / name.replace("__", ".")).write_text(text, encoding="utf-8", newline="\n")
    commit(project, subject)


def commits(project: Path, *options: str) -> list[Commit]:
    return list(commits_of(project, *options, deadline_s=time.monotonic() + 60))


def test_each_hunk_has_its_lines_before_and_after_the_change(project: Path) -> None:
    lines = [f"line {at}\n" for at in range(30)]
    changed(project, "begin", pay__py="".join(lines))
    lines[2], lines[25] = "second\n", "--- late\n"
    changed(project, "Fix: both", pay__py="".join(lines))
    last, first = commits(project)
    assert (first.subject, last.subject) == ("begin", "Fix: both")
    assert [it.path for it in (*first.hunks, *last.hunks)] == ["pay.py"] * 3
    assert last.hunks[0].lines == (
        *(" line 0", " line 1", "-line 2", "+second", " line 3", " line 4", " line 5"),
    )
    assert [hunk.removed for hunk in last.hunks] == ["line 2", "line 25"]
    assert [hunk.added for hunk in last.hunks] == ["second", "--- late"]


def test_the_memory_a_rename_a_deletion_and_a_merge_are_no_work(project: Path) -> None:
    changed(project, "begin", old__py="one\ntwo\nthree\n")
    git(project, "checkout", "--quiet", "-b", "side")
    changed(project, "side", side__py="side\n")
    git(project, "checkout", "--quiet", "main")
    git(project, "mv", "old.py", "new.py")
    (project / ".context" / "memory_log.jsonl").write_text("{}\n")
    commit(project, "move")
    git(project, "rm", "--quiet", "README")
    commit(project, "remove")
    git(project, "merge", "--quiet", "--no-edit", "side")
    found = commits(project)
    assert {it.subject: [hunk.path for hunk in it.hunks] for it in found if it.hunks} == {
        "begin": ["old.py"],
        "side": ["side.py"],
    }


def test_a_name_may_hold_anything(project: Path) -> None:
    names = [
        "결제 모듈.py",
        "a b.py",
        'quote".py',
        "back\\slash.py",
        "tab\there.py",
        "line\nend.py",
    ]
    for name in names:
        (project / name).write_text("x\n")
    commit(project, "names")
    assert sorted(hunk.path for hunk in commits(project)[0].hunks) == sorted(names)


def test_a_project_below_the_top_has_its_own_files_by_their_names_there(project: Path) -> None:
    (project / "shop").mkdir()
    (project / "shop" / "pay.py").write_text("x\n")
    changed(project, "both", other__py="x\n")
    assert [hunk.path for it in commits(project / "shop") for hunk in it.hunks] == ["pay.py"]


@pytest.mark.long  # it costs much
def test_settings_of_the_repository_do_not_change_what_is_read(project: Path) -> None:
    changed(project, "begin", pay__py="a\n\n\nb\n")
    changed(project, "change", pay__py="a\n\n\nc\n")
    before = commits(project)
    for name, value in {
        "diff.noprefix": "true",
        "diff.mnemonicPrefix": "true",
        "diff.suppressBlankEmpty": "true",
        "diff.context": "0",
        "diff.wordRegex": ".",
        "color.ui": "always",
        "log.date": "relative",
        "log.abbrevCommit": "true",
        "format.pretty": "oneline",
        "log.decorate": "full",
        "diff.submodule": "log",
        "diff.renames": "false",
        "diff.external": "false",
    }.items():
        git(project, "config", name, value)
    after = commits(project)
    assert [[hunk.path for hunk in it.hunks] for it in after] == [["pay.py"], ["pay.py"]]
    assert [(hunk.removed, hunk.added) for it in after for hunk in it.hunks] == [
        (hunk.removed, hunk.added) for it in before for hunk in it.hunks
    ]


@pytest.mark.long  # it costs much
def test_of_what_is_huge_the_beginning_is_read(project: Path) -> None:
    many = {f"f{at}__py": "x\n" for at in range(MOST_HUNKS + 20)}
    changed(project, "many", **many)
    changed(project, "wide", f0__py="y" * 1_000_000 + "\n")
    changed(project, "long", f1__py="z" * 99 + "\n" + "z\n" * 200_000)
    changed(project, "after", f2__py="after\n")
    after, long, wide, many_files = commits(project)
    assert [len(it.hunks) for it in (after, long, wide, many_files)] == [1, 1, 1, MOST_HUNKS]
    assert max(len(it.hunks[0].added) for it in (long, wide)) <= 2 * MOST_HUNK_CHARS
    assert after.hunks[0].added == "after"


def test_what_is_no_text_is_no_hunk(project: Path) -> None:
    (project / "logo.png").write_bytes(bytes(range(256)))
    commit(project, "logo")
    assert [it.hunks for it in commits(project)] == [()]


def test_the_commit_at_which_a_shallow_clone_begins_is_not_taken_for_its_work(
    project: Path, tmp_path: Path
) -> None:
    changed(project, "one", pay__py="1\n")
    changed(project, "two", pay__py="2\n")
    changed(project, "three", pay__py="3\n")
    git(tmp_path, "clone", "--quiet", "--depth=2", project.as_uri(), "cut")
    assert [it.subject for it in commits(tmp_path / "cut")] == ["three"]


@pytest.mark.long  # its deadline passes while it runs
def test_when_the_time_is_over_the_rest_is_not_read(project: Path) -> None:
    for at in range(3):
        changed(project, f"{at}", pay__py=f"{at}\n" * 100_000)  # more than a pipe holds
    found = []
    for commit_read in commits_of(project, deadline_s=time.monotonic() + 10):
        found.append(commit_read.subject)
        time.sleep(11)
    assert found[0] == "2" and "0" not in found


@pytest.mark.long  # it costs much
def test_a_reader_that_stops_leaves_no_process(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for at in range(3):
        changed(project, f"{at}", pay__py=f"{at}\n" * 100_000)
    started = list[subprocess.Popen[bytes]]()

    class Watched(subprocess.Popen[bytes]):
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Watched)
    reading = commits_of(project, deadline_s=time.monotonic() + 60)
    assert next(reading).subject == "2"
    assert started[-1].returncode is None
    reading.close()  # type: ignore[attr-defined]  # a generator
    assert started[-1].returncode is not None


def test_without_a_commit_nothing_is_read_and_without_git_it_is_an_error(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "--quiet")
    assert commits(tmp_path) == []
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".git").rename(tmp_path / "git")
    with pytest.raises(HistoryError):
        commits(tmp_path / "elsewhere")
