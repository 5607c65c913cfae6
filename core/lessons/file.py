"""The memory file on disk, with the files beside it. No other code opens it to write.

Readers take no lock and see the old or the new file. Beside it lie its lock, the companions that
tell git about it, and the side file of records that left. For local disks.
"""

import contextlib
import errno
import os
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from core import disk
from core.errors import DiskError, LogReadError, SentinelError
from core.program import NO_CANCELLATION, Cancellation

LOCK_SUFFIX = ".lock"
ASIDE_NAME = "memory_log.removed"
REPLACED_NAME = "memory_log.replaced.jsonl"
MOST_SIDE_BYTES = 1_000_000  # above it the newest half of the side file stays
MOST_SIDE_READ_BYTES = 16_000_000  # no change that we know of takes more out; a stranger's may hold

IGNORE_NAME = ".gitignore"
GITIGNORE = f"memory_log.jsonl.lock\n.memory_log.jsonl.*.tmp\n{ASIDE_NAME}-*.txt\n{REPLACED_NAME}\n"
GITATTRIBUTES = "memory_log.jsonl merge=union text eol=lf -ident\n"
COMPANIONS = {IGNORE_NAME: GITIGNORE, ".gitattributes": GITATTRIBUTES}

_MOST_ATTEMPTS = 5
_SETTLE_S = 0.05
_Result = TypeVar("_Result")


class Replacement(NamedTuple, Generic[_Result]):
    """The new bytes of the file, and a writer's result."""

    data: bytes
    result: _Result
    aside: bytes = b""  # for a new file beside the log
    side_lines: bytes = b""  # lines for the side file


