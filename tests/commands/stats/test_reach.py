"""Tests that the statistics count records that hooks cannot show, or show at every change."""

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


def test_both_kinds_are_counted_and_the_doctor_is_named(desk: Desk) -> None:
    desk.write(MUTE, a_record("wide", paths=["src/**"]), a_record("narrow", paths=["src/1.py"]))
    assert " ".join(map(str.strip, desk.stats().section("Within the reach of hooks"))) == (
        "Records that no action can call up: 1. With paths for more than a quarter of the tracked"
        " files: 1. cli.py doctor names them and says how to mend them."
    )
    korean = desk.stats(SENTINEL_MEMORY_LANG="ko").section("훅이 보여 줄 수 있는지")
    assert "어떤 작업에서도 나올 수 없는 기록 1건" in korean[0]


def test_nothing_is_said_where_there_are_none(desk: Desk) -> None:
    desk.write(a_record("narrow", paths=["src/1.py"]))
    assert "Within the reach of hooks" not in desk.stats().out
