"""Leaves a service alone for a while after it failed, so that nobody waits for it twice."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rooms.fragments.errors import ServiceError

PAUSE_S = 30.0


class Pausing:
    """The pause of one service: while it lasts, its last failure is raised at once.

    clock: returns seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._until = clock, 0.0
        self._failure: ServiceError | None = None

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Ask the service in here. Raises ServiceError."""
        failure = self._failure
        if failure and self._clock() < self._until:
            raise failure.again()
        try:
            yield
        except ServiceError as error:
            if not error.may_be_of_these:
                self._until = self._clock() + max(PAUSE_S, error.retry_after_s)
                self._failure = error
            raise
        self._failure = None
