"""Opens the memory file: reads it, locks it, replaces it whole. No other code does.

Readers take no lock and see either the old or the new file. A writer holds the lock beside the
file while it reads, decides and replaces. A replacement is a temporary file in the same directory,
written and fsync'd, then renamed over the target; then the directory is fsync'd. A failure before
the rename leaves the old file as it was. A symlink stays one: its target is locked and replaced.
When a program that does not know the lock (an editor, git) replaces the file meanwhile, the writer
notices just before the rename and decides again on the new file. This holds for local disks, not
for network file systems.
"""

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from core.cancellation import NO_CANCELLATION, Cancellation
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
REPLACED_NAME = "memory_log.replaced.jsonl"

GITIGNORE = f"memory_log.jsonl.lock\n.memory_log.jsonl.*.tmp\n{ASIDE_NAME}-*.txt\n{REPLACED_NAME}\n"
GITATTRIBUTES = "memory_log.jsonl merge=union text eol=lf\n"
COMPANIONS = {".gitignore": GITIGNORE, ".gitattributes": GITATTRIBUTES}

_ATTEMPTS = 5
_SETTLE_S = 0.05
_TEMPORARY = re.compile(r"\.(?P<name>.+)\.[0-9a-f]{16}\.tmp")
_Result = TypeVar("_Result")


class Change(NamedTuple, Generic[_Result]):
    """What a writer makes of the file: its new bytes, and what the caller gets to know.

    aside: bytes that leave the file and are kept in a file of their own beside it. replaced: makes
    of the side file, in which all that was replaced is kept, what it is to be.
    """

    data: bytes
    outcome: _Result
    aside: bytes = b""
    replaced: Callable[[bytes], bytes] | None = None


class LogFile:
    """The file at `path`; the first replacement creates it and its directory."""

    def __init__(
        self, path: Path, lock_timeout_s: float, cancellation: Cancellation = NO_CANCELLATION
    ) -> None:
        self.path = path
        self._beside = _Beside(path)
        self._lock_timeout_s = lock_timeout_s
        self._cancellation = cancellation

    def read(self) -> bytes:
        """Return the whole file, b"" where there is none. Raises LogReadError."""
        return self._read()[0]

    def rewrite(
        self, change: Callable[[bytes], Change[_Result]], *, aside_name: str = ""
    ) -> _Result:
        """Replace the file by what `change` makes of it; equal bytes are not written.

        `change` runs under the lock, and again when a program that does not take the lock has
        replaced the file meanwhile. What it sets aside goes into a new file `aside_name` in the
        same directory, on disk before the log is replaced, and so does the side file.

        Raises LogBusyError or WaitEndedError when another holder keeps the lock, LogReadError,
        LogWriteError, LogUnsettledError when the file never stands still, and what `change` raises.
        After an error the file is byte for byte what it was.
        """
        with self._locked():
            for _ in range(_ATTEMPTS):
                data, identity = self._read_settled()
                changed = change(data)
                if changed.data == data or self._replace(changed, identity, aside_name):
                    return changed.outcome
        raise LogUnsettledError(path=str(self.path))

    def read_side(self) -> bytes:
        """Return the side file, b"" where there is none. Raises LogReadError."""
        return self._beside.read_side()

    def rewrite_side(self, change: Callable[[bytes], bytes]) -> None:
        """Replace the side file alone, under the lock; errors as of `rewrite`."""
        with self._locked():
            self._beside.replace_side(change, real_path(self.path))

    def tell_git(self) -> None:
        """Add to the companions what git must know, under the lock; other lines stay.

        Raises LogBusyError or LogWriteError.
        """
        with self._locked():
            for name in COMPANIONS:
                self._beside.complete(name)

    def strays(self) -> list[Path]:
        """Return temporary files of killed writers, and of one at work. Raises LogReadError."""
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
        """Return the file; read an empty or missing one again for a moment.

        An editor empties a file before it writes it, and git removes it before it writes it anew.
        """
        deadline = time.monotonic() + _SETTLE_S
        while True:
            data, identity = self._read()
            if data or time.monotonic() > deadline or not self._beside.all_companions():
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
        """Hold the lock of this file; an error of the disk inside becomes LogWriteError."""
        try:
            make_directory(self.path.parent)
            with held(
                str(real_path(self.path)) + LOCK_SUFFIX,
                timeout_s=self._lock_timeout_s,
                cancellation=self._cancellation,
            ):
                yield
        except SentinelError:
            raise
        except OSError as error:
            raise LogWriteError(path=str(self.path), reason=reason_of(error)) from error

    def _replace(self, change: Change[_Result], identity: Identity, aside_name: str) -> bool:
        """Replace the file if it still has this identity; whether it did."""
        target = real_path(self.path)
        _sweep(self.path, target)
        if not is_there(target) or not self._beside.any_companion():
            self._beside.add_companions()
        with prepared(target, change.data) as temporary:
            if identity_of(target) != identity:
                return False
            with kept_aside(self.path.parent / aside_name, change.aside):
                if change.replaced:
                    self._beside.replace_side(change.replaced, target)
                rename(temporary, target)
        sync_directory(target.parent)
        return True


