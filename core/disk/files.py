"""Files of the disk: read whole, replaced whole, written to their end, and locked.

No reader ever sees half of a file that is replaced. Every step of a replacement can raise OSError;
before the rename the old file is untouched.
"""

import contextlib
import errno
import os
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeVar

from core.errors import BusyError, DiskError, WaitEndedError, link_error
from core.program import NO_CANCELLATION, Cancellation, warn

if TYPE_CHECKING:
    from filelock import FileLock

NEW_MODE = 0o666  # of a new file, less what the user's umask takes
_BINARY = getattr(os, "O_BINARY", 0)
_SHARING_RETRY_S = 1.0
_POLL_S = 0.01
_RELEASES = 2

Identity = tuple[int, ...] | None
Content = bytes | Iterable[bytes]  # whole, or piece by piece
_Result = TypeVar("_Result")


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading; a pipe or a device could block."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError(errno.EINVAL, "not a regular file")
    return open(path, "rb")


def read_regular(path: Path, *, most_bytes: int = 0) -> tuple[bytes, Identity]:
    """Read a regular file. most_bytes: of its end, 0 for all."""
    with open_regular(path) as file:
        status = os.fstat(file.fileno())
        if most_bytes and status.st_size > most_bytes:
            file.seek(-most_bytes, os.SEEK_END)
        return file.read(), _of_status(status)


def identity_of(path: Path) -> Identity:
    """Return what tells a file's versions apart without reading it; None without a file."""
    try:
        return _of_status(os.stat(path))
    except FileNotFoundError:
        return None


