"""Finds for each row of a timeline the lines of threads that run beside it.

rails_of("aba")[1] == Rail(1, lines=((0, True, True),))
"""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

MOST_LANES = 3  # of threads that run side by side; a further one has no line


class Rail(NamedTuple):
    """Where the dot of a row stands, and the lines that run through the row.

    lines: the lane of each, whether it comes from the row above, whether it goes on below.
    """

    lane: int = 0
    lines: tuple[tuple[int, bool, bool], ...] = ()


ALONE = Rail()


def rails_of(threads: Sequence[Hashable]) -> list[Rail]:
    """Return the rail of each row; rows of one thread are joined by a line in one lane."""
    last = {thread: at for at, thread in enumerate(threads)}
    running: dict[Hashable, int] = {}  # the lane of each thread that goes on below
    rails = []
    for at, thread in enumerate(threads):
        above = dict(running)
        free = [lane for lane in range(MOST_LANES) if lane not in running.values()]
        lane = running.get(thread, free[0] if free else MOST_LANES)
        if last[thread] == at:
            running.pop(thread, None)
        elif free:
            running.setdefault(thread, lane)
        through = sorted({*above.values(), *running.values()})
        lines = tuple((it, it in above.values(), it in running.values()) for it in through)
        rails.append(Rail(lane, lines))
    return rails
