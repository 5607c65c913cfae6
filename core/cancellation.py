"""Tells whoever waits for another process when there is no more waiting."""

from collections.abc import Callable
from dataclasses import dataclass


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Cancellation:
    """What a waiting caller asks itself, in its own thread.

    is_requested: nobody wants the change any more, so it is not made even where the lock is free.
    is_ending: the process ends: a free lock is taken, and nothing waits for a held one.
    """

    is_requested: Callable[[], bool] = _never
    is_ending: Callable[[], bool] = _never

    def ends_wait(self) -> bool:
        """Return whether there is no more waiting for another process."""
        return self.is_requested() or self.is_ending()


NO_CANCELLATION = Cancellation()
