"""The only code that opens the memory file: read it, lock it, replace it whole.

Readers take no lock and see either the old or the new file. A writer holds the lock beside the
file around its read, its decision and its replacement. A replacement is a temporary file in the
same directory, written, flushed and fsync'd, then renamed over the target, then the directory is
fsync'd; a failure before the rename leaves the old file as it was. A symlink stays a symlink: its
target is locked and replaced. Whoever does not know the lock (an editor, git) and replaces the
file meanwhile is noticed just before the rename, and the decision is taken again on the new file.
Promised for local disks, not for network file systems.
"""

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from core.disk.atomic import (
    Identity,
    identity_of,
    is_there,
    kept_aside,
    make_directory,
    prepared,
    read_regular,
    real_path,
    reason_of,
    rename,
    sync_directory,
    with_sharing_retry,
)
from core.disk.lock import held
from core.errors import LogReadError, LogUnsettledError, LogWriteError, SentinelError

LOCK_SUFFIX = ".lock"
ASIDE_NAME = "memory_log.removed"

GITIGNORE = f"memory_log.jsonl.lock\n.memory_log.jsonl.*.tmp\n{ASIDE_NAME}-*.txt\n"
GITATTRIBUTES = "memory_log.jsonl merge=union text eol=lf\n"
COMPANIONS = {".gitignore": GITIGNORE, ".gitattributes": GITATTRIBUTES}

_ATTEMPTS = 5
_SETTLE_S = 0.05
_TEMPORARY = re.compile(r"\.(?P<name>.+)\.[0-9a-f]{16}\.tmp")
_Result = TypeVar("_Result")


class Change(NamedTuple, Generic[_Result]):
    """What a writer makes of the file: its new bytes, and what to tell the caller.

    aside: bytes that leave the file and must not get lost; they are kept in a file beside it.
    """

    data: bytes
    outcome: _Result
    aside: bytes = b""


class LogFile:
    """The file at `path`; nothing is created before the first replacement."""

    def __init__(self, path: Path, *, lock_timeout_s: float) -> None:
        self.path = path
        self._lock_timeout_s = lock_timeout_s

    def read(self) -> bytes:
        """The whole file, b"" where there is none. Raises LogReadError."""
        return self._read()[0]

    def rewrite(
        self, change: Callable[[bytes], Change[_Result]], *, aside_name: str = ""
    ) -> _Result:
        """Replace the file by what `change` makes of it; equal bytes are not written.

        `change` runs under the lock, and again when somebody who does not take the lock has
        replaced the file since it was read. What it sets aside goes into a new file `aside_name`
        in the same directory, on disk before the log is replaced.

        Raises LogBusyError when another holder does not let go in time, LogReadError,
        LogWriteError, or LogUnsettledError when the file never stands still; and what `change`
        raises. After an error the file is byte for byte what it was.
        """
        with self._locked():
            for _ in range(_ATTEMPTS):
                data, identity = self._read_settled()
                changed = change(data)
                if changed.data == data or self._replace(changed, identity, aside_name):
                    return changed.outcome
        raise LogUnsettledError(path=str(self.path))

    def tell_git(self) -> None:
        """Complete the companions, under the lock: what git must know stands in them afterwards.

        Lines that others wrote there stay. Raises LogBusyError or LogWriteError.
        """
        with self._locked():
            for name, text in COMPANIONS.items():
                companion = self.path.parent / name
                known = companion.read_bytes() if is_there(companion) else b""
                lines = [line.strip() for line in known.splitlines()]
                wanted = text.encode("ascii").splitlines(keepends=True)
                missing = [line for line in wanted if line.strip() not in lines]
                if missing:
                    ended = known if not known or known.endswith(b"\n") else known + b"\n"
                    self._put_companion(companion, b"".join([ended, *missing]))

    def strays(self) -> list[Path]:
        """Temporary files of writers that were killed; while a writer is at work also its own.

        Raises LogReadError.
        """
        try:
            return list(_temporaries(self.path, real_path(self.path)))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise LogReadError(path=str(self.path), reason=reason_of(error)) from error

    def tidy(self) -> None:
        """Remove the strays, under the lock. Raises LogBusyError or LogWriteError."""
        with self._locked():
            _sweep(self.path, real_path(self.path))

    def _read_settled(self) -> tuple[bytes, Identity]:
        """The file; a memory that is empty or missing is looked at again for a moment.

        An editor empties a file before it writes it, and git removes it before it makes it anew.
        """
        deadline = time.monotonic() + _SETTLE_S
        while True:
            data, identity = self._read()
            if data or time.monotonic() > deadline or not all(self._companions_there()):
                return data, identity
            time.sleep(_SETTLE_S / 5)

    def _read(self) -> tuple[bytes, Identity]:
        try:
            return with_sharing_retry(lambda: read_regular(self.path))
        except FileNotFoundError:
            if os.path.islink(self.path) or os.path.islink(self.path.parent):
                reason = "broken symbolic link"
                raise LogReadError(path=str(self.path), reason=reason) from None
            return b"", None
        except OSError as error:
            raise LogReadError(path=str(self.path), reason=reason_of(error)) from error

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock of this file; failures of the disk inside become LogWriteError."""
        try:
            make_directory(self.path.parent)
            with held(str(real_path(self.path)) + LOCK_SUFFIX, timeout_s=self._lock_timeout_s):
                yield
        except SentinelError:
            raise
        except OSError as error:
            raise LogWriteError(path=str(self.path), reason=reason_of(error)) from error

    def _replace(self, change: Change[_Result], identity: Identity, aside_name: str) -> bool:
        """Whether the file was replaced; not when it is no longer the one of this identity."""
        target = real_path(self.path)
        _sweep(self.path, target)
        if not is_there(target) or not any(self._companions_there()):
            self._add_companions()
        with prepared(target, change.data) as temporary:
            if identity_of(target) != identity:
                return False
            with kept_aside(self.path.parent / aside_name, change.aside):
                rename(temporary, target)
        sync_directory(target.parent)
        return True

    def _companions_there(self) -> Iterator[bool]:
        return (is_there(self.path.parent / name) for name in COMPANIONS)

    def _add_companions(self) -> None:
        """Give our own folder what git needs to know; files that are there are left alone."""
        for name, text in COMPANIONS.items():
            companion = self.path.parent / name
            if not is_there(companion):
                self._put_companion(companion, text.encode("ascii"))

    def _put_companion(self, companion: Path, data: bytes) -> None:
        """Under a temporary name like those of the log, so that a stray is swept with them."""
        with prepared(companion, data, self.path.name) as temporary:
            rename(temporary, companion)


def _temporaries(path: Path, target: Path) -> Iterator[Path]:
    """Files with names of our temporary files: beside the link and beside what it leads to."""
    for place in dict.fromkeys((target, path)):
        for name in sorted(os.listdir(place.parent)):
            match = _TEMPORARY.fullmatch(name)
            if match and match["name"] == place.name:
                yield place.parent / name


def _sweep(path: Path, target: Path) -> None:
    """Remove what killed writers left; under the lock no writer is at work."""
    with contextlib.suppress(OSError):  # a directory that nobody may list, a stray of another user
        for stray in _temporaries(path, target):
            os.unlink(stray)
