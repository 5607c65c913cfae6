"""Text files of the user that a command writes: read whole, replaced whole, never by accident."""

import contextlib
import difflib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from commands.documents.words import WORDS
from commands.terminal.safe_text import plain
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
    """Something cannot be exported as it was asked for; every file is whole."""

    words = WORDS


@dataclass(frozen=True, slots=True)
class UserFile:
    """A file as it was read; `text` is "" where there is none, and `identity` None."""

    path: Path
    text: str
    identity: Identity

    @classmethod
    def read(cls, path: Path) -> "UserFile":
        """The text with its own line ends and byte order mark. Raises ExportError."""
        try:
            data, identity = with_sharing_retry(lambda: read_regular(path))
        except FileNotFoundError:
            if os.path.islink(path):
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
        """Have this text in the file, in one step and on disk; a link stays one.

        Nothing is written over what somebody else has put there since it was read. Raises
        ExportError.
        """
        with _written(self.path):
            make_directory(self.path.parent)
            replace_whole(self.path, text.encode("utf-8"), self._check_unchanged)

    def remove(self) -> None:
        """Delete the file, unless it was changed since it was read. Raises ExportError."""
        with _written(self.path):
            self._check_unchanged(self.path)
            self.path.unlink()
            sync_directory(self.path.parent)

    def _check_unchanged(self, target: Path) -> None:
        if identity_of(target) != self.identity:
            raise ExportError("file_changed", path=str(self.path))


def write_new(path: Path, text: str, *, force: bool) -> None:
    """Write a file that nobody had, or with `force` whatever stood there. Raises ExportError."""
    with _written(path):
        if is_there(path) and not force:
            raise ExportError("exists", path=str(path))
        replace_whole(path, text.encode("utf-8"))


def diff(before: str, after: str, path: str) -> Iterator[str]:
    """What changes in a file, as lines that a terminal can show."""
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), path, path, lineterm="", n=2
    )
    return map(plain, lines)


@contextlib.contextmanager
def _written(path: Path) -> Iterator[None]:
    """Inside, an error of the system becomes an ExportError."""
    try:
        yield
    except OSError as error:
        raise ExportError("file_write", path=str(path), reason=reason_of(error)) from error
