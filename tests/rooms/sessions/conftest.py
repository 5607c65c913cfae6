"""Gives the tests of the sessions' tools a project of their own."""

from pathlib import Path

import pytest

from core.config import Settings
from rooms.sessions.store import SessionStore, open_sessions
from tests.support.session_tools import Call, calling, offered, refusing


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory that the tools work in."""
    for name in ("SENTINEL_MEMORY_LANG", "SENTINEL_MEMORY_ANSWERS", "CLAUDE_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    root = tmp_path / "shop"
    root.mkdir()
    monkeypatch.setenv("SENTINEL_MEMORY_PROJECT", str(root))
    monkeypatch.setenv("SENTINEL_MEMORY_STATE", str(tmp_path / "state"))
    return root


@pytest.fixture
def store(project: Path) -> SessionStore:
    return open_sessions(project, Settings())


@pytest.fixture
def call(project: Path) -> Call:
    """Calls a tool as a client does and returns the text of its answer."""

    return calling(offered)


@pytest.fixture
def refused(call: Call) -> Call:
    """Calls a tool that refuses and returns its sentence."""

    return refusing(call)
