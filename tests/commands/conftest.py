"""Gives the tests of every command an empty project, and ways to run a command in it."""

from functools import partial
from pathlib import Path

import pytest

from tests.support.cli_process import Command, Desk, Run, without_settings


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project in which commands are given."""
    without_settings(monkeypatch)
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], project: Path) -> Command:
    """Carries out a command there, in the process of the test."""
    return partial(Run.of, capsys)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """An empty project and a home directory; commands run in processes of their own."""
    return Desk(tmp_path / "shop", tmp_path / "home")
