"""Reads a file whole and replaces it whole, so that no reader ever sees half of it.

Every step of a replacement can raise OSError; before the rename the old file is untouched.
"""

import contextlib
import errno
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, TypeVar

from core.notices import warn

_SHARING_RETRY_S = 1.0
_Result = TypeVar("_Result")

Identity = tuple[int, ...] | None
NEW_MODE = 0o666  # of a new file, less what the user's umask takes
Content = bytes | Iterable[bytes]  # whole, or piece by piece


def read_regular(path: Path, *, most_bytes: int = 0) -> tuple[bytes, Identity]:
    """Read a regular file. most_bytes: of its end, 0 for all."""
    with open_regular(path) as file:
        status = os.fstat(file.fileno())
        if most_bytes and status.st_size > most_bytes:
            file.seek(-most_bytes, os.SEEK_END)
        return file.read(), _of_status(status)


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading; a pipe or a device could block."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError(errno.EINVAL, "not a regular file")
    return open(path, "rb")


def _pieces(content: Content) -> Iterable[bytes]:
    return [content] if isinstance(content, bytes) else content


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
    status = _replaceable(target) or (os.stat(like) if like else None)
    temporary = target.with_name(f".{name or target.name}.{os.urandom(8).hex()}.tmp")
    try:
        _write_synced(temporary, data, status, mode)
        yield temporary
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


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
        _write_synced(path, data, None)
        sync_directory(path.parent)
    try:
        yield
    except BaseException:
        if data:
            with contextlib.suppress(OSError):
                path.unlink()
        raise


def _replaceable(target: Path) -> os.stat_result | None:
    """Return the status of the file to be replaced; None without a file."""
    try:
        status = os.stat(target)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "not a regular file")
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return status


def _write_synced(
    path: Path, data: Content, like: os.stat_result | None, mode: int = NEW_MODE
) -> None:
    """Write a new file and wait until it is on disk; an error removes it again."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags, mode)
    try:
        try:
            if like:
                _make_like(path, like)
            for piece in _pieces(data):
                _write_all(descriptor, piece)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except BaseException:
        with contextlib.suppress(OSError):
            path.unlink()
        raise


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        written = os.write(descriptor, rest)
        if not written:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        rest = rest[written:]


def _make_like(path: Path, like: os.stat_result) -> None:
    """Give `path` the mode of another file, and its owner where this process may."""
    if os.name == "posix" and like.st_uid != os.geteuid():
        with contextlib.suppress(OSError):  # only root may; its saves must not lock the user out
            os.chown(path, like.st_uid, like.st_gid)
    os.chmod(path, stat.S_IMODE(like.st_mode))


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
