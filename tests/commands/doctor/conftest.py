"""Gives the tests of the doctor a project: empty, in git, or with a committed memory."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from core.store import MemoryStore
from tests.support.cli_process import Run
from tests.support.doctor_desk import Desk
from tests.support.git_clones import git
from tests.support.samples import a_draft


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
