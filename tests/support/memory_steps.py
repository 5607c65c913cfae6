"""Carries out the steps of a table of tests/data: what changes a memory, and what is then told."""

import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from string import Template
from typing import Any

import pytest

from core.lessons.record import Record
from tests.support.git_clones import (
    commit,
    compact,
    copied,
    git,
    path_of,
    run_git,
    saved,
    store_of,
    tokens_of,
    without_side_file,
    write,
)
from tests.support.samples import LATER, NOW, a_draft, a_principle, a_record


class MemorySteps:
    """Changes a memory, step by step. A step is the name of a method, with its arguments.

    A token that is new after a step is `${t0}`, `${t1}` and so on in the steps that follow; a
    commit is `${c0}`, `${s0}` by its first ten digits and `${m0}` by the minute of its author.
    """

    filled_later: frozenset[str] = frozenset()  # steps that fill in facts themselves

    def __init__(
        self, project: Path, monkeypatch: pytest.MonkeyPatch, facts: dict[str, str]
    ) -> None:
        self._project, self._monkeypatch, self._facts = project, monkeypatch, dict(facts)
        self._tokens, self._commits = list[str](), 0
        self._name_tokens()

    def live(self, name: str, *arguments: Any) -> None:
        """Carry out one step; what it says of facts is filled in before."""
        if name not in self.filled_later:
            arguments = tuple(map(self._filled, arguments))
        getattr(self, name)(*arguments)
        self._name_tokens()

    def written(self, *parts: str | dict[str, Any]) -> None:
        """A file of these lines and records, in a commit."""
        self.left(*parts)
        self.commit()

    def left(self, *parts: str | dict[str, Any]) -> None:
        """The same without a commit."""
        write(self._project, *_lines(parts))

    def appended(self, *parts: str | dict[str, Any]) -> None:
        """These lines and records behind what is in the file."""
        write(self._project, path_of(self._project).read_bytes(), *_lines(parts))

    def made(self, *gaps: str) -> None:
        """These gaps, in one commit."""
        for gap in gaps:
            self.logged({"gap": gap}, NOW)
        self.commit()

    def logged(self, fields: dict[str, Any], now: str = LATER) -> None:
        store_of(self._project, now).upsert_log(a_draft(**fields))

    def ruled(self, lesson: str, topic: str) -> None:
        store_of(self._project, LATER).upsert_log(a_principle(lesson, topic=topic))

    def compacted(self, lesson: str, *gaps: str) -> None:
        self.compacted_at(LATER, lesson, *gaps)

    def compacted_at(self, now: str, lesson: str, *gaps: str) -> None:
        compact(lesson, *gaps, now=now)(self._project)

    def renamed(self, old: str, new: str, join: bool = False) -> None:
        """All records of a topic, under another one."""
        records = [it for it in saved(self._project) if it.topic == old]
        moved = {it.token: replace(it, topic=new) for it in records}
        store_of(self._project, LATER).renew(moved, join=join)

    def deleted(self, token: str) -> None:
        store_of(self._project).delete_by_ids(token)

    def deleted_gap(self, gap: str) -> None:
        store_of(self._project).delete_by_ids(tokens_of(self._project, gap))

    def brought_back(self, record: dict[str, Any], principle: str = "") -> None:
        """A record, beside the principle that replaced it or in the place of that."""
        store_of(self._project, LATER).bring_back([_record(**record)], instead_of=principle)

    def edited(self, old: str, new: str) -> None:
        """Every place where the file says this, by hand."""
        text = path_of(self._project).read_text(encoding="utf-8")
        path_of(self._project).write_text(text.replace(old, new), encoding="utf-8", newline="\n")

    def commit(self) -> None:
        commit(self._project)
        self._name_commit("HEAD")

    def git(self, *arguments: str) -> None:
        git(self._project, *arguments)

    def merged(self, branch: str) -> None:
        """The state of a merge, with whatever conflict there is."""
        run_git(self._project, "merge", "--quiet", branch)

    def moved(self, old: str, new: str) -> None:
        """A file or folder in another place of the repository, in a commit."""
        (self._project / new).parent.mkdir(exist_ok=True)
        git(self._project, "mv", old, new)
        self.commit()

    def copied(self, folder: str) -> None:
        """The repository once more, beside it."""
        copied(self._project, self._project.parent / folder)

    def elsewhere(self, folder: str) -> None:
        """All that follows in a folder beside the project, which is empty if it is new."""
        self._project = self._project.parent / folder
        self._project.mkdir(exist_ok=True)

    def file(self, name: str, text: str) -> None:
        self._make_room(name).write_text(text, encoding="utf-8", newline="\n")

    def inside(self, folder: str, *step: Any) -> None:
        """One step in another folder, seen from the project."""
        project, self._project = self._project, (self._project / folder).resolve()
        self.live(*step)
        self._project = project

    def without_side_file(self) -> None:
        without_side_file(self._project)

    def environment(self, name: str, value: str) -> None:
        self._monkeypatch.setenv(name, value)

    def folder(self, name: str) -> None:
        """A folder where a file should be."""
        (self._project / name).mkdir(parents=True)

    def _make_room(self, name: str) -> Path:
        path = self._project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def _name_tokens(self) -> None:
        for record in saved(self._project) if path_of(self._project).is_file() else []:
            if record.token not in self._tokens:
                self._facts[f"t{len(self._tokens)}"] = record.token
                self._tokens.append(record.token)

    def _name_commit(self, revision: str) -> None:
        name, moment = git(self._project, "log", "-1", "--format=%H%n%aI", revision).split()
        at = self._commits
        self._facts[f"c{at}"], self._facts[f"s{at}"] = name, name[:10]
        self._facts[f"m{at}"] = moment[:16].replace("T", " ")
        self._commits += 1

    def _filled(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._filled(it) for it in value]
        if isinstance(value, dict):
            return {key: self._filled(it) for key, it in value.items()}
        return Template(value).substitute(self._facts) if isinstance(value, str) else value


def cases(days: dict[str, Any]) -> list[Any]:
    """The names of a table's days; those that it does not name for the default half are long."""
    default = days.pop("in the default half")
    assert set(default) <= set(days)
    return [pytest.param(it, marks=[] if it in default else [pytest.mark.long]) for it in days]


needs_git = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")


def _lines(parts: Iterable[str | dict[str, Any]]) -> list[bytes | Record]:
    return [it.encode() if isinstance(it, str) else _record(**it) for it in parts]


def _record(gap: str, lesson: str = a_draft().lesson, type: str = "log", **changed: Any) -> Record:
    fields: dict[str, Any] = {
        key: tuple(it) if isinstance(it, list) else it for key, it in changed.items()
    }
    return replace(a_record(gap, lesson=lesson, type=type, now=NOW), **fields)
