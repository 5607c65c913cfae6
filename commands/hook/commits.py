"""Reads what commits changed in the project, hunk by hunk, within bounds: it trusts no repository.

Git runs no filter, converter or diff program of the repository, renames are no changes, and of a
commit, a hunk and a line only the beginning is read.
"""

import os
import re
import threading
import time
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from core.config import CONTEXT_DIRECTORY
from core.git import WorkTree

MOST_HUNKS = 100  # of one commit: what changes more is no work of one session
MOST_HUNK_CHARS, MOST_LINE_BYTES = 20_000, 4_000

_LOG = (
    *("-c", "core.bigFileThreshold=10m"),  # a larger file is no text
    *("log", "--format=commit %s", "--encoding=UTF-8", "--no-color", "--no-notes"),
    *("--no-show-signature", "--min-parents=1", "--max-parents=1", "--diff-filter=d"),
    *("--patch", "--unified=3", "--inter-hunk-context=0", "--diff-algorithm=myers"),
    *("--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--submodule=short"),
    *("--find-renames", "-l200", "--relative", "--src-prefix=a/", "--dst-prefix=b/"),
)
_WHERE = ("HEAD", "--", ".", f":(exclude){CONTEXT_DIRECTORY}")  # a record is no work on the project
_COMMIT, _FILE, _HUNK = b"commit ", b"+++ ", re.compile(rb"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_ESCAPE = re.compile(rb'\\([0-7]{3}|[abtnvfr"\\])')
_ESCAPED = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """Lines of one file that changed together, with the lines around them.

    path: below the project, with `/`, in NFC. lines: each with the sign that it has in a diff.
    """

    path: str
    lines: tuple[str, ...]

    @property
    def removed(self) -> str:
        """The lines that the change took away."""
        return "\n".join(line[1:] for line in self.lines if line[:1] == "-")

    @property
    def added(self) -> str:
        """The lines that the change brought."""
        return "\n".join(line[1:] for line in self.lines if line[:1] == "+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One commit with a single parent."""

    subject: str
    hunks: tuple[Hunk, ...]


def commits_of(project: Path, *options: str, deadline_s: float) -> Iterator[Commit]:
    """Yield the commits of the branch that is checked out, the newest first, until the deadline.

    They are read while somebody asks for the next one. options: of `git log`. deadline_s: by the
    monotonic clock. Raises HistoryError where there is no repository.
    """
    process = WorkTree(project, deadline_s=deadline_s).start(*_LOG, *options, *_WHERE)
    assert process.stdin and process.stdout
    process.stdin.close()
    timer = threading.Timer(max(0, deadline_s - time.monotonic()), process.kill)
    timer.start()
    try:
        yield from _commits(process.stdout)
    finally:
        timer.cancel()
        process.kill()
        process.wait()
        process.stdout.close()


def _commits(stream: IO[bytes]) -> Iterator[Commit]:
    """Yield the commits of a log; the last one too, where git was ended amid it."""
    head, hunks, path = b"", list[Hunk](), ""
    while line := _line(stream):
        if line.startswith(_COMMIT):
            if head:
                yield _commit(head, hunks)
            head, hunks, path = line, [], ""
        elif line.startswith(b"diff "):
            path = ""
        elif line.startswith(_FILE):
            path = _path(line)
        elif found := _HUNK.match(line):
            before, after = (1 if it is None else int(it) for it in found.groups())
            lines = tuple(_lines(stream, before, after))
            if path and len(hunks) < MOST_HUNKS:
                hunks.append(Hunk(path=path, lines=lines))
    if head:
        yield _commit(head, hunks)


def _line(stream: IO[bytes]) -> bytes:
    r"""Return the beginning of the next line with a `\n`, b"" at the end of the stream."""
    line = stream.readline(MOST_LINE_BYTES)
    rest = line
    while rest and not rest.endswith(b"\n"):
        rest = stream.readline(MOST_LINE_BYTES)
    return line if not line or line.endswith(b"\n") else line + b"\n"


def _lines(stream: IO[bytes], before: int, after: int) -> Iterator[str]:
    """Yield the beginning of a hunk, and read to its end."""
    chars = 0
    while (before > 0 or after > 0) and (line := _line(stream)):
        sign = line[:1]
        if sign == b"\\":  # no newline at the end of the file
            continue
        before -= sign != b"+"
        after -= sign != b"-"
        if chars < MOST_HUNK_CHARS:
            text = line[:-1].decode("utf-8", "replace")
            chars += len(text)
            yield text


def _commit(head: bytes, hunks: list[Hunk]) -> Commit:
    subject = head[len(_COMMIT) : -1].decode("utf-8", "replace")
    return Commit(subject=subject, hunks=tuple(hunks))


def _path(line: bytes) -> str:
    r"""Return the path of `+++ b/path`; git ends one with a blank in it with a tab, and quotes."""
    name = line[len(_FILE) :].rstrip(b"\n").removesuffix(b"\t")
    if name.startswith(b'"'):
        name = _ESCAPE.sub(_unescaped, name[1:-1])
    if not name.startswith(b"b/"):
        return ""
    return unicodedata.normalize("NFC", os.fsdecode(name[2:]))


def _unescaped(found: re.Match[bytes]) -> bytes:
    code = found[1]
    return bytes([int(code, 8) & 255]) if len(code) == 3 else bytes([_ESCAPED[code[0]]])
