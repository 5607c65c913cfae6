"""Files: read whole, replaced whole, written to their end, locked, and not behind a link.

No reader ever sees half of a replaced file. Any step of a replacement can raise OSError; before the
rename the old file is untouched.
"""

import contextlib
import errno
import json
import os
import re
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TypeVar

from core.config import CONTEXT_DIRECTORY, no_project_kind
from core.errors import BusyError, DiskError, SentinelError, WaitEndedError, link_error
from core.program import NO_CANCELLATION, Cancellation, warn

if TYPE_CHECKING:
    from filelock import FileLock

_NEW_MODE = 0o666  # of a new file, less the user's umask
LOG_SUFFIX = ".jsonl"
_BINARY = getattr(os, "O_BINARY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_SHARING_RETRY_S = 1.0
_POLL_S = 0.01
_RELEASE_TRIES = 2
_MOST_BYTES = 1 << 20  # how far into a file its first record is looked for
_TEMPORARY_NAME = re.compile(r"\.(?P<name>.+)\.[0-9a-f]{16}\.tmp(?:-journal)?")
_ABANDONED_AGE_S = 10  # from its last write to the rename a temporary file needs a moment

Identity = tuple[int, ...] | None
_Result = TypeVar("_Result")


# The state of a name.


def status_of(path: str | Path) -> os.stat_result | None:
    """Return the status of a name, of a link itself; None for nothing."""
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):  # after another error it may be there
        return None


def is_there(path: Path) -> bool:
    """Return whether anything, even a broken link, has this name. Raises OSError if unsure."""
    return status_of(path) is not None


def is_irregular(path: Path) -> bool:
    """Return whether anything but a file has this name; a link does."""
    return (status := status_of(path)) is not None and not stat.S_ISREG(status.st_mode)


def identity_of(path: Path) -> Identity:
    """Return the identity of a file's version, unread; None without a file."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def reason_of(error: OSError) -> str:
    """Return the system's words for an error, without the path."""
    return error.strerror or type(error).__name__


@contextlib.contextmanager
def errors_as(kind: type[SentinelError], key: str, path: str | Path) -> Iterator[None]:
    """Turn an OSError into an error of ours, with the path and the system's reason."""
    try:
        yield
    except SentinelError:  # some are OSErrors
        raise
    except OSError as error:
        raise kind(key, path=str(path), reason=reason_of(error)) from error


# Reading.


def open_regular_file(path: Path) -> BinaryIO:
    """Open a regular file for reading; a pipe or a device could block."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError(errno.EINVAL, "not a regular file")
    return _retry(lambda: open(path, "rb"))


def read_regular_file(path: Path, *, most_bytes: int = 0) -> tuple[bytes, Identity]:
    """Read a regular file. most_bytes: of its end, 0 for all."""
    with open_regular_file(path) as file:
        status = os.fstat(file.fileno())
        if most_bytes and status.st_size > most_bytes:
            file.seek(-most_bytes, os.SEEK_END)
        identity = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
        return file.read(), identity


def _retry(action: Callable[[], _Result]) -> _Result:
    """Try again for a moment: Windows refuses a file that a reader or a scanner holds."""
    deadline = time.monotonic() + _SHARING_RETRY_S
    while True:
        try:
            return action()
        except PermissionError:
            if os.name != "nt" or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


# Writing.


def make_directory(directory: Path) -> None:
    """Make a directory and its parents, durably."""
    if directory.is_dir():
        return
    missing = [folder for folder in (directory, *directory.parents) if not folder.is_dir()]
    directory.mkdir(parents=True, exist_ok=True)
    for folder in missing:
        sync_directory(folder.parent)


@contextlib.contextmanager
def prepared_file(
    target: Path,
    data: bytes | Iterable[bytes],
    name: str = "",
    *,
    like: Path | None = None,
    mode: int = _NEW_MODE,
    is_private: bool = False,
) -> Iterator[Path]:
    """Lend a temporary file beside `target`, on disk with this content, until it was renamed.

    name: the base of its name. like: gives mode and owner where there is no target yet; mode:
    without either. is_private: only its owner may read it, whatever stood there.
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
    mode_mask = 0o600 if is_private else 0o7777
    try:
        descriptor = os.open(
            temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, mode & mode_mask
        )
        try:
            if status and os.name == "posix" and status.st_uid != os.geteuid():
                with contextlib.suppress(OSError):  # only root may, and must not lock the user out
                    os.chown(temporary, status.st_uid, status.st_gid)
            if status:
                os.chmod(temporary, stat.S_IMODE(status.st_mode) & mode_mask)
            for piece in [data] if isinstance(data, bytes) else data:
                _write_all(descriptor, piece)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        yield temporary
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def rename(temporary: Path, target: Path) -> None:
    """Put `temporary` in the place of `target`, in one step."""
    identity = identity_of(temporary)
    try:
        _retry(lambda: os.replace(temporary, target))
    except OSError:
        with contextlib.suppress(OSError):
            if identity and identity_of(target) == identity:  # it happened in spite of the error
                return
        raise


