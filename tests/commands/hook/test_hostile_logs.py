"""Tests that a hook ends soon whatever the log holds, as the process that a client starts."""

import sys
from pathlib import Path

import pytest

from core.lessons.log import MemoryLog
from tests.support.stdio_client import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

from hostile import EVENTS, HOSTILE, hooked, project_of, ten_thousand

MOST_S = 10  # of the processor, its start included; benchmarks/hostile.py has the real figures


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.mark.long
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hook_ends_soon_with_every_hostile_log(tmp_path: Path, name: str) -> None:
    data = HOSTILE[name]()
    project = project_of(tmp_path / "project", data)
    is_empty = not MemoryLog.parse(data).count  # then there is nothing to say
    for event in EVENTS:
        done = hooked(project, event)
        assert done.code == 0
        assert done.processor_s < MOST_S, event
        assert len(done.output) < 20_000
        assert done.output or done.errors or event != "session-start" or is_empty


@pytest.mark.long
def test_a_hook_answers_from_ten_thousand_records(tmp_path: Path) -> None:
    project = project_of(tmp_path / "project", ten_thousand())
    # It gives up after some processor time, which other processes may make longer: one has to end.
    done = next(it for _ in range(3) if not (it := hooked(project, "session-start")).errors)
    assert done.code == 0
    assert b"10,000" in done.output or b"10000" in done.output
