"""Gives the tests of setup a project, a home directory and an installation."""

from pathlib import Path

import pytest

from tests.support.setup_bench import Bench


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """An empty project and home, beside an installation whose files exist."""
    made = Bench(tmp_path)
    made.put({})
    for path in (Path(made.python), made.tool / "server.py"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(made.home))
    return made
