"""Tells how the time of a piece of work grows, without a clock."""

import sys
from collections.abc import Callable
from itertools import count


def calls(work: Callable[[], object]) -> int:
    """How many calls a piece of work makes."""
    counter = count()
    sys.setprofile(lambda *_: next(counter))
    try:
        work()
    finally:
        sys.setprofile(None)
    return next(counter)
