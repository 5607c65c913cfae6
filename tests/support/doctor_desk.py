"""Gives a test a project in which the doctor is asked, and what a run of it has found."""

import os
import re
from pathlib import Path
from typing import Any

from core.lessons.file import GITATTRIBUTES, GITIGNORE
from tests.support.cli_process import Run as AnyRun
from tests.support.desk import Desk as AnyDesk
from tests.support.git_clones import commit

NO_CLIENT = "No client starts the server for this project."
SIGNS = {"✗ ": "error", "! ": "warning", "- ": "note"}


def tree_of(folder: Path) -> dict[str, tuple[int, int, object]]:
    """Mode, time of change and content of everything in the folder, .git included."""
    found = dict[str, tuple[int, int, object]]()
    for path in (folder, *folder.rglob("*")):
        status = path.lstat()
        content: object = None
        if path.is_symlink():
            content = os.readlink(path)
        elif path.is_file():
            content = path.read_bytes()
        found[path.relative_to(folder).as_posix()] = status.st_mode, status.st_mtime_ns, content
    return found


class Run(AnyRun):
    """One finished doctor. That no client is set up is left out of what it has found."""

    @property
    def found(self) -> list[str]:
        """Each finding behind its severity, with the command that belongs to it."""
        assert (self.errors, self.out[-1:]) == ("", "\n")
        told = list[tuple[str, str]]()
        for line in self.lines:
            if line[:2] in SIGNS:
                told.append((SIGNS[line[:2]], line[2:]))
            elif line.startswith("    "):
                told[-1] = told[-1][0], f"{told[-1][1]} `{line.strip()}`"
        # What is printed, what is counted and the status are one story.
        [counts] = re.findall(r"^errors: (\d+), warnings: (\d+), notes: (\d+)$", self.out, re.M)
        signs = [severity for severity, _ in told]
        assert [int(it) > 0 for it in counts] == [it in signs for it in SIGNS.values()]
        assert self.code == int(counts[:2] != ("0", "0"))
        told = [it for it in told if not it[1].startswith(NO_CLIENT)]
        width = max((len(severity) for severity, _ in told), default=0)
        return [f"{severity:<{width}}  {text}" for severity, text in told]

    @property
    def told(self) -> Any:
        """What a run with --json has printed."""
        assert self.errors == ""
        return super().told

    @property
    def findings(self) -> list[Any]:
        """The findings of a run with --json, but for what is well."""
        all_of = self.told["findings"]
        return [it for it in all_of if it["severity"] != "ok" and it["kind"] != "no_client"]

    @property
    def kinds(self) -> list[tuple[str, str]]:
        """Kind and severity of each of these."""
        return [(found["kind"], found["severity"]) for found in self.findings]

    def well(self, kind: str) -> Any:
        """The facts of what is well."""
        return next(it["facts"] for it in self.told["findings"] if it["kind"] == kind)


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
