"""Tests that commands and hooks go by the threshold of the team, and ask for nothing in vain."""

import json
import re
from pathlib import Path

import pytest

from core.lessons.record import Record, new_record
from tests.support.cli_process import Run
from tests.support.desk import Desk
from tests.support.samples import NOW, a_principle, a_record

LOGS = [a_record(f"gap {number}") for number in range(4)]
PRINCIPLES = [new_record(a_principle("rule", topic=f"topic{at}"), now=NOW) for at in range(4)]
TEAM = {"SENTINEL_MEMORY_THRESHOLD": "3"}
ASKED = re.compile(r"Compaction is required|compact the memory|compaction required")
HOOK = ("hook", "session-start", "--client", "claude-code")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = Desk(tmp_path / "project", tmp_path / "home")
    (desk.root / ".git").mkdir()
    return desk


def asking(desk: Desk, *records: Record, **variables: str) -> list[str]:
    """Which of those that speak of a compaction ask for one."""
    desk.write(*records)
    given = {"hook_event_name": "SessionStart", "cwd": str(desk.root), "source": "startup"}
    environment = desk.environment(**variables, SENTINEL_MEMORY_STATE=str(desk.home / "state"))
    data = json.dumps({**given, "session_id": f"of {variables}"}).encode()
    said = {
        "doctor": desk.run("doctor", **variables),
        "stats": desk.run("stats", **variables),
        "hook": Run.placed(*HOOK, cwd=desk.root, environment=environment, given=data),
    }
    return [name for name, run in said.items() if ASKED.search(run.out)]


@pytest.mark.long  # it costs much
def test_the_threshold_of_a_team_is_that_of_commands_and_hooks(desk: Desk) -> None:
    assert asking(desk, *LOGS) == []
    assert asking(desk, *LOGS, **TEAM) == ["doctor", "stats", "hook"]
    assert asking(desk, *PRINCIPLES, **TEAM) == []  # there is nothing to compact


def test_a_save_and_an_import_go_by_the_threshold_of_the_team(desk: Desk) -> None:
    desk.write(*LOGS)
    lesson = ("add", "--topic", "ci", "--missing", "Which Node", "--lesson", "Use 22", "--yes")
    assert "`python cli.py compact` prints" in " ".join(desk.run(*lesson, **TEAM).lines)
    desk.write()
    foreign = desk.home / "foreign.jsonl"
    foreign.write_bytes(b"".join(record.to_line() for record in LOGS))
    done = desk.run("import", str(foreign), "--yes", **TEAM)
    assert "more than 3. Ask the agent to compact it" in done.out


@pytest.mark.parametrize("value", ["0", "three"])
def test_an_unusable_threshold_is_warned_about_by_commands_too(desk: Desk, value: str) -> None:
    desk.write(*LOGS)
    done = desk.run("stats", SENTINEL_MEMORY_THRESHOLD=value)
    assert "SENTINEL_MEMORY_THRESHOLD is not a whole number of 1 or more; 50 is used" in done.errors
