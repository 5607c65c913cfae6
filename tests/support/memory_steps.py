"""Carries out the steps of a table of tests/data that change a project and its memory."""

import shutil
from pathlib import Path
from string import Template
from typing import Any

import pytest

from tests.support.git_clones import commit, git, path_of, store_of, tokens_of
from tests.support.samples import LATER, a_draft

needs_git = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")


class MemorySteps:
    """Changes a project. A step is the name of a method, with its arguments.

    facts: what `${name}` stands for in an argument.
    """

    def __init__(self, project: Path, **facts: str) -> None:
        self._project, self._facts = project, facts

    def live(self, name: str, *arguments: Any) -> None:
        """Carry out one step."""
        filled = (
            Template(it).substitute(self._facts) if isinstance(it, str) else it for it in arguments
        )
        getattr(self, name)(*filled)

    def logged(self, fields: dict[str, Any]) -> None:
        store_of(self._project, LATER).upsert_log(a_draft(**fields))

    def deleted_gap(self, gap: str) -> None:
        store_of(self._project).delete_by_ids(tokens_of(self._project, gap))

    def edited(self, old: str, new: str) -> None:
        """Every place where the file says this, by hand."""
        text = path_of(self._project).read_text(encoding="utf-8")
        path_of(self._project).write_text(text.replace(old, new), encoding="utf-8", newline="\n")

    def file(self, name: str, text: str) -> None:
        path = self._project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")

    def commit(self) -> None:
        commit(self._project)

    def git(self, *arguments: str) -> None:
        git(self._project, *arguments)


def cases(days: dict[str, Any]) -> list[Any]:
    """The names of a table's days; those that it does not name for the default half are long."""
    default = days.pop("in the default half")
    assert set(default) <= set(days)
    return [pytest.param(it, marks=[] if it in default else [pytest.mark.long]) for it in days]
