"""Gives a test a project in which the doctor is asked, and what a run of it has found."""

from pathlib import Path
from typing import Any

from core.lessons.file import GITATTRIBUTES, GITIGNORE
from tests.support.cli_process import Run as AnyRun
from tests.support.command_steps import tree_of
from tests.support.desk import Desk as AnyDesk
from tests.support.git_clones import commit

SIGNS = {"✗ ": "error", "! ": "warning", "- ": "note"}


class Run(AnyRun):
    """One finished doctor."""

    @property
    def found(self) -> list[str]:
        """Each finding behind its severity, with the command that belongs to it."""
        assert (self.errors, self.out[-1:]) == ("", "\n")
        told = list[tuple[str, str]]()
        for line in self.lines[1:]:
            if line[:2] in SIGNS:
                told.append((SIGNS[line[:2]], line[2:]))
            elif line.startswith("    "):
                told[-1] = told[-1][0], f"{told[-1][1]} `{line.strip()}`"
        width = max((len(severity) for severity, _ in told), default=0)
        return [f"{severity:<{width}}  {text}" for severity, text in told]

    @property
    def told(self) -> Any:
        """The findings of a run with --json."""
        assert self.errors == ""
        return super().told

    @property
    def kinds(self) -> list[tuple[str, str]]:
        """Kind and severity of each finding of a run with --json."""
        return [(found["kind"], found["severity"]) for found in self.told["findings"]]


class Desk(AnyDesk):
    """A project in which the doctor is asked."""

    def doctor(self, *options: str, cwd: Path | str = "", **variables: str) -> Run:
        """Run it where the project is."""
        return Run(*self.run("doctor", *options, cwd=cwd, **variables))

    def companions(self, attributes: str = GITATTRIBUTES, ignored: str = GITIGNORE) -> None:
        self.log.parent.mkdir(exist_ok=True)
        (self.log.parent / ".gitattributes").write_bytes(attributes.encode())
        (self.log.parent / ".gitignore").write_bytes(ignored.encode())

    def commit(self) -> None:
        commit(self.root)

    def asides(self) -> list[Path]:
        return sorted(self.log.parent.glob("memory_log.removed-*.txt"))

    def tree(self) -> dict[str, tuple[int, int, object]]:
        """Mode, time of change and content of everything in the project, .git included."""
        return tree_of(self.root)
