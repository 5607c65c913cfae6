"""Gives the tests of the upkeep a room with a clock, and short ways to fill and to read it."""

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
