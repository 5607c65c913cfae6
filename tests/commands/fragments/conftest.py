"""Gives the tests of the fragments' commands a room of their own, outside of any project."""

from pathlib import Path

import pytest

from rooms.fragments.room import Room
from tests.support.fragments_room import a_room


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the commands find the room, which is not made yet."""
    folder = tmp_path / "data"
    monkeypatch.setenv("SENTINEL_MEMORY_FRAGMENTS", str(folder / "memory.db"))
    return folder


@pytest.fixture
def room(place: Path) -> Room:
    """The room that the commands work with."""
    return a_room(place)
