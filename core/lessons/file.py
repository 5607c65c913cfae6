"""The memory file on disk, with the files beside it. No other code opens it to write.

Readers take no lock and see the old or the new file. Beside it lie its lock, the companions that
tell git about it, and the side file of records that left. For local disks, not network file
systems.
"""

import contextlib
import errno
import os
import re
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

_ATTEMPTS = 5
_SETTLE_S = 0.05
_TEMPORARY = re.compile(r"\.(?P<name>.+)\.[0-9a-f]{16}\.tmp")
_Result = TypeVar("_Result")


class Replacement(NamedTuple, Generic[_Result]):
    """The new bytes of the file, and a writer's result."""

    data: bytes
    outcome: _Result
    aside: bytes = b""  # for a new file beside the log
    replaced: bytes = b""  # lines for the side file


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

    def _read(self, place: Path | None = None) -> tuple[bytes, disk.Identity]:
        try:
            with _errors_of(self.path):
                return disk.read_regular_file(place or disk.resolve_log(self.path))
        except FileNotFoundError:
            if os.path.islink(self.path):  # its target has just gone
                reason = "broken symbolic link"
                raise LogReadError(path=str(self.path), reason=reason) from None
        if not self._asks_git:
            return b"", None
        if not os.path.lexists(self.path):  # else git was writing the file
            self._ask_git()
        return self._read(place)

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

        Raises BusyError, WaitEndedError, DiskError, and errors of `change`; the file is then
        unchanged.
        """
        with self._locked() as place:
            for _ in range(_ATTEMPTS):
                # An editor empties a file before it writes it, and git removes it first.
                deadline = time.monotonic() + _SETTLE_S
                while True:
                    data, identity = self._read(place)
                    beside = (self.path.with_name(name) for name in COMPANIONS)
                    is_new = not data and not all(map(disk.is_there, beside))
                    if data or is_new or time.monotonic() > deadline:
                        break
                    time.sleep(_SETTLE_S / 5)
                new = change(data)
                if new.data == data or self._replace(place, new, identity, aside_name):
                    return new.outcome
        raise DiskError("log_unsettled", path=str(self.path))

    def _replace(
        self, place: Path, new: Replacement[_Result], identity: disk.Identity, aside_name: str
    ) -> bool:
        if identity is None or not disk.is_there(self.path.with_name(IGNORE_NAME)):
            self._write_companions(*COMPANIONS, only_missing=True)
        with disk.prepared_file(place, new.data) as temporary:
            if disk.identity_of(place) != identity:
                return False
            if new.replaced:
                self._keep(new.replaced, place)
            aside = self.path.parent / aside_name
            if new.aside:
                disk.replace_file(aside, new.aside, _check_is_new, name=self.path.name)
            try:
                disk.rename(temporary, place)
            except BaseException:
                if new.aside:
                    with contextlib.suppress(OSError):
                        aside.unlink()
                raise
        disk.sync_directory(place.parent)
        return True

    @contextlib.contextmanager
    def _locked(self) -> Iterator[Path]:
        """Hold the lock, remove strays, and give the file's real path."""
        with _errors_of(self.path, writes=True):
            place = disk.resolve_log(self.path, may_be_new=True)  # before anything is made there
            if not os.path.lexists(self.path):
                self._ask_git()
                disk.make_directory(self.path.parent)
            with disk.locked_file(
                f"{place}{LOCK_SUFFIX}",
                timeout_s=self._lock_timeout_s,
                cancellation=self._cancellation,
            ):
                strays = list[Path]()  # temporary files of killed writers
                with contextlib.suppress(OSError):  # nobody may list it, or another user's stray
                    for at in dict.fromkeys((place, self.path)):
                        found = map(_TEMPORARY.fullmatch, sorted(os.listdir(at.parent)))
                        strays += [
                            at.parent / it[0] for it in found if it and it["name"] == at.name
                        ]
                    for stray in strays:
                        os.unlink(stray)
                try:
                    yield place
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

    def _keep(self, lines: bytes, log: Path) -> None:
        """Add lines to the side file; above MOST_SIDE_BYTES only its newest half stays."""
        with _errors_of(self.side_path, writes=True):
            last = self.read_side(most_bytes=1)
            if last not in (b"", b"\n"):  # a killed save has torn its line
                lines = b"\n" + lines
            known_bytes = os.stat(self.side_path).st_size if last else 0
            if known_bytes and known_bytes + len(lines) <= MOST_SIDE_BYTES:
                disk.append(self.side_path, lines)
                return
            newest = self.read_side(most_bytes=MOST_SIDE_BYTES // 2)
            if known_bytes > len(newest):
                newest = newest.partition(b"\n")[2]  # without the line that the cut has torn
            if not known_bytes:
                self._write_companions(IGNORE_NAME)  # git must not track it
            like = log if disk.is_there(log) else None  # gives mode and owner
            disk.replace_file(self.side_path, newest + lines, name=self.path.name, like=like)

    def rewrite_side(self, change: Callable[[bytes], bytes]) -> None:
        """Replace the side file alone, under the lock. Raises as `rewrite`."""
        with self._locked(), _errors_of(self.side_path, writes=True):
            known = self.read_side()
            data = change(known)
            if data != known:
                disk.replace_file(self.side_path, data, name=self.path.name)

    # The companions. A link stays as it is: git does not follow it.

    def write_companions(self) -> None:
        """Complete the companions, under the lock. Raises BusyError or DiskError."""
        with self._locked():
            self._write_companions(*COMPANIONS)

    def _write_companions(self, *names: str, only_missing: bool = False) -> None:
        """only_missing: change none that is there."""
        for name in names:
            companion = self.path.with_name(name)
            status = disk.status_of(companion)
            if status and (only_missing or not stat.S_ISREG(status.st_mode)):  # a pipe would block
                continue
            known = companion.read_bytes() if status else b""
            lines = [line.strip() for line in known.splitlines()]
            wanted = COMPANIONS[name].encode("ascii").splitlines(keepends=True)
            missing = [line for line in wanted if line.strip() not in lines]
            if missing:
                ended = known if not known or known.endswith(b"\n") else known + b"\n"
                # Its temporary name is like the log's, so that strays are swept.
                disk.replace_file(companion, b"".join([ended, *missing]), name=self.path.name)


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
