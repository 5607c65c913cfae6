"""Reads former contents of the memory log from git, as a reader read them then."""

import contextlib
import subprocess
import threading
from functools import lru_cache
from types import TracebackType

from core.lessons.git.call import TIMEOUT_S
from core.lessons.git.errors import HistoryError
from core.lessons.git.repository import SHORT_DIGITS, Repository
from core.lessons.log import MemoryLog

KEPT_LOGS = 4


class OldLogs:
    """Reads former contents of the memory log by object name, through one process of git."""

    def __init__(self, repository: Repository) -> None:
        self._git = repository.git
        self._process: subprocess.Popen[bytes] | None = None
        self._is_late = False
        self.log = lru_cache(maxsize=KEPT_LOGS)(self._log)  # neighbours in time share their files

    def __enter__(self) -> "OldLogs":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process:
            self._process.kill()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe:
                    with contextlib.suppress(OSError):
                        pipe.close()
            self._process.wait()

    def content(self, blob: str) -> bytes:
        """Return the file of this object as git has it.

        Raises HistoryError, also where git does not answer within TIMEOUT_S.
        """
        process = self._process or self._start()
        timer = threading.Timer(TIMEOUT_S, self._give_up)
        timer.daemon = True
        timer.start()
        try:
            return self._answer(process, blob)
        finally:
            timer.cancel()

    def _log(self, blob: str) -> MemoryLog:
        """Return the log of this object, an empty one for "". Raises HistoryError."""
        return MemoryLog.parse(self.content(blob)) if blob else MemoryLog()

    def _give_up(self) -> None:
        self._is_late = True
        if self._process:
            self._process.kill()

    def _answer(self, process: "subprocess.Popen[bytes]", blob: str) -> bytes:
        assert process.stdin and process.stdout
        try:
            process.stdin.write(blob.encode("ascii") + b"\n")
            process.stdin.flush()
        except OSError:
            raise self._failure(blob) from None
        kind, _, size = process.stdout.readline().strip().partition(b" ")[2].partition(b" ")
        data = process.stdout.read(int(size) + 1) if size.isdigit() else b""
        if not data or len(data) <= int(size):
            raise self._failure(blob)
        return data[:-1] if kind == b"blob" else b""

    def _failure(self, blob: str) -> HistoryError:
        """Say what to raise: git was stopped here, or ended, or lacks the object (is damaged)."""
        if self._is_late:
            return HistoryError("git_slow", seconds=TIMEOUT_S)
        return HistoryError("objects_missing", reason=f"cat-file {blob[:SHORT_DIGITS]}")

    def _start(self) -> "subprocess.Popen[bytes]":
        self._process = self._git.start("cat-file", "--batch")
        return self._process
