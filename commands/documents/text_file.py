"""Reads, compares and writes text files of the user, each whole or not at all.

A file that changed meanwhile is not written over, and a link stays a link.
"""

import contextlib
import difflib
import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from commands.documents.words import WORDS
from core.disk.atomic import (
    Identity,
    identity_of,
    is_there,
    make_directory,
    read_regular,
    reason_of,
    replace_whole,
    sync_directory,
    with_sharing_retry,
)
from core.errors import SentinelError


class ExportError(SentinelError):
    """A file or a document cannot be read or written as asked; every file is whole."""

    words = WORDS


@dataclass(frozen=True, slots=True)
class UserFile:
    """A file as it was read; `text` is "" where there is none, and `identity` None."""

    path: Path
    text: str
    identity: Identity

    @classmethod
    def read(cls, path: Path) -> "UserFile":
        """Read the text with its own line ends and byte order mark. Raises ExportError."""
        try:
            data, identity = with_sharing_retry(lambda: read_regular(path))
        except FileNotFoundError:
            if _leads_nowhere(path):
                reason = "broken symbolic link"
                raise ExportError("file_read", path=str(path), reason=reason) from None
            return cls(path, "", None)
        except OSError as error:
            raise ExportError("file_read", path=str(path), reason=reason_of(error)) from error
        try:
            return cls(path, data.decode("utf-8"), identity)
        except UnicodeDecodeError:
            raise ExportError("not_utf_8", path=str(path)) from None

    @property
    def is_there(self) -> bool:
        """Whether there was such a file."""
        return self.identity is not None

    def replace(self, text: str) -> None:
        """Have this text in the file, in one step and on disk.

        Nothing is written over what somebody else has put there since it was read, and no link
        that leads nowhere is replaced. Raises ExportError.
        """
        with _written(self.path):
            if _leads_nowhere(self.path):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
            make_directory(self.path.parent)
            replace_whole(self.path, text.encode("utf-8"), self._check_unchanged)

    def remove(self, root: Path | None = None) -> None:
        """Delete the file, unless it was changed since it was read. Raises ExportError.

        root: directories below it that are empty then go as well.
        """
        with _written(self.path):
            self._check_unchanged(self.path)
            self.path.unlink()
            sync_directory(self.path.parent)
        directory = self.path.parent
        while root and directory != root and directory.is_relative_to(root):
            with contextlib.suppress(OSError):
                os.rmdir(directory)
            if directory.exists():
                return
            directory = directory.parent

    def _check_unchanged(self, target: Path) -> None:
        if identity_of(target) != self.identity:
            raise ExportError("file_changed", path=str(self.path))


def write_new(path: Path, text: str, *, force: bool) -> None:
    """Write a file that nobody had, or with `force` whatever stood there. Raises ExportError."""
    with _written(path):
        if is_there(path) and not force:
            raise ExportError("exists", path=str(path))
        replace_whole(path, text.encode("utf-8"))


def diff(before: str, after: str, old: str, new: str, *, context: int = 3) -> list[str]:
    """Return what changes in a file that is called `old` before and `new` after, as lines."""
    lines = _lines(before), _lines(after)
    return list(difflib.unified_diff(*lines, old, new, lineterm="", n=context))


def _lines(text: str) -> list[str]:
    """Return the lines of a text; only a line feed ends one, with or without a carriage return."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").removesuffix("\n")
    return text.split("\n") if text else []


def _leads_nowhere(path: Path) -> bool:
    return path.is_symlink() and not path.exists()


@contextlib.contextmanager
def _written(path: Path) -> Iterator[None]:
    """Inside, an error of the system becomes an ExportError."""
    try:
        yield
    except OSError as error:
        raise ExportError("file_write", path=str(path), reason=reason_of(error)) from error
