"""Does in a thread what waits for a disk or a server, so that other requests go on."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import anyio.to_thread

_Result = TypeVar("_Result")


async def in_thread(call: Callable[..., _Result], *given: Any) -> _Result:
    """Return what a call gives."""
    return await anyio.to_thread.run_sync(partial(call, *given))
