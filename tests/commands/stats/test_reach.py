"""Tests that the statistics name records that hooks cannot show, or show at every change."""

import shutil
from pathlib import Path

import pytest

from tests.commands.stats.test_stats import Desk
from tests.support.git_clones import commit, git
from tests.support.samples import a_record

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")

MUTE = a_record("always new", topic="a", lesson="Never use it; do it like that instead.")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A project of 40 tracked files."""
    desk = Desk(tmp_path / "shop", tmp_path / "home")
    (desk.root / "src").mkdir(parents=True)
    git(desk.root, "init", "--quiet")
    for at in range(40):
        (desk.root / "src" / f"{at}.py").write_text("x\n")
    commit(desk.root)
    return desk


def test_both_kinds_are_named_and_so_is_the_doctor(desk: Desk) -> None:
    wide = a_record("wide", paths=["src/**"])
    desk.write(MUTE, wide, a_record("narrow", paths=["src/1.py"]))
    done = desk.stats()
    mute = done.section("Records that no action can bring up: 1")
    assert [line.split()[1] for line in mute] == ["id", MUTE.id[:8]]
    everywhere = done.section(
        "Records whose paths match more than a quarter of the tracked files: 1"
    )
    assert [line.split()[1] for line in everywhere] == ["id", wide.id[:8]]
    assert "\n\nRun python cli.py doctor to see how to correct them.\n" in done.out
    korean = desk.stats(SENTINEL_MEMORY_LANG="ko")
    assert korean.section("어떤 작업에서도 나올 수 없는 기록: 1건")


def test_nothing_is_said_where_there_are_none(desk: Desk) -> None:
    desk.write(a_record("narrow", paths=["src/1.py"]))
    assert "python cli.py doctor says" not in desk.stats().out
