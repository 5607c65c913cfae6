"""Gives the tests of saving a room and its clock."""

from pathlib import Path

import pytest

from rooms.fragments.room import Room
from tests.support.fragments_room import Clock, a_room


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def room(tmp_path: Path, clock: Clock) -> Room:
    return a_room(tmp_path, clock=clock)