def _of_status(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def is_there(path: Path) -> bool:
    """Return whether something, even a broken link, has this name. Raises OSError if unsure."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def is_odd(path: Path) -> bool:
    """Return whether something other than a file has this name, a link included."""
    return is_there(path) and not stat.S_ISREG(os.lstat(path).st_mode)


def real_path(path: Path) -> Path:
    """Return the path without links; its last part need not exist. Raises OSError if unsure.

    A link that is taken for a file because it cannot be read would be replaced.
    """
    try:
        return Path(os.path.realpath(path, strict=True))
    except FileNotFoundError:
        return Path(os.path.realpath(path.parent, strict=True), path.name)


def make_directory(directory: Path) -> None:
    """Make a missing directory with those above it, and make their entries durable."""
    if directory.is_dir():
        return
    missing = [it for it in (directory, *directory.parents) if not it.is_dir()]
    directory.mkdir(parents=True, exist_ok=True)
    for made in missing:
        sync_directory(made.parent)


@contextlib.contextmanager
def prepared(
    target: Path, data: Content, name: str = "", *, like: Path | None = None, mode: int = NEW_MODE
) -> Iterator[Path]:
    """A temporary file beside `target` with its mode and owner and this content, on disk.

    Afterwards it is gone, unless it was renamed. name: the base of its own name. like: the file
    whose mode and owner it gets where there is no target yet; mode: without either.
    """
    status: os.stat_result | None
    try:
        status = os.stat(target)
    except FileNotFoundError:
        status = os.stat(like) if like else None
    else:
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        if not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    temporary = target.with_name(f".{name or target.name}.{os.urandom(8).hex()}.tmp")
    try:
        _write_new(temporary, data, status, mode)
        yield temporary
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def rename(temporary: Path, target: Path) -> None:
    """Put `temporary` in the place of `target`, in one step."""
    written = identity_of(temporary)
    try:
        with_sharing_retry(lambda: os.replace(temporary, target))
    except OSError:
        with contextlib.suppress(OSError):
            if written and identity_of(target) == written:  # it happened in spite of the error
                return
        raise


def replace_whole(
    path: Path,
    data: bytes,
    check: Callable[[Path], None] = lambda target: None,
    *,
    mode: int = NEW_MODE,
) -> None:
    """Replace the content of a file by `data`, in one step and on disk; a link stays one.

    check: gets the path without links just before the replacement; what it raises prevents that.
    mode: of a new file, before the umask. Raises OSError.
    """
    target = real_path(path)
    with prepared(target, data, mode=mode) as temporary:
        check(target)
        rename(temporary, target)
    sync_directory(target.parent)


@contextlib.contextmanager
def kept_aside(path: Path, data: bytes) -> Iterator[None]:
    """Write `data`, if any, to a new file on disk; an error inside removes the file again."""
    if data:
        _write_new(path, data, None)
        sync_directory(path.parent)
    try:
        yield
    except BaseException:
        if data:
            with contextlib.suppress(OSError):
                path.unlink()
        raise


def _write_new(
    path: Path, data: Content, like: os.stat_result | None, mode: int = NEW_MODE
) -> None:
    """Write a new file and wait until it is on disk; an error removes it again."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, mode)
    try:
        try:
            if like and os.name == "posix" and like.st_uid != os.geteuid():
                with contextlib.suppress(OSError):  # only root may, and must not lock the user out
                    os.chown(path, like.st_uid, like.st_gid)
            if like:
                os.chmod(path, stat.S_IMODE(like.st_mode))
            for piece in [data] if isinstance(data, bytes) else data:
                _write_all(descriptor, piece)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except BaseException:
        with contextlib.suppress(OSError):
            path.unlink()
        raise


def append_lines(path: Path, lines: bytes) -> None:
    """Write lines to the end of a regular file and wait until they are on disk.

    They begin on a line of their own, also behind one that a killed writer has torn. An error takes
    back what was written, where it can. Raises OSError, also for a link.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | _BINARY | getattr(os, "O_NOFOLLOW", 0))
    try:
        before_bytes = os.lseek(descriptor, 0, os.SEEK_END)
        try:
            if before_bytes:
                os.lseek(descriptor, -1, os.SEEK_END)
                if os.read(descriptor, 1) != b"\n":
                    lines = b"\n" + lines
            _write_all(descriptor, lines)
            os.fsync(descriptor)
        except BaseException:
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, before_bytes)
            raise
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        written = os.write(descriptor, rest)
        if not written:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        rest = rest[written:]


def sync_directory(directory: Path) -> None:
    """Make a rename durable where the platform can; a failure is only logged."""
    if os.name == "nt":  # directories cannot be opened there
        return
    try:
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        warn("%s: directory not synced (%s)", directory, reason_of(error))


def with_sharing_retry(action: Callable[[], _Result]) -> _Result:
    """Try again for a moment: Windows refuses a file that a reader or a scanner holds."""
    deadline = time.monotonic() + _SHARING_RETRY_S
    while True:
        try:
            return action()
        except PermissionError:
            if os.name != "nt" or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def reason_of(error: OSError) -> str:
    """Return the operating system's words for an error, without the path."""
    return error.strerror or type(error).__name__


# The lock.


@contextlib.contextmanager
def held(
    path: str, *, timeout_s: float, cancellation: Cancellation = NO_CANCELLATION
) -> Iterator[None]:
    """Hold the lock file at `path`, which is made when missing and stays afterwards.

    A killed holder lets go at once. Raises BusyError when another holder keeps the lock for
    `timeout_s` seconds, WaitEndedError when `cancellation` ends the wait before, DiskError when a
    link stands in its place, which would be emptied, or when the lock file belongs to another user,
    OSError when it cannot be opened for another reason.
    """
    if os.path.islink(path):
        raise link_error("lock_link", path=path, link=path, target="")
    from filelock import Timeout  # a reader does not need the package

    deadline = time.monotonic() + timeout_s
    process = os.getpid()
    turn, lock = _turn(path, process), _lock(path, process)
    if not turn.acquire(timeout=timeout_s):
        raise BusyError("log_busy", path=path, waited_s=round(timeout_s))
    try:
        try:
            lock.acquire(
                timeout=max(deadline - time.monotonic(), 0), cancel_check=cancellation.ends_wait
            )
        except Timeout as error:
            if cancellation.ends_wait():
                raise WaitEndedError(path=path) from error
            raise BusyError("log_busy", path=path, waited_s=round(timeout_s)) from error
        except PermissionError as error:
            if is_there(Path(path)):
                import shlex  # nearly nobody needs it

                removal = shlex.join(["rm", "-f", path])
                raise DiskError("lock_file", path=path, rm=removal) from error
            raise  # the directory may not be written
        _leave_to_owner(path)
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


def _leave_to_owner(path: str) -> None:
    """Give a lock file that root has made to the owner of its directory, who could not open it."""
    if os.name == "posix" and os.geteuid() == 0:
        with contextlib.suppress(OSError):
            owner = os.stat(os.path.dirname(path))
            os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


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
