"""Looks for secrets in files, folders, standard input and the commits of a log.

A finding says where and of what kind; no text leaves this file but in records, and only
`shown_record` may name one.
"""

import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path

from commands.terminal.safe_text import plain
from core.config import LOG_NAME
from core.disk import reason_of
from core.git import HistoryError, Repository, WorkTree
from core.guard.injection import marks_of
from core.lessons.history import EVERYWHERE, Commit, own_commits
from core.lessons.log import BOM, IN_UTF_16, UTF_16_MARKS, MemoryLog, split_lines, utf_16_name
from core.lessons.record import LIMITS_BYTES, Record, parse_line
from core.lessons.record_text import token_text, topic_text
from core.lessons.upkeep import MOST_LOOKED_BYTES, Looked, look
from core.sanitizer import find, has_secret, safe

MOST_BYTES = 5_000_000
STDIN, SHOWN_STDIN = "-", "<stdin>"
BINARY = "binary"

_BINARY_BYTES = 8_192
_ODD_SHARE = 1 / 32  # of the characters of a text
_OF_RECORDS = b'"missing_context"'
_GIT = ".git"
_IN_UTF_8 = re.compile(rb"[\t -~]{16}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A secret, or with `is_mark` a text that reads like instructions to a model.

    line: counted from 1. field: of the record that stands there, if one does.
    """

    path: str
    line: int
    kind: str
    field: str = ""
    record: Record | None = None
    is_mark: bool = False
    commit: Commit | None = None


@dataclass(slots=True)
class Scan:
    """What was found, and what was not looked at.

    skipped: path and why, as the key of a sentence. unreadable: path and what the system says.
    untracked: how many files of the folders git neither tracks nor ignores.
    """

    found: list[Found] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    files: int = 0
    untracked: int = 0

    @property
    def has_failed(self) -> bool:
        """Whether something that may hold a secret was not looked at."""
        return bool(self.unreadable) or any(why != BINARY for _, why in self.skipped)

    @property
    def secrets(self) -> list[Found]:
        """The findings that must not stay."""
        return [it for it in self.found if not it.is_mark]

    @property
    def marks(self) -> list[Found]:
        """The findings that somebody should read."""
        return [it for it in self.found if it.is_mark]

    def add(self, path: str, data: bytes, *, is_log: bool = False) -> None:
        """Look at the content of one file; a memory log is known by its records, or is said to be.

        Only records are looked at for marks: a model reads nothing else.
        """
        found = _in_file(path, data, is_log=is_log)
        if found is None:
            self.skipped.append((path, BINARY))
        else:
            self.files += 1
            self.found += found
            self.unreadable += [(path, reason) for reason in _unread(data)]


def scan_paths(paths: Sequence[str]) -> Scan:
    """Look at these files and folders; what cannot be read stops none of the others."""
    scan = Scan()
    for path in dict.fromkeys(paths):
        if path == STDIN:
            _add_stdin(scan)
        elif os.path.isdir(path):
            for file in _files_below(path, scan):
                _add_file(file, scan)
        else:
            _add_file(path, scan)
    return scan


def _add_stdin(scan: Scan) -> None:
    try:
        scan.add(SHOWN_STDIN, sys.stdin.buffer.read())
    except (OSError, AttributeError) as error:  # no standard input at all
        reason = reason_of(error) if isinstance(error, OSError) else "closed"
        scan.unreadable.append((SHOWN_STDIN, reason))


def _add_file(path: str, scan: Scan) -> None:
    is_log = os.path.basename(path) == LOG_NAME
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):  # opening a pipe would wait for a writer
            scan.skipped.append((path, "not_regular"))
            return
        with open(path, "rb") as file:
            data = file.read(-1 if is_log else MOST_BYTES + 1)
        if len(data) > MOST_BYTES and not is_log and _texts(data[:_BINARY_BYTES]):
            scan.skipped.append((path, "too_large"))
        else:
            scan.add(path, data, is_log=is_log)
    except OSError as error:
        scan.unreadable.append((path, reason_of(error)))


def _files_below(folder: str, scan: Scan) -> Iterator[str]:
    """Yield what git tracks below a folder, else every file there; links are not followed."""
    if _GIT in Path(os.path.abspath(folder)).parts:
        scan.skipped.append((folder, "git_folder"))
        return
    tracked = _listed(folder)
    if tracked:
        scan.untracked += len(_listed(folder, "--others", "--exclude-standard"))
    for path in tracked or _all_below(folder, scan):
        try:
            if stat.S_ISREG(os.lstat(path).st_mode):
                yield path
        except FileNotFoundError:  # git tracks it, and somebody has deleted it here
            continue
        except OSError as error:
            scan.unreadable.append((path, reason_of(error)))


def _listed(folder: str, *options: str) -> list[str]:
    """Return the files below a folder that git tracks, or those that the options ask for."""
    try:
        names = WorkTree(Path(folder)).ask("ls-files", "-z", *options).split(b"\0")
    except HistoryError:
        return []
    return [_below(folder, os.fsdecode(name)) for name in dict.fromkeys(names) if name]


def _all_below(folder: str, scan: Scan) -> Iterator[str]:
    def unreadable(error: OSError) -> None:
        scan.unreadable.append((str(error.filename), reason_of(error)))

    for place, folders, names in os.walk(folder, onerror=unreadable):
        folders[:] = sorted(name for name in folders if name != _GIT)
        yield from (_below(place, name) for name in sorted(names) if name != _GIT)


def _below(folder: str, name: str) -> str:
    return name if folder == os.curdir else os.path.join(folder, name)


def _in_file(path: str, data: bytes, *, is_log: bool) -> list[Found] | None:
    """Return what is found in a file in each encoding that it may be, None for a binary one."""
    texts = readings(data) if is_log else _texts(data)
    found: dict[tuple[object, ...], Found] = {}
    for text in texts:
        for it in _in_reading(path, text, is_log=is_log):
            found.setdefault((it.line, it.kind, it.field, it.is_mark), it)
    return list(found.values()) if texts else None


def readings(data: bytes) -> list[bytes]:
    """Return a file as UTF-8 in every encoding that it may be, one at least.

    Somebody may have put a mark or a stray byte before it, or joined parts of two encodings: what
    one program cannot read, another one shows.
    """
    if b"\0" not in data and not data.startswith(UTF_16_MARKS):
        return [data.removeprefix(BOM)]
    found = [data.removeprefix(BOM)] if _IN_UTF_8.search(data) else []
    if name := utf_16_name(data):
        return [data.decode(name).encode("utf-8").removeprefix(BOM), *found]
    for name in ("utf-16-le", "utf-16-be"):
        for text in (data[at:].decode(name, "replace").removeprefix("\ufeff") for at in (0, 1)):
            if IN_UTF_16.search(text):
                found.append(text.encode("utf-8", "replace"))
    return found or [data]


def _texts(data: bytes) -> list[bytes]:
    """Return a file as UTF-8 in each encoding that it may be; nothing if in none it is a text."""
    texts = readings(data)
    return texts if any(_is_text(it[:_BINARY_BYTES]) for it in texts) else []


def _is_text(beginning: bytes) -> bool:
    """Return whether there is no NUL, or so few odd bytes that it may be put there to mislead."""
    if b"\0" not in beginning:
        return True
    text = beginning.decode("utf-8", "replace")
    odd = sum((char < " " and char not in "\t\n\r\f") or char == "\ufffd" for char in text)
    return odd <= len(text) * _ODD_SHARE


def _in_reading(path: str, data: bytes, *, is_log: bool) -> Iterator[Found]:
    if is_log or _OF_RECORDS in data:
        log = MemoryLog.parse(data)
        if is_log or any(entry is not None for entry in log.entries):
            return _in_log(path, log)
    return _in_text(path, data.decode("utf-8", "replace"))


def _unread(data: bytes) -> Iterator[str]:
    """Yield why a part of a file was not looked at: nobody may take it for clean."""
    if _OF_RECORDS in data and len(data) > MOST_LOOKED_BYTES:
        for number, line in enumerate(split_lines(data), start=1):
            if len(line) > MOST_LOOKED_BYTES:
                yield f"line {number}: only its first {MOST_LOOKED_BYTES:,} bytes were looked at"


def _in_text(path: str, text: str) -> Iterator[Found]:
    line, at = 1, 0
    for secret in find(text):
        line, at = line + text.count("\n", at, secret.start), secret.start
        yield Found(path=path, line=line, kind=secret.kind)


def _in_log(path: str, log: MemoryLog) -> Iterator[Found]:
    for looked in look(log):
        yield from _secrets_of(looked, path, 1)
        if not looked.record:
            continue
        place = Found(path=path, line=looked.first + 1, kind="", record=looked.record, is_mark=True)
        for name in LIMITS_BYTES:
            for mark in dict.fromkeys(marks_of(getattr(looked.record, name))):
                yield replace(place, kind=mark, field=name)


def _secrets_of(
    looked: Looked, path: str, first: int, commit: Commit | None = None
) -> Iterator[Found]:
    """Yield the secrets of some lines. first: the number of line 0."""
    for line, name, kind in looked.spots:
        yield Found(
            path=path, line=first + line, kind=kind, field=name, record=looked.record, commit=commit
        )


def scan_history(repository: Repository) -> Scan:
    """Look at every version of a log that git has, each different line once, the oldest first.

    A finding names the first commit that has it. files: how many versions there were. Raises
    HistoryError.
    """
    scan = Scan()
    lines: set[bytes] = set()
    head = "HEAD" if repository.has_head else ""
    versions: dict[str, tuple[str, Commit]] = {}
    for commit in reversed(own_commits(repository, *EVERYWHERE, last=head)):
        for path, blob in commit.files.items():
            if blob:
                versions.setdefault(blob, (path, commit))
    contents = repository.contents(versions)
    for (path, commit), data in zip(versions.values(), contents, strict=True):
        scan.found += in_lines(path, fresh_lines(data, lines), commit)
    scan.files = len(versions)
    return scan


def is_in_last_commit(log_path: Path) -> bool:
    """Return whether the log of the last commit holds a secret; True where git cannot tell."""
    try:
        repository = Repository(Path(os.path.realpath(log_path)))
        committed = repository.blob_in("HEAD") if repository.has_head else ""
        if not committed:
            return False
        scan = Scan()
        scan.add(repository.path, *repository.contents([committed]), is_log=True)
        return bool(scan.secrets)
    except HistoryError as error:
        return error.key != "no_repository"


def fresh_lines(data: bytes, known: set[bytes]) -> list[tuple[int, bytes]]:
    """Return the lines of a file not known yet, and make them known; numbers count from 1."""
    fresh: list[tuple[int, bytes]] = []
    for text in readings(data):
        for number, line in enumerate(split_lines(text), start=1):
            content = line.rstrip(b"\r\n")
            if content not in known:
                known.add(content)
                fresh.append((number, content))
    return fresh


def in_lines(
    path: str, numbered: Iterable[tuple[int, bytes]], commit: Commit | None = None
) -> Iterator[Found]:
    """Yield the secrets in some lines of a log; neighbours are looked at together."""
    for _, run in groupby(enumerate(numbered), key=lambda it: it[1][0] - it[0]):
        neighbours = [line for _, line in run]
        first, lines = neighbours[0][0], [content + b"\n" for _, content in neighbours]
        for looked in look(MemoryLog(lines, [parse_line(line) for line in lines])):
            yield from _secrets_of(looked, path, first, commit)


def shown_record(record: Record) -> tuple[str, str]:
    """Return a record's version id and topic as they may be printed; "" for one with a secret."""
    token = plain(token_text(record))
    topic = plain(topic_text(record.topic))
    return safe(token), "" if has_secret(record.topic) else topic
