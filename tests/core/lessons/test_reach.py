"""Tests that the anchors of a lesson take no secret to git and need no answer of it.

The records that they reach are held by tests/stories/reach.txt and git.txt.
"""

from pathlib import Path
from typing import Any

import pytest

from commands.clients.table import CLIENTS
from core import git as call
from core.git import LESSON_FILES
from core.lessons.anchors import matches
from core.lessons.reach import reach_of
from tests.support.cli_process import without_settings
from tests.support.git_clones import commit, new_project, slow_git

COMMON = "import logging"


def test_no_rules_of_a_client_count_as_files_of_the_project() -> None:
    rules = [it.rules for it in CLIENTS if it.rules]
    read = {name for it in rules for name in (*it.reads, *it.homes, it.instead) if name}
    assert [name for name in read if not any(matches(rule, name) for rule in LESSON_FILES)] == []


def test_a_secret_is_given_to_no_other_program_and_where_git_cannot_tell_all_is_taken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    without_settings(monkeypatch)
    monkeypatch.setattr(call, "WAIT_S", 60)  # as much as a busy machine needs
    made = new_project(tmp_path / "made", "one")
    for at in range(9):
        (made / f"{at}.py").write_text(f"{COMMON}\n", encoding="utf-8")
    commit(made)

    def is_kept(project: Path = made) -> bool:
        return reach_of((), [COMMON], project).triggers == (COMMON,)

    assert not is_kept()
    known = (COMMON, *(f"call{at}(" for at in range(8)))
    assert reach_of((), known, made, known).triggers == known  # however many were known
    assert reach_of((), [*known[1:3], COMMON], made, known[1:]).common_triggers[0]["number"] == 3
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
    assert is_kept(tmp_path)
    slow = slow_git(tmp_path / "slow-git")  # by its own name no PATH finds it
    for wait_s, program in ((0, call.find_git), (0.3, lambda: str(slow))):
        with monkeypatch.context() as patch:
            patch.setattr(call, "WAIT_S", wait_s)
            patch.setattr(call, "find_git", program)
            assert is_kept()  # and not left out by a late answer
            assert reach_of(["gone.py"], (), made).unmatched_paths == () or wait_s
    monkeypatch.setenv("PATH", str(tmp_path))
    assert is_kept()
