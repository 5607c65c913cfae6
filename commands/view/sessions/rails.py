"""Finds for each row of a timeline the lines of chains that run beside it.

rails_of("aba")[1] == Rail(1, lines=((0, True, True),))
"""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

MOST_LANES = 3  # of chains that run side by side; a further one has no line


class Rail(NamedTuple):
    """Where the dot of a row stands, and the lines that run through the row.

    lines: the lane of each, whether it comes from the row above, whether it goes on below.
    """

    lane: int = 0
    lines: tuple[tuple[int, bool, bool], ...] = ()


ALONE = Rail()


def rails_of(chains: Sequence[Hashable]) -> list[Rail]:
    """Return the rail of each row; rows of one chain are joined by a line in one lane."""
    last = {chain: at for at, chain in enumerate(chains)}
    running: dict[Hashable, int] = {}  # the lane of each chain that goes on below
    rails = []
    for at, chain in enumerate(chains):
        above = dict(running)
        free = [lane for lane in range(MOST_LANES) if lane not in running.values()]
        lane = running.get(chain, free[0] if free else MOST_LANES)
        if last[chain] == at:
            running.pop(chain, None)
        elif free:
            running.setdefault(chain, lane)
        through = sorted({*above.values(), *running.values()})
        lines = tuple((it, it in above.values(), it in running.values()) for it in through)
        rails.append(Rail(lane, lines))
    return rails
