"""Lets one call of a process consolidate: each that waits would hold a connection of its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from rooms.fragments.upkeep.errors import UpkeepError

_consolidating = Lock()


@contextmanager
def in_turn(*, waits: bool) -> Iterator[None]:
    """Be the one that consolidates. waits: else raise UpkeepError where another call does."""
    if not _consolidating.acquire(blocking=waits):
        raise UpkeepError("under_way")
    try:
        yield
    finally:
        _consolidating.release()
