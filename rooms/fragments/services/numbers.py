"""Reads numbers of an answer that a stranger may have written."""

import math


def finite(value: object) -> float:
    """Return a number of an answer. Raises ValueError for what is none, or has no end."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("no number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError("no finite number")
    return number