class _Beside:
    """What stands beside a log: git's two files (companions), and what was replaced (side file).

    Their temporary names are like the log's, so that strays are swept.
    """

    def __init__(self, path: Path) -> None:
        self._log_name = path.name
        self._folder = path.parent

    def any_companion(self) -> bool:
        return any(is_there(self._folder / name) for name in COMPANIONS)

    def all_companions(self) -> bool:
        return all(is_there(self._folder / name) for name in COMPANIONS)

    def add_companions(self) -> None:
        """Write the companions that are missing; existing ones stay as they are."""
        for name, text in COMPANIONS.items():
            if not is_there(self._folder / name):
                self._put(self._folder / name, text.encode("ascii"))

    def complete(self, name: str) -> None:
        """Add to a companion the lines that it lacks."""
        companion = self._folder / name
        known = companion.read_bytes() if is_there(companion) else b""
        lines = [line.strip() for line in known.splitlines()]
        wanted = COMPANIONS[name].encode("ascii").splitlines(keepends=True)
        missing = [line for line in wanted if line.strip() not in lines]
        if missing:
            ended = known if not known or known.endswith(b"\n") else known + b"\n"
            self._put(companion, b"".join([ended, *missing]))

    def read_side(self) -> bytes:
        path = self._folder / REPLACED_NAME
        try:
            return with_sharing_retry(lambda: read_regular(path))[0]
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise LogReadError(path=str(path), reason=reason_of(error)) from error

    def replace_side(self, change: Callable[[bytes], bytes], log: Path) -> None:
        """Replace the side file, which git must not track; the caller holds the lock.

        log: the real file, whose mode and owner a new side file gets.
        """
        known = self.read_side()
        data = change(known)
        if data == known:
            return
        if not known:
            self.complete(".gitignore")
        path = self._folder / REPLACED_NAME
        try:
            like = log if is_there(log) else None
            with prepared(path, data, self._log_name, like=like) as temporary:
                rename(temporary, path)
        except OSError as error:
            raise LogWriteError(path=str(path), reason=reason_of(error)) from error

    def _put(self, companion: Path, data: bytes) -> None:
        with prepared(companion, data, self._log_name) as temporary:
            rename(temporary, companion)


def _temporaries(path: Path, target: Path) -> Iterator[Path]:
    """Yield files named like temporary ones, beside the link and beside its target."""
    for place in dict.fromkeys((target, path)):
        for name in sorted(os.listdir(place.parent)):
            match = _TEMPORARY.fullmatch(name)
            if match and match["name"] == place.name:
                yield place.parent / name


def _sweep(path: Path, target: Path) -> None:
    """Remove what killed writers left; the caller holds the lock, so no writer is at work."""
    with contextlib.suppress(OSError):  # a directory nobody may list, a stray of another user
        for stray in _temporaries(path, target):
            os.unlink(stray)
