"""A repository in which the report is asked for, and one call of it through `cli.main`."""

from pathlib import Path

import pytest

from tests.support.cli_process import without_settings
from tests.support.report_desk import Report, Run, empty_repository


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one commit and no log, in which the command is given."""
    without_settings(monkeypatch)
    folder = empty_repository(tmp_path / "shop")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def report(capsys: pytest.CaptureFixture[str], project: Path) -> Report:
    """Carries out one report."""
    return lambda *arguments: Run.of(capsys, "report", *arguments)
