"""Lists the commits that have a memory log, and reads the logs that they have."""

import contextlib
import os
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from types import TracebackType

from core.git import SHORT_DIGITS, TIMEOUT_S, HistoryError, Repository, literal
from core.lessons.log import MemoryLog
from core.project import CONTEXT_DIRECTORY, LOG_NAME

KEPT_LOGS = 4  # neighbours in time share their files

_ANY_LOG = f":(top,glob)**/{CONTEXT_DIRECTORY}/{LOG_NAME}"
_LOG = (
    *("log", "-c", "--date-order", "--full-history", "--no-renames", "--encoding=UTF-8"),
    *("--raw", "-z", "--no-abbrev", "--text", "--no-textconv", "--no-ext-diff", "--no-color"),
    "--format=%H%x00%an%x00%aI",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """Object names of one file: `before` in each parent of a commit, `after` in it; "" for none.

    path: the file from the top of the work tree, with `/`.
    """

    path: str
    before: tuple[str, ...]
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One commit and what it did to memory logs; `date` is ISO 8601."""

    id: str
    author: str
    date: str
    changes: tuple[FileChange, ...] = ()

    @property
    def short(self) -> str:
        """The beginning of the id that people use."""
        return self.id[:SHORT_DIGITS]


def commits_of(repository: Repository, *starts: str, pattern: str = "") -> list[Commit]:
    """Return the commits that changed a log of the repository, the newest first.

    starts: where git begins, HEAD for none. pattern: a regular expression that a changed line
    holds. A merge is among them when its file differs from that of every parent. Raises
    HistoryError.
    """
    if not starts and not repository.has_head:
        return []
    lines = [f"-G{pattern}"] if pattern else []
    paths = (_ANY_LOG, literal(repository.path))
    listed = repository.ask(*_LOG, *lines, *(starts or ("HEAD",)), "--", *paths)
    return list(_parsed(listed))


def own_commits(repository: Repository, *starts: str, last: str) -> list[Commit]:
    """Return the same without the logs that have another place in commit `last`, "" for none.

    They are the memories of neighbours; a place that is empty there may be where this log was.
    """
    found = commits_of(repository, *starts)
    paths = {change.path for commit in found for change in commit.changes} - {repository.path}
    others = {path for path in paths if last and repository.blob_in(last, path)}
    return [
        replace(commit, changes=own)
        for commit in found
        if (own := tuple(it for it in commit.changes if it.path not in others))
    ]


def _parsed(listed: bytes) -> Iterator[Commit]:
    """Yield the commits of a log in `_LOG`; every field ends in a NUL, and a name may be empty."""
    fields = [field.removeprefix(b"\n") for field in listed.split(b"\0")]
    at = 0
    while at < len(fields):
        if not fields[at]:
            at += 1
            continue
        name, author, date = (field.decode("utf-8", "replace") for field in fields[at : at + 3])
        at += 3
        changes = []
        while at < len(fields) and (fields[at].startswith(b":") or not fields[at]):
            if fields[at]:
                changes.append(_change(fields[at], fields[at + 1]))
                at += 1
            at += 1
        yield Commit(id=name, author=author, date=date, changes=tuple(changes))


def _change(raw: bytes, path: bytes) -> FileChange:
    """Parse `:mode mode name name M`, plus a colon, mode and name for each further parent."""
    parents = len(raw) - len(raw.lstrip(b":"))
    words = raw.lstrip(b":").decode("ascii").split(" ")
    modes, names = words[: parents + 1], words[parents + 1 : 2 * (parents + 1)]
    blobs = [
        name if mode.startswith("100") else "" for mode, name in zip(modes, names, strict=True)
    ]
    return FileChange(path=os.fsdecode(path), before=tuple(blobs[:-1]), after=blobs[-1])


class OldLogs:
    """Reads former contents of the memory log by object name, through one process of git."""

    def __init__(self, repository: Repository) -> None:
        self._git = repository.git
        self._process: subprocess.Popen[bytes] | None = None
        self._is_late = False
        self.log = lru_cache(maxsize=KEPT_LOGS)(self._log)

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
        process = self._process = self._process or self._git.start("cat-file", "--batch")
        assert process.stdin and process.stdout
        timer = threading.Timer(TIMEOUT_S, self._give_up)
        timer.daemon = True
        timer.start()
        try:
            process.stdin.write(blob.encode("ascii") + b"\n")
            process.stdin.flush()
            kind, _, size = process.stdout.readline().strip().partition(b" ")[2].partition(b" ")
            data = process.stdout.read(int(size) + 1) if size.isdigit() else b""
        except OSError:
            raise self._failure(blob) from None
        finally:
            timer.cancel()
        if not data or len(data) <= int(size):
            raise self._failure(blob)
        return data[:-1] if kind == b"blob" else b""

    def _log(self, blob: str) -> MemoryLog:
        """Return the log of this object, an empty one for "". Raises HistoryError."""
        return MemoryLog.parse(self.content(blob)) if blob else MemoryLog()

    def _give_up(self) -> None:
        self._is_late = True
        if self._process:
            self._process.kill()

    def _failure(self, blob: str) -> HistoryError:
        """Return what to raise: git was stopped here, or ended, or lacks the object."""
        if self._is_late:
            return HistoryError("git_slow", seconds=TIMEOUT_S)
        return HistoryError("objects_missing", reason=f"cat-file {blob[:SHORT_DIGITS]}")
