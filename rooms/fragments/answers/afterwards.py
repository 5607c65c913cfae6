"""Does in the background what a write gives rise to: embeddings, and the daily upkeep.

A process may end at any moment of it: each piece is one transaction, and the next write goes on.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from rooms.fragments.room import Room

_TENDING = threading.Lock()  # one thread of a process at a time
_WAIT_S = 1.5  # for one that is at it, which rests after a second


def go_on(room: Room) -> None:
    """Begin what is due, in threads of their own; returns at once."""
    room = room.for_all()
    from rooms.fragments.meaning.filling import fill_in_background  # a first answer needs no model

    fill_in_background(room)
    if _TENDING.acquire(blocking=False):
        threading.Thread(target=_tend, args=(room,), name="upkeep", daemon=True).start()


@contextmanager
def resting() -> Iterator[None]:
    """Keep the upkeep of this process from its work, as soon as one that is at it rests."""
    is_resting = _TENDING.acquire(timeout=_WAIT_S)
    try:
        yield
    finally:
        if is_resting:
            _TENDING.release()


def _tend(room: Room) -> None:
    from rooms.fragments.judging.settings import has_judge
    from rooms.fragments.upkeep.daily import tend

    try:
        tend(room, compares=not has_judge(os.environ))
    finally:
        _TENDING.release()
