"""Whose turn it is to write, among the threads of this process and among all processes."""

import contextlib
import logging
import threading
import time
from collections.abc import Iterator
from functools import lru_cache

from filelock import FileLock, Timeout

from core.errors import LogBusyError

_POLL_S = 0.01
_log = logging.getLogger("sentinel_memory")


@contextlib.contextmanager
def held(path: str, *, timeout_s: float) -> Iterator[None]:
    """Hold the lock file at `path`; it is made where it is missing and stays afterwards.

    A holder that is killed lets go at once. Raises LogBusyError when another holder does not let
    go within `timeout_s` seconds, OSError when the lock file cannot be opened.
    """
    deadline = time.monotonic() + timeout_s
    turn, lock = _turn(path), _lock(path)
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
def _lock(path: str) -> FileLock:
    """The lock among processes at `path`; each thread that takes it counts on its own."""
    return FileLock(path, poll_interval=_POLL_S)


@lru_cache(maxsize=64)
def _turn(path: str) -> threading.Lock:
    """Whose turn it is among the threads of this process: only one of them asks for the lock.

    A crowd of threads that all poll the lock would take the processor from the one that holds it.
    """
    return threading.Lock()


def _release(lock: FileLock) -> None:
    """Let go; the file may be replaced already, so that a failure here must not look like one."""
    try:
        lock.release()
    except OSError as error:
        _log.warning("%s: lock not released (%s)", lock.lock_file, error.strerror)
