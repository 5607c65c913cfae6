"""Waits for what comes about in another thread or process."""

import time
from collections.abc import Callable
from typing import TypeVar

from tests.support.stdio_client import WAIT_S

_PAUSE_S = 0.02

Seen = TypeVar("Seen")


def until(look: Callable[[], Seen]) -> Seen:
    """Return what is seen as soon as it is true. Raises AssertionError after WAIT_S."""
    ends_at = time.monotonic() + WAIT_S
    while not (seen := look()):
        assert time.monotonic() < ends_at, f"it has not come about; last seen: {seen!r}"
        time.sleep(_PAUSE_S)
    return seen
