"""Tests what a report tells of changes that a table makes, step by step."""

import shutil
from dataclasses import replace
from pathlib import Path
from string import Template
from typing import Any

import pytest

from core.lessons.record import Record
from tests.support.cli_process import TOKEN
from tests.support.git_clones import commit, compact, git, run_git, saved, store_of, write
from tests.support.report_desk import LOG, ORDER, Report, head
from tests.support.samples import LATER, NOW, a_draft, a_principle, a_record
from tests.support.tables import table

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")

OTHER = "ghp" + "_" + "Z9y8X7w6V5u4T3s2R1q0P9o8N7m6L5k4J3i2"
FACTS = {"secret": TOKEN, "other": OTHER, "end": OTHER[6:], "order": ORDER, "log": LOG}
DAYS = table("commands/reports")
DEFAULT = set(DAYS.pop("in the default half"))


class Day:
    """Changes a memory and asks for reports.

    A token that is new after a step is `${t0}`, `${t1}` and so on in the steps that follow; a
    commit is `${c0}`, and `${s0}` by its first ten digits.
    """

    def __init__(self, project: Path, report: Report) -> None:
        self._project, self._report = project, report
        self._facts, self._tokens, self._commits = dict(FACTS), list[str](), list[str]()

    def live(self, name: str, *arguments: Any) -> None:
        """Carry out one step; what it says of facts is filled in before."""
        getattr(self, name)(*map(self._filled, arguments))
        for record in saved(self._project):
            if record.token not in self._tokens:
                self._facts[f"t{len(self._tokens)}"] = record.token
                self._tokens.append(record.token)

    def written(self, *parts: str | dict[str, Any]) -> None:
        """A file of these lines and records, in a commit."""
        self.left(*parts)
        self.commit()

    def left(self, *parts: str | dict[str, Any]) -> None:
        """The same without a commit."""
        lines = (it.encode() if isinstance(it, str) else _record(**it) for it in parts)
        write(self._project, *lines)

    def made(self, *gaps: str) -> None:
        """These gaps, in one commit."""
        for gap in gaps:
            store_of(self._project).upsert_log(a_draft(gap))
        self.commit()

    def logged(self, fields: dict[str, Any], now: str = LATER) -> None:
        store_of(self._project, now).upsert_log(a_draft(**fields))

    def ruled(self, lesson: str, topic: str) -> None:
        store_of(self._project, LATER).upsert_log(a_principle(lesson, topic=topic))

    def compacted(self, lesson: str, *gaps: str) -> None:
        compact(lesson, *gaps)(self._project)

    def renamed(self, old: str, new: str, join: bool = False) -> None:
        """All records of a topic, under another one."""
        records = [it for it in saved(self._project) if it.topic == old]
        moved = {it.token: replace(it, topic=new) for it in records}
        store_of(self._project, LATER).renew(moved, join=join)

    def deleted(self, token: str) -> None:
        store_of(self._project).delete_by_ids(token)

    def commit(self) -> None:
        commit(self._project)
        self._facts[f"c{len(self._commits)}"] = head(self._project)
        self._facts[f"s{len(self._commits)}"] = head(self._project)[:10]
        self._commits.append(head(self._project))

    def git(self, *arguments: str) -> None:
        git(self._project, *arguments)

    def merged(self, branch: str) -> None:
        """The state of a merge, with whatever conflict there is."""
        run_git(self._project, "merge", "--quiet", branch)

    def told(self, arguments: list[str], code: int, first: str, more: dict[str, Any]) -> None:
        """more: whole parts, the last lines of parts, what else is in the report or is not."""
        told = self._report(*arguments)
        assert (told.code, told.errors, told.first) == (code, "", f"**Memory:** {first}")
        parts, ends = more.get("parts", {}), more.get("ends", {})
        assert {it: told.part(it).splitlines() for it in parts} == parts
        assert {it: told.part(it).splitlines()[-1] for it in ends} == ends
        assert [it for it in more.get("has", []) if it not in told.out] == []
        assert [it for it in more.get("lacks", []) if it in told.out] == []

    def _filled(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._filled(it) for it in value]
        if isinstance(value, dict):
            return {key: self._filled(it) for key, it in value.items()}
        return Template(value).substitute(self._facts) if isinstance(value, str) else value


def _record(gap: str, lesson: str = a_draft().lesson, **changed: Any) -> Record:
    return replace(a_record(gap, lesson=lesson, now=NOW), **changed)


@pytest.mark.parametrize(
    "name",
    [pytest.param(it, marks=[] if it in DEFAULT else [pytest.mark.long]) for it in DAYS],
)
def test_a_report_tells_what_was_done(name: str, project: Path, report: Report) -> None:
    day = Day(project, report)
    for step in DAYS[name]:
        day.live(*step)
