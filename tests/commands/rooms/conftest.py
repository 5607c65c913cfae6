"""Gives the commands for all rooms a project and a user with something in each of them."""

from pathlib import Path

import pytest

from core.config import Settings
from rooms.fragments.room import Room
from rooms.sessions.store import SessionStore, open_sessions
from tests.rooms.sessions.conftest import state as state
from tests.support.fragments_room import a_room
from tests.support.git_clones import write
from tests.support.room_samples import RECORD, a_fragment, a_lesson, a_session
from tests.support.session_samples import keep


@pytest.fixture(autouse=True)
def width(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A terminal of 80 cells; the user has no fragments."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("SENTINEL_MEMORY_FRAGMENTS", str(tmp_path / "data" / "memory.db"))


@pytest.fixture
def log(project: Path) -> bytes:
    """The log of the project, which has one record."""
    return write(project, RECORD)


@pytest.fixture
def sessions(project: Path) -> SessionStore:
    """The sessions of the project: two, with a lesson that was followed and one that was not."""
    store = open_sessions(project, Settings())
    lessons = [a_lesson(1, "shown"), a_lesson(1, "followed"), a_lesson(1, "shown", file="b.py")]
    second = a_session(2, parent_id=f"ctx_{1:012x}")
    keep(store, [(a_session(1), lessons), (second, [])])
    return store


@pytest.fixture
def room(tmp_path: Path) -> Room:
    """The fragments of the user: one."""
    room = a_room(tmp_path / "data")
    with room.engine.writing() as writing:
        writing.add([a_fragment("redis001")])
    return room


@pytest.fixture
def three(log: bytes, sessions: SessionStore, room: Room) -> Room:
    """A project with a lesson, two sessions and a fragment."""
    return room
