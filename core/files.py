"""The only code that opens the memory file: read it, lock it, replace it whole.

Readers take no lock and see either the old or the new file. A writer holds the lock beside the
file around its read, its decision and its replacement. A replacement is a temporary file in the
same directory, written, flushed and fsync'd, then renamed over the target, then the directory is
fsync'd; a failure before the rename leaves the old file as it was. A symlink stays a symlink: its
target is locked and replaced. Promised for local disks, not for network file systems.
"""

import contextlib
import errno
import logging
import os
import secrets
import stat
import threading
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from filelock import FileLock, Timeout

from core.errors import LogBusyError, LogReadError, LogWriteError

LOCK_SUFFIX = ".lock"
TEMPORARY_SUFFIX = ".tmp"

GITIGNORE = "memory_log.jsonl.lock\n.memory_log.jsonl.*.tmp\n"
GITATTRIBUTES = "memory_log.jsonl merge=union text eol=lf\n"
COMPANIONS = {".gitignore": GITIGNORE, ".gitattributes": GITATTRIBUTES}

_SHARING_RETRY_S = 1.0
_Result = TypeVar("_Result")
_log = logging.getLogger("sentinel_memory")


class LogFile:
    """The file at `path`; nothing is created before the first replacement."""

    def __init__(self, path: Path, *, lock_timeout_s: float) -> None:
        self.path = path
        self._lock_timeout_s = lock_timeout_s

    def read(self) -> bytes:
        """The whole file, b"" where there is none. Raises LogReadError."""
        try:
            return _with_sharing_retry(lambda: _read_regular(self.path))
        except FileNotFoundError:
            if os.path.islink(self.path) or os.path.islink(self.path.parent):
                reason = "broken symbolic link"
                raise LogReadError(path=str(self.path), reason=reason) from None
            return b""
        except OSError as error:
            raise LogReadError(path=str(self.path), reason=_reason(error)) from error

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock of this file among processes and threads.

        Raises LogBusyError when another holder does not let go in time, LogWriteError when the
        directory or the lock cannot be made. Nothing is written to the memory file.
        """
        lock_path = str(self._target()) + LOCK_SUFFIX
        deadline = time.monotonic() + self._lock_timeout_s
        turn, lock = _turn(lock_path), _lock(lock_path)
        busy = LogBusyError(path=lock_path, waited_s=round(self._lock_timeout_s))
        if not turn.acquire(timeout=self._lock_timeout_s):
            raise busy
        try:
            try:
                _make_directory(self.path.parent)
                lock.acquire(timeout=max(deadline - time.monotonic(), 0))
            except Timeout as error:
                raise busy from error
            except OSError as error:
                raise LogWriteError(path=str(self.path), reason=_reason(error)) from error
            try:
                yield
            finally:
                lock.release()
        finally:
            turn.release()

    def replace(self, data: bytes) -> None:
        """Make `data` the whole file, atomically. Call it under the lock. Raises LogWriteError."""
        target = self._target()
        try:
            _sweep(target)
            if not target.exists() or not self._has_companions():
                self._add_companions()
            _replace(target, data)
        except OSError as error:
            raise LogWriteError(path=str(self.path), reason=_reason(error)) from error

    def _target(self) -> Path:
        return Path(os.path.realpath(self.path))

    def _has_companions(self) -> bool:
        return any(os.path.lexists(self.path.parent / name) for name in COMPANIONS)

    def _add_companions(self) -> None:
        """Give our own folder what git needs to know; files that are there are left alone."""
        for name, text in COMPANIONS.items():
            companion = self.path.parent / name
            if not os.path.lexists(companion):
                _replace(companion, text.encode("ascii"))


@lru_cache(maxsize=64)  # making one costs as much as taking it
def _lock(path: str) -> FileLock:
    """The lock among processes at `path`; each thread that takes it counts on its own."""
    return FileLock(path, poll_interval=0.01)


@lru_cache(maxsize=64)
def _turn(path: str) -> threading.Lock:
    """Whose turn it is among the threads of this process: only one of them asks for the lock.

    A crowd of threads that all poll the lock would take the processor from the one that holds it.
    """
    return threading.Lock()


def _read_regular(path: Path) -> bytes:
    """Read a regular file; a directory, pipe or device would block or make no sense."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError(errno.EINVAL, "not a regular file")
    return path.read_bytes()


def _make_directory(directory: Path) -> None:
    if directory.is_dir():
        return
    directory.mkdir(parents=True, exist_ok=True)
    _sync_directory(directory.parent)


def _replace(target: Path, data: bytes) -> None:
    mode: int | None = None
    with contextlib.suppress(FileNotFoundError):
        status = os.stat(target)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        if not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        mode = stat.S_IMODE(status.st_mode)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}{TEMPORARY_SUFFIX}")
    try:
        _write_synced(temporary, data, mode)
        _with_sharing_retry(lambda: os.replace(temporary, target))
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    _sync_directory(target.parent)


def _write_synced(path: Path, data: bytes, mode: int | None) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags, 0o666)
    with open(descriptor, "wb") as file:
        if mode is not None:
            os.chmod(path, mode)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync_directory(directory: Path) -> None:
    """Make a rename durable where the platform can; the rename itself has already happened."""
    if os.name == "nt":  # directories cannot be opened there
        return
    try:
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        _log.warning("%s: directory not synced (%s)", directory, _reason(error))


def _sweep(target: Path) -> None:
    """Remove what killed writers left; under the lock no writer is at work."""
    for name in os.listdir(target.parent):
        if name.startswith(f".{target.name}.") and name.endswith(TEMPORARY_SUFFIX):
            with contextlib.suppress(OSError):
                os.unlink(target.parent / name)


def _with_sharing_retry(action: Callable[[], _Result]) -> _Result:
    """Windows refuses to open or rename a file that a reader or scanner holds for a moment."""
    deadline = time.monotonic() + _SHARING_RETRY_S
    while True:
        try:
            return action()
        except PermissionError:
            if os.name != "nt" or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__