class LogFile:
    """The file at `path`; the first replacement creates it and its directory.

    asks_git: whether a missing file that git has is an error, not an empty log.
    """

    def __init__(
        self,
        path: Path,
        lock_timeout_s: float,
        cancellation: Cancellation = NO_CANCELLATION,
        *,
        asks_git: bool = False,
    ) -> None:
        self.path = path
        self.side_path = path.with_name(REPLACED_NAME)  # what changes take out of the log
        self._lock_timeout_s = lock_timeout_s
        self._cancellation = cancellation
        self._asks_git = asks_git

    def read(self) -> bytes:
        """Return the whole file, b"" where there is none. Raises LogReadError."""
        return self._read()[0]

    def _read(self, real_path: Path | None = None) -> tuple[bytes, disk.Identity]:
        for _ in range(_MOST_ATTEMPTS):
            try:
                with _errors_of(self.path):
                    return disk.read_regular_file(real_path or disk.resolve_log(self.path))
            except FileNotFoundError:
                if os.path.islink(self.path):  # its target has just gone
                    raise LogReadError(path=str(self.path), reason="broken symbolic link") from None
            if not self._asks_git:
                return b"", None
            if not os.path.lexists(self.path):  # else git was writing the file
                self._ask_git()
        raise LogReadError(path=str(self.path), reason="a name in its directory without a file")

    def _ask_git(self) -> None:
        """Raise LogMissingError where git has the file that is missing here; ask once."""
        if self._asks_git:
            from core import git  # a log that is there needs no git

            git.check_missing(self.path)
            self._asks_git = False

    def rewrite(
        self, change: Callable[[bytes], Replacement[_Result]], *, aside_name: str = ""
    ) -> _Result:
        """Replace the file by the result of `change`; equal bytes are not written.

        On disk, in this order: lock, companions, the new log under a temporary name, side file, new
        file `aside_name`, rename. `change` runs under the lock, and again when a program without
        the lock has replaced the file.

        Raises BusyError, WaitEndedError, DiskError, and errors of `change`: nothing is written.
        """
        with self._locked_path() as real_path:
            for _ in range(_MOST_ATTEMPTS):
                # An editor empties a file before it writes it, and git removes it first.
                deadline = time.monotonic() + _SETTLE_S
                while True:
                    data, identity = self._read(real_path)
                    companions = (self.path.with_name(name) for name in COMPANIONS)
                    is_new = not data and not all(map(disk.is_there, companions))
                    if data or is_new or time.monotonic() > deadline:
                        break
                    time.sleep(_SETTLE_S / 5)
                new_log = change(data)
                if new_log.data == data or self._replace(real_path, new_log, identity, aside_name):
                    return new_log.result
        raise DiskError("log_unsettled", path=str(self.path))

    def _replace(
        self, target: Path, new_log: Replacement[_Result], identity: disk.Identity, aside_name: str
    ) -> bool:
        if identity is None or not disk.is_there(self.path.with_name(IGNORE_NAME)):
            self._write_companions(*COMPANIONS, only_missing=True)
        with disk.prepared_file(target, new_log.data) as temporary:
            if disk.identity_of(target) != identity:
                return False
            if new_log.side_lines:
                self._append_side_lines(new_log.side_lines, target)
            aside = self.path.parent / aside_name
            if new_log.aside:
                disk.replace_file(aside, new_log.aside, _check_is_new, name=self.path.name)
            try:
                disk.rename(temporary, target)
            except BaseException:
                if new_log.aside:
                    with contextlib.suppress(OSError):
                        aside.unlink()
                raise
        disk.sync_directory(target.parent)
        return True

    @contextlib.contextmanager
    def _locked_path(self) -> Iterator[Path]:
        """Hold the lock, remove strays, and give the file's real path."""
        with _errors_of(self.path, writes=True):
            real_path = disk.resolve_log(self.path, may_be_new=True)  # before a folder is made
            if not os.path.lexists(self.path):
                self._ask_git()
                disk.make_directory(self.path.parent)
            with disk.locked_file(
                f"{real_path}{LOCK_SUFFIX}",
                timeout_s=self._lock_timeout_s,
                cancellation=self._cancellation,
            ):
                with contextlib.suppress(OSError):  # nobody may list it, or another user's stray
                    for path in dict.fromkeys((real_path, self.path)):
                        disk.remove_strays(path.parent, path.name)
                try:
                    yield real_path
                finally:  # `git stash -u` takes the rule away and leaves the lock
                    with contextlib.suppress(OSError):
                        self._write_companions(IGNORE_NAME, only_missing=True)

    # The side file. No link is followed: a link that a repository brings leads to another file.

    def read_side(self, *, most_bytes: int = MOST_SIDE_READ_BYTES) -> bytes:
        """Return at most `most_bytes` of the side file's end, b"" for none. Raises LogReadError."""
        try:
            with _errors_of(self.side_path):
                if disk.is_irregular(self.side_path):
                    reason = "a link, a directory or another thing that is no file"
                    raise OSError(errno.EINVAL, reason)
                return disk.read_regular_file(self.side_path, most_bytes=most_bytes)[0]
        except FileNotFoundError:
            return b""

    def _append_side_lines(self, lines: bytes, log: Path) -> None:
        """Add lines to the side file; above MOST_SIDE_BYTES only its newest half stays."""
        with _errors_of(self.side_path, writes=True):
            last_byte = self.read_side(most_bytes=1)
            if last_byte not in (b"", b"\n"):  # a killed save has torn its line
                lines = b"\n" + lines
            side_bytes = os.stat(self.side_path).st_size if last_byte else 0
            if side_bytes and side_bytes + len(lines) <= MOST_SIDE_BYTES:
                disk.append(self.side_path, lines)
                return
            tail = self.read_side(most_bytes=MOST_SIDE_BYTES // 2)
            if side_bytes > len(tail):
                tail = tail.partition(b"\n")[2]  # without the line that the cut has torn
            if not side_bytes:
                self._write_companions(IGNORE_NAME)  # git must not track it
            model = log if disk.is_there(log) else None  # gives mode and owner
            disk.replace_file(self.side_path, tail + lines, name=self.path.name, like=model)

    def rewrite_side(self, change: Callable[[bytes], bytes]) -> None:
        """Replace the side file alone, under the lock. Raises as `rewrite`."""
        with self._locked_path(), _errors_of(self.side_path, writes=True):
            old_data = self.read_side()
            new_data = change(old_data)
            if new_data != old_data:
                disk.replace_file(self.side_path, new_data, name=self.path.name)

    # The companions. A link stays as it is: git does not follow it.

    def write_companions(self) -> None:
        """Complete the companions, under the lock. Raises BusyError or DiskError."""
        with self._locked_path():
            self._write_companions(*COMPANIONS)

    def _write_companions(self, *names: str, only_missing: bool = False) -> None:
        """only_missing: change none that is there."""
        for name in names:
            companion = self.path.with_name(name)
            status = disk.status_of(companion)
            if status and (only_missing or not stat.S_ISREG(status.st_mode)):  # a pipe would block
                continue
            content = companion.read_bytes() if status else b""
            lines = [line.strip() for line in content.splitlines()]
            wanted_lines = COMPANIONS[name].encode("ascii").splitlines(keepends=True)
            tail = [line for line in wanted_lines if line.strip() not in lines]
            if tail:
                if content and not content.endswith(b"\n"):
                    content += b"\n"
                # Its temporary name is like the log's, so that strays are swept.
                disk.replace_file(companion, b"".join([content, *tail]), name=self.path.name)


@contextlib.contextmanager
def _errors_of(path: Path, *, writes: bool = False) -> Iterator[None]:
    """Turn an OSError into LogReadError or DiskError; a reader's FileNotFoundError stays."""
    try:
        yield
    except SentinelError:
        raise
    except OSError as error:
        if writes:
            raise DiskError("log_write", path=str(path), reason=disk.reason_of(error)) from error
        if isinstance(error, FileNotFoundError):
            raise
        raise LogReadError(path=str(path), reason=disk.reason_of(error)) from error


def _check_is_new(path: Path) -> None:
    if disk.is_there(path):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))


def real_log_path(path: Path) -> Path:
    """Return the real place of a log; no link to another thing than a memory is followed.

    Raises LogReadError where its directory is such a link.
    """
    try:
        disk.resolve_log(path, may_be_new=True)
    except OSError:
        if os.path.islink(path.parent):
            raise
        return Path(os.path.realpath(path.parent), path.name)
    return Path(os.path.realpath(path))
