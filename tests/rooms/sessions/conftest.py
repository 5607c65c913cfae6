"""Gives each test of the sessions a state directory, a project, its store, and its tools."""

from pathlib import Path

import pytest

from core.config import STATE_VARIABLE
from rooms.sessions.store import SessionStore
from tests.support.room_tools import Call, calling
from tests.support.session_samples import a_room


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's state directory, which is not made."""
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory that the tools work in, still empty."""
    for name in ("SENTINEL_MEMORY_LANG", "SENTINEL_MEMORY_ANSWERS", "CLAUDE_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    root = tmp_path / "shop"
    root.mkdir()
    monkeypatch.setenv("SENTINEL_MEMORY_PROJECT", str(root))
    return root


@pytest.fixture
def store(project: Path) -> SessionStore:
    return a_room(project)


@pytest.fixture
def call(project: Path) -> Call:
    """Calls a tool as a client does and returns the text of its answer."""
    return calling("sessions")
