"""Gives the tests of the doctor a project: empty, in git, or with a committed memory."""

import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from core.lessons.file import GITATTRIBUTES, GITIGNORE
from core.store import MemoryStore
from tests.support import cli_process
from tests.support.git_clones import commit, git
from tests.support.samples import a_draft

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


class Run(cli_process.Run):
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


class Desk(cli_process.Desk):
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


@pytest.fixture
def bare(tmp_path: Path) -> Desk:
    """An empty project without git, of somebody who has a client."""
    desk = Desk(tmp_path / "shop", tmp_path / "home")
    (desk.home / ".gemini").mkdir()
    return desk


@pytest.fixture
def project(bare: Desk) -> Desk:
    """A git repository with nothing in it."""
    git(bare.root, "init", "--quiet")
    return bare


@pytest.fixture(scope="session")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A repository in which a first save was committed; each test gets a copy."""
    top = tmp_path_factory.mktemp("committed")
    desk = Desk(top / "shop", top / "home")
    git(desk.root, "init", "--quiet")
    MemoryStore(desk.log).upsert_log(a_draft("one"))
    desk.commit()
    return desk


@pytest.fixture
def healthy(bare: Desk, committed: Desk) -> Desk:
    """A repository in which a first save was committed."""
    shutil.copytree(committed.root, bare.root, symlinks=True, dirs_exist_ok=True)
    return bare


@pytest.fixture
def bound(bare: Desk) -> None:
    """Permissions hold for the processes of this test."""
    if os.name == "nt":
        pytest.skip("other permissions")
    locked = bare.home / "locked"
    locked.touch(mode=0)
    if Run.process(sys.executable, "-c", f"open({str(locked)!r})").code == 0:
        pytest.skip("this user may read and write everything")
