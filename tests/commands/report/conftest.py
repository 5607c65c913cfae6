"""Makes the empty project a repository, in which the report is asked for."""

from functools import partial
from pathlib import Path

import pytest

from tests.support.report_desk import Report, Run, empty_repository


@pytest.fixture
def project(project: Path) -> Path:
    """A repository with one commit and no log."""
    return empty_repository(project)


@pytest.fixture
def report(capsys: pytest.CaptureFixture[str], project: Path) -> Report:
    """Carries out one report."""
    return partial(Run.of, capsys, "report")
