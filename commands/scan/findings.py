"""Looks for secrets in files, folders, standard input and the commits of a log.

A finding says where and of what kind; no text leaves this file but in records, and only
`shown_record` may name one.
"""

import os
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from commands.suspicions import (
    Suspicion,
    fresh_lines,
    in_file,
    in_lines,
    is_text,
    unread_parts,
)
from core.config import LOG_NAME
from core.disk import reason_of
from core.git import HistoryError, Repository, WorkTree
from core.lessons.history import EVERYWHERE, Commit, own_commits

MOST_BYTES = 5_000_000
STDIN, SHOWN_STDIN = "-", "<stdin>"
BINARY = "binary"

_BINARY_BYTES = 8_192
_GIT = ".git"


@dataclass(slots=True)
class Scan:
    """What was found, and what was not looked at.

    skipped: path and why, as the key of a sentence. unreadable: path and what the system says.
    untracked: how many files of the folders git neither tracks nor ignores.
    """

    found: list[Suspicion] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    files: int = 0
    untracked: int = 0

    @property
    def has_failed(self) -> bool:
        """Whether something that may hold a secret was not looked at."""
        return bool(self.unreadable) or any(why != BINARY for _, why in self.skipped)

    @property
    def secrets(self) -> list[Suspicion]:
        """The findings that must not stay."""
        return [it for it in self.found if not it.is_order]

    @property
    def marks(self) -> list[Suspicion]:
        """The findings that somebody should read."""
        return [it for it in self.found if it.is_order]

    def add(self, path: str, data: bytes, *, is_log: bool = False) -> None:
        """Look at the content of one file; a memory log is known by its records, or is said to be.

        Only records are looked at for marks: a model reads nothing else.
        """
        if not is_log and not is_text(data):
            self.skipped.append((path, BINARY))
        else:
            self.files += 1
            self.found += in_file(path, data, is_log=is_log)
            self.unreadable += [(path, reason) for reason in unread_parts(data)]


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
        if len(data) > MOST_BYTES and not is_log and is_text(data[:_BINARY_BYTES]):
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