def remove_strays(directory: Path, name: str, *, least_age_s: float = 0) -> None:
    """Remove temporary files of this base, which killed writers left. Raises OSError."""
    matches = filter(None, map(_TEMPORARY_NAME.fullmatch, os.listdir(directory)))
    for stray in (match[0] for match in matches if match["name"] == name):
        status = status_of(directory / stray)
        is_old = status and (not least_age_s or time.time() - status.st_mtime > least_age_s)
        if is_old and not is_irregular(directory / stray):
            (directory / stray).unlink(missing_ok=True)


def replace_file(
    path: Path,
    data: bytes | Iterable[bytes],
    check: Callable[[Path], None] = lambda target: None,
    *,
    name: str = "",
    like: Path | None = None,
    is_private: bool = False,
) -> None:
    """Replace the content of a file, in one step and on disk; a link stays one. Raises OSError.

    check: gets the path without links just before; its error prevents the replacement. name, like,
    is_private: as of `prepared_file`.
    """
    try:
        target = Path(os.path.realpath(path, strict=True))
    except FileNotFoundError:  # a link that cannot be read is not taken for a file
        target = Path(os.path.realpath(path.parent, strict=True), path.name)
    with contextlib.suppress(OSError):
        remove_strays(target.parent, name or target.name, least_age_s=_ABANDONED_AGE_S)
    with prepared_file(target, data, name, like=like, is_private=is_private) as temporary:
        check(target)
        rename(temporary, target)
    sync_directory(target.parent)


