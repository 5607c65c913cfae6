"""Locks a file: one writer at a time, among the threads of this process and among processes."""

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from core.cancellation import NO_CANCELLATION, Cancellation
from core.errors import LogBusyError, LogLinkError, WaitEndedError
from core.notices import warn

if TYPE_CHECKING:
    from filelock import FileLock

_POLL_S = 0.01
_RELEASES = 2


@contextlib.contextmanager
def held(
    path: str, *, timeout_s: float, cancellation: Cancellation = NO_CANCELLATION
) -> Iterator[None]:
    """Hold the lock file at `path`, which is made when missing and stays afterwards.

    A killed holder lets go at once. Raises LogBusyError when another holder keeps the lock for
    `timeout_s` seconds, WaitEndedError when `cancellation` ends the wait before, LogLinkError when
    a link stands in its place, which would be emptied, OSError when the lock file cannot be opened.
    """
    if os.path.islink(path):
        raise LogLinkError("lock_link", path=path, link=path, target="")
    from filelock import Timeout  # a reader does not need the package

    deadline = time.monotonic() + timeout_s
    process = os.getpid()
    turn, lock = _turn(path, process), _lock(path, process)
    busy = LogBusyError(path=path, waited_s=round(timeout_s))
    if not turn.acquire(timeout=timeout_s):
        raise busy
    try:
        try:
            lock.acquire(
                timeout=max(deadline - time.monotonic(), 0), cancel_check=cancellation.ends_wait
            )
        except Timeout as error:
            raise WaitEndedError(path=path) if cancellation.ends_wait() else busy from error
        try:
            if cancellation.is_requested():  # while it waited for its turn among the threads
                raise WaitEndedError(path=path)
            yield
        finally:
            _release(lock)
    finally:
        turn.release()


@lru_cache(maxsize=64)  # to make one costs as much as to take it
def _lock(path: str, process: int) -> "FileLock":
    """Return the lock at `path` among processes.

    process: part of the key, so that a fork does not take over the lock of its parent.
    """
    from filelock import FileLock

    return FileLock(path, poll_interval=_POLL_S)


@lru_cache(maxsize=64)
def _turn(path: str, process: int) -> threading.Lock:
    """Return the lock among threads of this process, of which only the holder polls the lock file.

    Many polling threads would take the processor from the one that writes.
    """
    return threading.Lock()


def _release(lock: "FileLock") -> None:
    """Let go, and try again after a failure: a kept lock would shut out every other process.

    A failure is only logged, since the file may be replaced already.
    """
    for _ in range(_RELEASES):
        try:
            lock.release(force=True)
        except OSError as error:
            warn("%s: lock not released (%s)", lock.lock_file, error.strerror)
        else:
            return
