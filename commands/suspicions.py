"""Finds possible secrets in files and lines, and records' texts that read like orders.

A suspicion has a place and a kind. Its text is never printed, nor a topic, id or path with a
secret.
"""

import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path

from commands.terminal.screen import plain
from core.config import LOG_NAME
from core.disk import reason_of
from core.git import HistoryError, Repository, WorkTree
from core.guard.injection import marks_of
from core.lessons import log
from core.lessons.history import Commit
from core.lessons.log import MemoryLog, split_lines
from core.lessons.record import LIMITS_BYTES, Record, parse_line
from core.lessons.record_text import topic_text, version_id_text
from core.lessons.upkeep import MOST_LOOKED_BYTES, check_lines
from core.messages import say
from core.sanitizer import find_secrets, has_secret, safe_name

MOST_BYTES = 5_000_000  # of a file that is no log
STDIN, SHOWN_STDIN = "-", "<stdin>"
BINARY = "binary"

Lines = list[tuple[int, bytes]]  # all_lines from 1, without their ends

_BEGINNING_BYTES = 8_192  # of a file, which say whether it is a text
_ODD_SHARE = 1 / 32  # of the characters of a text
_RECORD_KEY = b'"missing_context"'  # in any file with lines of a log
_GIT = ".git"
_LINK, _REPOSITORY = "120000", "160000"  # git's modes of links and of submodules
_UTF_8_RUN = re.compile(rb"[\t -~]{16}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """A possible secret, a damaged line, or a text that reads like instructions to a model.

    line: from 1. field: of `record`. is_order: only a warning. commit: the first commit that has
    it, in a scan of the history.
    """

    path: str
    line: int
    kind: str
    field: str = ""
    record: Record | None = None
    is_order: bool = False
    commit: Commit | None = None

    @property
    def where(self) -> str:
        """`path:line`, fit to print."""
        return f"{printable_path(self.path)}:{self.line}"

    @property
    def field_name(self) -> str:
        return self.field if self.field in LIMITS_BYTES else say(f"scan.{self.field}")

    def sentence(self, where: str = "") -> str:
        """Return one line without any secret. where: the place, if more than `path:line`."""
        facts = {"where": where or self.where, "kind": self.kind}
        if not self.record:
            return say("scan.in_file", **facts)
        version_id, topic = self._id_and_topic()
        record = say("scan.record", token=version_id) if version_id else say("scan.unnamed")
        record = f"{record} [{topic}]" if topic else record
        key = "mark" if self.is_order else "in_record"
        return say(f"scan.{key}", **facts, field=self.field_name, record=record)

    def as_json(self) -> dict[str, object]:
        """Return the suspicion as data, without any secret."""
        value: dict[str, object] = {
            "path": printable_path(self.path),
            "line": self.line,
            "severity": "warning" if self.is_order else "error",
            "kind": self.kind,
        }
        if self.record:
            version_id, topic = self._id_and_topic()
            value |= {"field": self.field, "token": version_id, "topic": topic}
        if commit := self.commit:
            value |= {"commit": commit.id, "date": commit.date, "author": safe_name(commit.author)}
        return value

    def _id_and_topic(self) -> tuple[str, str]:
        """Return version id and topic of the record, "" for one that holds a secret."""
        assert self.record
        topic = "" if has_secret(self.record.topic) else plain(topic_text(self.record.topic))
        return version_id_of(self.record), topic


# The content of a file.


def readings_of(data: bytes) -> list[bytes]:
    """Return a file as UTF-8 in every encoding that it may have, at least one.

    A stray byte may precede it, or parts have two encodings: programs read it differently.
    """
    if b"\0" not in data and not data.startswith(log.UTF_16_BOMS):
        texts = [data.removeprefix(log.BOM)]
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            with suppress(UnicodeDecodeError):  # as Windows writes Korean
                texts.append(data.decode("cp949").encode("utf-8"))
        return texts
    texts = [data.removeprefix(log.BOM)] if _UTF_8_RUN.search(data) else []
    if name := log.utf_16_name(data):
        return [data.decode(name).encode("utf-8").removeprefix(log.BOM), *texts]
    for name in ("utf-16-le", "utf-16-be"):
        for start in (0, 1):
            text = data[start:].decode(name, "replace").removeprefix("\ufeff")
            if log.UTF_16_TEXT.search(text):
                texts.append(text.encode("utf-8", "replace"))
    return texts or [data]


def numbered_lines(data: bytes) -> Lines:
    return [(number, line.rstrip(b"\r\n")) for number, line in enumerate(split_lines(data), 1)]


def unseen_lines(data: bytes, seen: set[bytes]) -> Lines:
    """Return the lines, in every encoding, that are not in `seen`; add them."""
    new_lines: Lines = []
    for number, content in (line for text in readings_of(data) for line in numbered_lines(text)):
        if content not in seen:
            seen.add(content)
            new_lines.append((number, content))
    return new_lines


def find_in_file(path: str, data: bytes, *, is_log: bool) -> Iterator[Suspicion]:
    """Yield suspicions in one reading of a file; orders only in a log, which a model reads."""
    if is_log or (_RECORD_KEY in data and any(map(parse_line, split_lines(data)))):
        yield from find_in_lines(path, numbered_lines(data), with_orders=True)
        return
    text, line, start = data.decode("utf-8", "replace"), 1, 0
    for secret in find_secrets(text):
        line, start = line + text.count("\n", start, secret.start), secret.start
        yield Suspicion(path=path, line=line, kind=secret.kind)


def find_in_lines(
    path: str,
    all_lines: Iterable[tuple[int, bytes]],
    commit: Commit | None = None,
    *,
    with_orders: bool = False,
) -> Iterator[Suspicion]:
    """Yield the secrets in lines of a log, neighbours together."""
    for _, run in groupby(enumerate(all_lines), key=lambda pair: pair[1][0] - pair[0]):
        neighbours = [line for _, line in run]
        first, lines = neighbours[0][0], [content + b"\n" for _, content in neighbours]
        for entry in check_lines(MemoryLog.from_lines(lines, parse_line)):
            place = Suspicion(path=path, line=first, kind="", record=entry.record, commit=commit)
            for line, name, kind in entry.spots:
                yield replace(place, line=first + line, kind=kind, field=name)
            if entry.record and with_orders:
                yield from orders_in(path, first + entry.first, entry.record)


def orders_in(path: str, line: int, record: Record) -> Iterator[Suspicion]:
    place = Suspicion(path=path, line=line, kind="", record=record, is_order=True)
    for name in LIMITS_BYTES:
        for mark in dict.fromkeys(marks_of(getattr(record, name))):
            yield replace(place, kind=mark, field=name)


# Files, folders, and the index.


@dataclass(slots=True)
class Scan:
    """The findings, and the files that were not looked at.

    skipped: pairs of a path and the key of a sentence. unreadable: of a path and the system's
    reason. untracked: the number of files that git neither tracks nor ignores.
    """

    suspicions: list[Suspicion] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    files: int = 0
    untracked: int = 0

    @property
    def has_failed(self) -> bool:
        """Whether a file that may hold a secret was not looked at."""
        return bool(self.unreadable) or any(reason != BINARY for _, reason in self.skipped)

    @property
    def secrets(self) -> list[Suspicion]:
        """The findings without the warnings."""
        return [suspicion for suspicion in self.suspicions if not suspicion.is_order]

    def add(self, path: str, data: bytes, *, is_log: bool = False) -> None:
        """Look at one file. is_log: it is a log, whatever its name.

        A log in UTF-16, which no reader sees, fails even without a secret.
        """
        is_log = is_log or os.path.basename(path) == LOG_NAME
        if not is_log and not _is_text(data):
            self.skipped.append((path, BINARY))
            return
        if not is_log and len(data) > MOST_BYTES:
            self.skipped.append((path, "too_large"))
            return
        self.files += 1
        suspicions: dict[tuple[object, ...], Suspicion] = {}  # each place once
        for reading in readings_of(data):
            for item in find_in_file(path, reading, is_log=is_log):
                suspicions.setdefault((item.line, item.kind, item.field, item.is_order), item)
        self.suspicions += suspicions.values()
        self.note_unread(path, data, is_log=is_log)
        if is_log and log.begins_like_utf_16(data) and not suspicions:
            self.unreadable.append((path, say("scan.utf_16")))

    def note_unread(self, path: str, data: bytes, *, is_log: bool) -> None:
        """Note what of a file is not looked at: all that a git filter keeps, ends of long lines."""
        if is_log and data.startswith(log.FILTER_HEADS):
            self.unreadable.append((path, say("scan.filtered")))
        if _RECORD_KEY in data and len(data) > MOST_LOOKED_BYTES:
            for number, line in enumerate(split_lines(data), start=1):
                if len(line) > MOST_LOOKED_BYTES:
                    reason = say("scan.line_part", line=number, most=MOST_LOOKED_BYTES)
                    self.unreadable.append((path, reason))


def _is_text(data: bytes) -> bool:
    """Return whether a file begins as text: no NUL, or few odd characters that may mislead."""
    for reading in readings_of(data):
        text = reading[:_BEGINNING_BYTES].decode("utf-8", "replace")
        count = sum((char < " " and char not in "\t\n\r\f") or char == "\ufffd" for char in text)
        if "\0" not in text or count <= len(text) * _ODD_SHARE:
            return True
    return False


def scan_paths(paths: Sequence[str]) -> Scan:
    """Look at files and folders; an unreadable file stops no other."""
    scan = Scan()
    for path in dict.fromkeys(paths):
        is_stdin = path == STDIN
        is_folder = not is_stdin and os.path.isdir(path)
        for name in _files_below(path, scan) if is_folder else (path,):
            printed_name = SHOWN_STDIN if is_stdin else name
            is_named = is_stdin or _is_in_git(os.path.abspath(name))
            if not is_named and _is_in_git(os.path.realpath(name)):  # behind a link
                scan.skipped.append((name, "git_folder"))
                continue
            try:
                data = _read_file(None if is_stdin else name)
            except OSError as error:
                scan.unreadable.append((printed_name, reason_of(error)))
                continue
            if data is None:
                scan.skipped.append((printed_name, "not_regular"))
            else:
                scan.add(printed_name, data)
    return scan


def _read_file(path: str | None) -> bytes | None:
    """Return the content, None where opening would wait for a writer. path: None is stdin."""
    if path is None:
        if not (stream := getattr(sys.stdin, "buffer", None)):
            raise OSError(0, "closed")
        return bytes(stream.read())
    if not stat.S_ISREG(os.stat(path).st_mode):
        return None
    with open(path, "rb") as file:
        return file.read(-1 if os.path.basename(path) == LOG_NAME else MOST_BYTES + 1)


def _files_below(folder: str, scan: Scan) -> Iterator[str]:
    """Yield the files that git tracks in a folder, else all; no link is followed."""
    if _is_in_git(os.path.abspath(folder)) or _is_in_git(os.path.realpath(folder)):
        scan.skipped.append((folder, "git_folder"))
        return
    tracked_paths = _names_in_git(folder)
    if tracked_paths:
        scan.untracked += len(_names_in_git(folder, "--others", "--exclude-standard"))
    for path in tracked_paths or _walk(folder, scan):
        try:
            if stat.S_ISREG(os.lstat(path).st_mode):
                yield path
        except FileNotFoundError:  # git tracks it, and somebody has deleted it here
            continue
        except OSError as error:
            scan.unreadable.append((path, reason_of(error)))


def _is_in_git(path: str) -> bool:
    return _GIT in map(str.casefold, Path(path).parts)


def _names_in_git(folder: str, *options: str) -> list[str]:
    try:
        names = WorkTree(Path(folder)).ask("ls-files", "-z", *options).split(b"\0")
    except HistoryError:
        return []
    return [_path_below(folder, os.fsdecode(name)) for name in dict.fromkeys(names) if name]


def _walk(folder: str, scan: Scan) -> Iterator[str]:
    def note_error(error: OSError) -> None:
        scan.unreadable.append((str(error.filename), reason_of(error)))

    for place, folders, names in os.walk(folder, onerror=note_error):
        folders[:] = sorted(name for name in folders if name != _GIT)
        yield from (_path_below(place, name) for name in sorted(names) if name != _GIT)


def _path_below(folder: str, name: str) -> str:
    return name if folder == os.curdir else os.path.join(folder, name)


def scan_staged(root: Path) -> Scan:
    """Look at the staged files of the next commit. Raises HistoryError."""
    scan, repository = Scan(), Repository(root / LOG_NAME)
    empty_tree = repository.ask("hash-object", "-t", "tree", "--stdin").decode("ascii").strip()
    last = "HEAD" if repository.has_head else empty_tree
    command = ("diff-index", "--cached", "--no-renames", "--diff-filter=d", "-z", last)
    heads_and_names = repository.ask(*command).split(b"\0")
    blobs = dict[str, str]()  # by path, the object
    for head, name in zip(heads_and_names[::2], heads_and_names[1::2], strict=False):
        _, mode, _, blob, status = head.decode("ascii").split()
        if status == "U":
            raise HistoryError("unmerged", path=os.fsdecode(name))
        if mode not in (_LINK, _REPOSITORY):
            blobs[os.fsdecode(name)] = blob
    for path, data in zip(blobs, repository.read_contents(blobs.values()), strict=True):
        scan.add(path, data)
    return scan


# Output.


def version_id_of(record: Record) -> str:
    """Return a record's version id, fit to print; "" if it holds a secret."""
    return safe_name(plain(version_id_text(record)))


def printable_path(path: str) -> str:
    """Return a path to print, which no CI runner takes for a command: `./::error …`."""
    text = plain(safe_name(path) or say("scan.hidden_name"))
    return f"./{text}" if text.lstrip().startswith("::") else text
