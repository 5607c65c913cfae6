"""Makes the empty project a repository, in which the report is asked for."""

from functools import partial
from pathlib import Path

import pytest

from tests.support.git_clones import new_project
from tests.support.report_desk import Report, Run


@pytest.fixture
def project(project: Path) -> Path:
    """A repository with one commit and no log."""
    return new_project(project)


@pytest.fixture
def report(capsys: pytest.CaptureFixture[str], project: Path) -> Report:
    """Carries out one report."""
    return partial(Run.of, capsys, "report")
