"""Gives the tests of the doctor a project: empty, in git, or with a committed memory."""

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from core.store import MemoryStore
from tests.support import cli_process
from tests.support.git_clones import commit, git
from tests.support.samples import a_draft


class Run(cli_process.Run):
    """One finished doctor. That no client is set up is left out of what it has found."""

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

    def asides(self) -> list[Path]:
        return sorted(self.log.parent.glob("memory_log.removed-*.txt"))


@pytest.fixture
def bare(tmp_path: Path) -> Desk:
    """An empty project without git, of somebody who has a client."""
    desk = Desk(tmp_path / "shop", tmp_path / "home")
    (desk.home / ".gemini").mkdir()
    return desk


@pytest.fixture(scope="session")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A repository in which a first save was committed; each test gets a copy."""
    top = tmp_path_factory.mktemp("committed")
    desk = Desk(top / "shop", top / "home")
    git(desk.root, "init", "--quiet")
    MemoryStore(desk.log).upsert_log(a_draft("one"))
    commit(desk.root)
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
