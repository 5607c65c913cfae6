"""Tests what a report tells of changes that a table makes, step by step."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.cli_process import TOKEN
from tests.support.memory_steps import MemorySteps, cases, needs_git
from tests.support.report_desk import LOG, ORDER, Report
from tests.support.tables import table

pytestmark = needs_git

OTHER = "ghp" + "_" + "Z9y8X7w6V5u4T3s2R1q0P9o8N7m6L5k4J3i2"
ENDLESS = "never ending " * 10_000
FACTS = {
    "endless": ENDLESS,
    "secret": TOKEN,
    "other": OTHER,
    "end": OTHER[6:],
    "order": ORDER,
    "log": LOG,
}
DAYS = table("commands/reports")


class Day(MemorySteps):
    """Changes a memory and asks for reports; `${project}` is where it lies."""

    def __init__(self, project: Path, report: Report, patch: pytest.MonkeyPatch) -> None:
        super().__init__(project, patch, FACTS | {"project": str(project)})
        self._report = report

    def folder(self, name: str) -> None:
        """A folder where a file should be."""
        (self._project / name).mkdir(parents=True)

    def told(self, arguments: list[str], code: int, first: str, more: dict[str, Any]) -> None:
        """more: whole parts, the last lines of parts, what else is in the report or is not."""
        told = self._report(*arguments)
        assert (told.code, told.errors, told.first) == (code, "", f"**Memory:** {first}")
        parts, ends = more.get("parts", {}), more.get("ends", {})
        assert {it: told.part(it).splitlines() for it in parts} == parts
        assert {it: told.part(it).splitlines()[-1] for it in ends} == ends
        assert [it for it in more.get("has", []) if it not in told.out] == []
        assert [it for it in more.get("lacks", []) if it in told.out] == []
        if "below" in more:
            assert told.out.splitlines()[2] == more["below"]
        for part, number in more.get("counts", {}).items():
            assert told.out.count(part) == number

    def whole(self, arguments: list[str], *lines: str) -> None:
        """A report that is no more than these lines."""
        told = self._report(*arguments)
        assert (told.code, told.errors, told.out.splitlines()) == (0, "", list(lines))

    def refused(self, arguments: list[str], said: str) -> None:
        """said: how the sentence begins."""
        told = self._report(*arguments)
        assert (told.code, told.out) == (2, "")
        assert told.errors.startswith(said)


@pytest.mark.parametrize("name", cases(DAYS))
def test_a_report_tells_what_was_done(
    name: str, project: Path, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    day = Day(project, report, monkeypatch)
    for step in DAYS[name]:
        day.live(*step)
