"""Gives the tests of the fragments rooms, databases, and the tools over a file of their own."""

from pathlib import Path

import pytest

from tests.support.fragments_room import clock as clock
from tests.support.fragments_room import room as room
from tests.support.room_tools import Call, calling
from tests.support.team_engines import databases as databases
from tests.support.team_engines import team_database as team_database
from tests.support.team_engines import team_pool as team_pool
from tests.support.team_engines import team_server as team_server

MODELS = ("SENTINEL_MEMORY_EMBEDDINGS", "SENTINEL_MEMORY_JUDGE", "OPENAI_API_KEY")


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that the tools work with."""
    for name in ("SENTINEL_MEMORY_LANG", "SENTINEL_MEMORY_ANSWERS", "CLAUDE_PROJECT_DIR", *MODELS):
        monkeypatch.delenv(name, raising=False)
    project = tmp_path / "shop"
    project.mkdir()
    path = tmp_path / "memory.db"
    monkeypatch.setenv("SENTINEL_MEMORY_PROJECT", str(project))
    monkeypatch.setenv("SENTINEL_MEMORY_FRAGMENTS", str(path))
    return path


@pytest.fixture
def call(database: Path) -> Call:
    """Calls a tool as a client does and returns the text of its answer."""
    return calling("fragments")
