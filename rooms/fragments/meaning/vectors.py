"""Turns the numbers of a model into the bytes that are stored: floats of 32 bits, of length 1."""

import math
import sys
from array import array
from collections.abc import Iterable

from rooms.fragments.services.numbers import finite


def vector_of(numbers: Iterable[object]) -> bytes:
    """Return numbers as a vector of length 1, little endian.

    Raises ValueError for what has no direction: no numbers, some that are not finite, only zeros.
    """
    given = [finite(number) for number in numbers]
    largest = max(map(abs, given), default=0.0)
    if not largest:
        raise ValueError("no direction")
    scaled = [number / largest for number in given]  # whose squares are neither 0 nor infinite
    length = math.sqrt(math.fsum(number * number for number in scaled))
    vector = array("f", (number / length for number in scaled))
    if sys.byteorder == "big":
        vector.byteswap()
    return vector.tobytes()
