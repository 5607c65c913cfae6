"""Puts the rooms back that a test offers in its own process."""

from collections.abc import Iterator
from contextlib import contextmanager

from rooms.fragments import tools as fragments
from rooms.sessions import tools as sessions


@contextmanager
def put_back() -> Iterator[None]:
    """Let the rooms be offered otherwise for as long as this lasts."""
    before = [
        (room, name, value)
        for room in (fragments._Room, sessions._Room)
        for name, value in vars(room).items()
        if not name.startswith("__")
    ]
    try:
        yield
    finally:
        for room, name, value in before:
            setattr(room, name, value)
