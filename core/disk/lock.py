"""Whose turn it is to write, among the threads of this process and among all processes."""

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from core.errors import LogBusyError

if TYPE_CHECKING:
    from filelock import FileLock

_POLL_S = 0.01
_RELEASES = 2


@contextlib.contextmanager
def held(path: str, *, timeout_s: float) -> Iterator[None]:
    """Hold the lock file at `path`; it is made where it is missing and stays afterwards.

    A holder that is killed lets go at once. Raises LogBusyError when another holder does not let
    go within `timeout_s` seconds, OSError when the lock file cannot be opened.
    """
    from filelock import Timeout  # whoever only reads does not need the package at all

    deadline = time.monotonic() + timeout_s
    process = os.getpid()
    turn, lock = _turn(path, process), _lock(path, process)
    busy = LogBusyError(path=path, waited_s=round(timeout_s))
    if not turn.acquire(timeout=timeout_s):
        raise busy
    try:
        try:
            lock.acquire(timeout=max(deadline - time.monotonic(), 0))
        except Timeout as error:
            raise busy from error
        try:
            yield
        finally:
            _release(lock)
    finally:
        turn.release()


@lru_cache(maxsize=64)  # making one costs as much as taking it
def _lock(path: str, process: int) -> "FileLock":
    """The lock among processes at `path`; each thread that takes it counts on its own.

    process: a process that was forked off must not take over the lock of its parent.
    """
    from filelock import FileLock

    return FileLock(path, poll_interval=_POLL_S)


@lru_cache(maxsize=64)
def _turn(path: str, process: int) -> threading.Lock:
    """Whose turn it is among the threads of this process: only one of them asks for the lock.

    A crowd of threads that all poll the lock would take the processor from the one that holds it.
    """
    return threading.Lock()


def _release(lock: "FileLock") -> None:
    """Let go; the file may be replaced already, so that a failure here must not look like one.

    A lock that is not let go is tried again: kept, it would shut out every other process.
    """
    for _ in range(_RELEASES):
        try:
            lock.release(force=True)
        except OSError as error:
            import logging  # whoever only reads never needs it

            logging.getLogger("sentinel_memory").warning(
                "%s: lock not released (%s)", lock.lock_file, error.strerror
            )
        else:
            return
