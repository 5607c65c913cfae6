"""Tests that the doctor names records that hooks cannot show, or would show at every change."""

import shutil

import pytest

from commands.doctor.reach import MOST_NAMED
from tests.support.doctor_desk import Desk
from tests.support.samples import a_record

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")

MUTE = a_record("always new", topic="a", lesson="Never use it; do it like that instead.")
WIDE = a_record("wide", paths=["src/**"])


def notes(desk: Desk) -> list[str]:
    kinds = ("never_shown", "more_never_shown", "shown_everywhere", "more_shown_everywhere")
    return [it["text"] for it in desk.doctor("--json").told["findings"] if it["kind"] in kinds]


@pytest.mark.long  # it costs much
def test_each_is_named_with_the_command_that_mends_it(healthy: Desk) -> None:
    for at in range(30):
        path = healthy.root / "src" / f"{at}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text("x\n")
    healthy.write(MUTE, WIDE, a_record("narrow", paths=["src/1.py"]))
    healthy.commit()
    never, everywhere = notes(healthy)
    assert never.startswith(
        "No action can bring up this record, because it has no paths, no triggers"
    )
    assert f"edit {MUTE.token} --project {healthy.root}`" in never
    assert everywhere.startswith("The paths of this record match 100 % of the tracked files")
    assert f"edit {WIDE.token} --project" in everywhere
    done = healthy.doctor()
    assert done.code == 0
    assert [line[:12] for line in done.found if "edit" in line] == ["note  line 1", "note  line 2"]
    assert "어떤 작업에서도 나올 수 없는 기록" in healthy.doctor(SENTINEL_MEMORY_LANG="ko").out


def test_the_first_are_named_and_the_others_counted(healthy: Desk) -> None:
    healthy.write(*(a_record(f"new {at}", topic="a", lesson="x") for at in range(MOST_NAMED + 3)))
    assert len(notes(healthy)) == MOST_NAMED + 1
    assert notes(healthy)[-1] == "More records like this: 3."
