"""Tests the parts of the benchmark of session starts that need no clone of another project."""

import shutil
import sys
from pathlib import Path

import pytest

from tests.support.git_clones import commit, git
from tests.support.stdio_client import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

from real_memories import commit_of, own_history, written_elsewhere
from session_start import CHATTER, Case, interval, work_before

from core.lessons.task import for_prompt

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
NONE = frozenset[str]()


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet")
    for at, names in enumerate(("a.py", "b.py", "c.py d.py e.py")):
        for name in names.split():
            (tmp_path / name).write_text(f"{at}\n")
        commit(tmp_path, f"Change number {at} of the whole project", "--message", f"reason {at}")
    return tmp_path


def test_before_a_change_git_shows_what_was_committed_before_it(clone: Path) -> None:
    head = git(clone, "rev-parse", "HEAD").strip()
    case = Case(NONE, NONE, head, "c.py")
    work = work_before(clone, case, is_clean=True)
    assert work.changed == []
    assert list(work.commits) == [
        ("Change number 1 of the whole project", ["b.py"]),
        ("Change number 0 of the whole project", ["a.py"]),
    ]
    changed = work_before(clone, case, is_clean=False).changed
    assert changed
    assert {*changed} <= {"d.py", "e.py"}
    assert commit_of(clone, head).files == ("c.py", "d.py", "e.py")


def test_messages_of_commits_become_lessons(clone: Path) -> None:
    found = list(own_history(clone, "HEAD"))
    assert [(it.missing_context, it.lesson) for it in found] == [
        (f"Change number {at} of the whole project", f"reason {at}") for at in (2, 1, 0)
    ]


def test_a_share_stands_within_its_interval() -> None:
    share, low, high = interval([(1, 1)] * 60 + [(0, 1)] * 30 + [(1, 2)] * 10)
    assert share == pytest.approx(70 / 110)
    assert 0.5 < low < share < high < 0.75
    assert interval([(2, 2)] * 5) == (1.0, 1.0, 1.0)


@pytest.mark.long  # it costs much
def test_everyday_prompts_get_nothing_from_hundreds_of_lessons() -> None:
    records = list(written_elsewhere(""))
    assert len(records) > 400
    shown = [it for it in CHATTER if for_prompt(it, records, len(records), {})]
    assert shown == []
