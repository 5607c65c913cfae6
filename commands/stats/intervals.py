"""Works out how far a share that was counted can be from the true one. Pure."""

from dataclasses import dataclass
from math import sqrt

LEAST = 20  # below it a share is not told, since it could be nearly any
_Z = 1.959964  # of 95 %


@dataclass(frozen=True, slots=True)
class Share:
    """How many of how many."""

    count: int
    of: int

    @property
    def value(self) -> float:
        """The share, 0 of nothing."""
        return self.count / self.of if self.of else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval of 95 %, from 0 to 1 of nothing."""
        if not self.of:
            return 0.0, 1.0
        square = _Z * _Z / self.of
        middle = (self.value + square / 2) / (1 + square)
        half = _Z * sqrt(self.value * (1 - self.value) / self.of + square / 4 / self.of)
        half /= 1 + square
        # At none and all the ends are exact, which the sums above miss by rounding.
        low = 0.0 if self.count == 0 else middle - half
        return low, 1.0 if self.count == self.of else middle + half

    @property
    def is_enough(self) -> bool:
        """Whether the share may be told."""
        return self.of >= LEAST


def difference(one: Share, other: Share) -> tuple[float, float, float]:
    """Return one share less the other, and Newcombe's interval of 95 % around that."""
    gap = one.value - other.value
    (low, high), (other_low, other_high) = one.interval, other.interval
    below = sqrt((one.value - low) ** 2 + (other_high - other.value) ** 2)
    above = sqrt((high - one.value) ** 2 + (other.value - other_low) ** 2)
    return gap, gap - below, gap + above