def append(path: Path, data: bytes) -> None:
    """Write to the end of a file, none behind a link, and to the disk. OSError may leave a part."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | _BINARY | _NO_LINK)
    try:
        _write_all(descriptor, data)
        # Of its status the length alone matters, which spares the disk a step.
        getattr(os, "fdatasync", os.fsync)(descriptor)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        count = os.write(descriptor, rest)
        if not count:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        rest = rest[count:]


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


# The lock.


@contextlib.contextmanager
def locked_file(
    path: str, *, timeout_s: float, cancellation: Cancellation = NO_CANCELLATION
) -> Iterator[None]:
    """Hold the lock file at `path`, which is made when missing and stays.

    Raises BusyError after `timeout_s`, WaitEndedError when `cancellation` ends the wait, DiskError
    for a link, which would be emptied, and for another user's lock file in a directory of ours,
    OSError when it cannot be opened.
    """
    status = status_of(path)
    if status and stat.S_ISLNK(status.st_mode):
        raise link_error("lock_link", path=path, link=path, target="")
    from filelock import Timeout  # a reader does not need the package

    deadline = time.monotonic() + timeout_s
    turn, lock = _lock_at(path, os.getpid())
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
            is_supported = os.access in os.supports_effective_ids
            may_remove = os.access(os.path.dirname(path), os.W_OK, effective_ids=is_supported)
            if not (status and may_remove):
                raise
            import shlex  # nearly nobody needs it

            raise DiskError("lock_file", path=path, rm=shlex.join(["rm", "-f", path])) from error
        try:
            if not status and os.name == "posix" and os.geteuid() == 0:
                with contextlib.suppress(OSError):  # so that the directory's owner can open it
                    owner = os.stat(os.path.dirname(path))
                    os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)
            if cancellation.is_requested():  # while it waited for its turn among the threads
                raise WaitEndedError(path=path)
            yield
        finally:
            for _ in range(_RELEASE_TRIES):  # then only logged: the file may be replaced already
                try:
                    lock.release(force=True)
                    break
                except OSError as error:
                    warn("%s: lock not released (%s)", path, error.strerror)
    finally:
        turn.release()


@lru_cache(maxsize=64)  # to make one costs as much as to take it
def _lock_at(path: str, process: int) -> tuple[threading.Lock, "FileLock"]:
    """Return the lock of the threads of this process, and that of processes.

    Only the holder of the first polls the lock file: many polling threads would slow the writer
    down. process: a fork takes over no lock of its parent.
    """
    from filelock import FileLock

    return threading.Lock(), FileLock(path, poll_interval=_POLL_S)


# Where links lead. A clone brings links that its user has never looked at. They may lead into
# the project or its work tree, but for a git directory. Out of them only that of a log is followed,
# to a file or folder that is plainly a memory.


class ExitLink(NamedTuple):
    link: Path
    target: Path


def find_exit_link(path: Path, project: Path | None = None) -> ExitLink | None:
    """Return the link by which `path` leaves the project.

    The user has chosen a path that lies outside by its own name, or by a link that is not the
    project's. project: None for the repository of the link.
    """
    first, *parts = path.absolute().parts
    folder = Path(first)
    for part in parts:
        link = folder / part
        if part == os.pardir:
            folder = folder.parent
        elif not os.path.islink(link):
            folder = link
        else:
            tree = tree_of(project) if project else _work_tree_of(folder)
            target = Path(os.path.realpath(path))
            if _is_in(folder, tree) and not _is_in(target, tree):
                return ExitLink(link, target)
            folder = Path(os.path.realpath(link))
    return None


def resolve_log(path: Path, *, may_be_new: bool = False) -> Path:
    """Return where the memory log `path` really is; may_be_new: or would be.

    Raises LogReadError for a link to nothing or to no memory, FileNotFoundError without a log,
    OSError.
    """
    read_status = status_of if may_be_new else os.lstat
    folder, place = path.parent, path
    if (status := read_status(folder)) and stat.S_ISLNK(status.st_mode):
        place = _target_of(folder, path, "folder")
        if not _is_in(place, tree_of(folder.parent)) and not _holds_memory(place, path.name):
            raise link_error("log_link_folder", path=path, link=folder, target=place)
        place /= path.name
    if (status := read_status(place)) and stat.S_ISLNK(status.st_mode):
        place = _target_of(path, path, "file")
        may_be_log = place.suffix == LOG_SUFFIX or _is_in(place, tree_of(folder.parent))
        if os.path.isfile(place) and not (may_be_log and _is_log(place)):
            raise link_error("log_link", path=path, link=path, target=place)
    return place


def _target_of(link: Path, path: Path, kind: str) -> Path:
    try:
        return Path(os.path.realpath(link, strict=True))
    except FileNotFoundError:
        target = Path(os.path.realpath(link))
        raise link_error(f"log_link_gone_{kind}", path=path, link=link, target=target) from None


def _holds_memory(folder: Path, name: str) -> bool:
    if no_project_kind(folder, os.environ):
        return False
    names = os.listdir(folder)
    if folder.name == CONTEXT_DIRECTORY or name in names:
        return True
    prefixes = (name.removesuffix(LOG_SUFFIX) + ".", "gitignore", "gitattributes")
    return all(entry.lstrip(".").startswith(prefixes) for entry in names)


def _is_log(path: Path) -> bool:
    with open(path, "rb") as file:
        start = file.read(_MOST_BYTES).removeprefix(b"\xef\xbb\xbf")
    for line in start.split(b"\n"):
        with contextlib.suppress(ValueError, RecursionError, AttributeError):
            value = json.loads(line)
            if all(isinstance(value.get(key), str) for key in ("id", "topic", "lesson")):
                return True
    return not start.strip()


def tree_of(project: Path) -> Path | None:
    """Return the directory inside which a project's links may lead."""
    root = Path(os.path.realpath(project))
    return _work_tree_of(root) or (None if _is_shared(root) else root)


def _work_tree_of(folder: Path) -> Path | None:
    # Not the other work trees of its repository: files of an archive could name any directory so.
    for place in (folder, *folder.parents):
        if os.path.lexists(place / ".git"):
            return None if _is_shared(place) else place
    return None


def _is_in(path: Path, tree: Path | None) -> bool:
    if not tree or not path.is_relative_to(tree):
        return False
    return ".git" not in map(str.casefold, path.relative_to(tree).parts)


def _is_shared(tree: Path) -> bool:
    """Return whether a directory is a home, holds homes, or is the system's."""
    homes = {os.environ.get("HOME", ""), os.environ.get("USERPROFILE", ""), os.path.expanduser("~")}
    holds_home = any(home and Path(os.path.realpath(home)).is_relative_to(tree) for home in homes)
    return holds_home or bool(no_project_kind(tree, os.environ))
