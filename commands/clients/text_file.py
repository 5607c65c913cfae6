"""Reads, compares and writes text files of the user, each whole or not at all.

A file that changed meanwhile is not overwritten, and a link stays a link. No link of a project is
followed out of it, neither to read nor to write.
"""

import contextlib
import errno
import os
import shlex
from dataclasses import dataclass
from pathlib import Path

from core import disk
from core.errors import SentinelError


class ExportError(SentinelError):
    """A file or document cannot be read or written; every file is whole."""

    table = "documents"


@dataclass(frozen=True, slots=True)
class UserFile:
    """A file as read: without one, `text` is "". project: no link leads out of it."""

    path: Path
    text: str
    identity: disk.Identity
    project: Path

    @classmethod
    def read(cls, path: Path, project: Path) -> "UserFile":
        """Read the text, line ends and byte order mark included. Raises ExportError."""
        check_inside(path, project)
        try:
            data, identity = disk.read_regular_file(path)
        except FileNotFoundError:
            if path.is_symlink():  # which leads nowhere
                reason = "broken symbolic link"
                raise ExportError("file_read", path=str(path), reason=reason) from None
            return cls(path, "", None, project)
        except OSError as error:
            raise ExportError("file_read", path=str(path), reason=disk.reason_of(error)) from error
        try:
            return cls(path, data.decode("utf-8"), identity, project)
        except UnicodeDecodeError:
            raise ExportError("not_utf_8", path=str(path)) from None

    @property
    def is_there(self) -> bool:
        return self.identity is not None

    def write(self, text: str | None, root: Path | None = None) -> None:
        """Write this text in one step and to disk, None for no file. Raises ExportError.

        A file that changed since, and a link that leads nowhere, stay; without a text a link gets
        an empty one. root: emptied directories below it go with the file.
        """
        check_inside(self.path, self.project)
        is_link = self.path.is_symlink()
        with disk.errors_as(ExportError, "file_write", self.path):
            if text is not None or is_link:
                if is_link and not self.path.exists():
                    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
                disk.make_directory(self.path.parent)
                data = (text or "").encode("utf-8")
                disk.replace_file(self.path, data, self._check_unchanged)
                return
            self._check_unchanged(self.path)
            self.path.unlink()
            disk.sync_directory(self.path.parent)
        with contextlib.suppress(OSError):  # a directory that is not empty, and those above it
            for directory in self.path.parents:
                if root not in directory.parents:
                    return
                os.rmdir(directory)

    def _check_unchanged(self, target: Path) -> None:
        if disk.identity_of(target) != self.identity:
            raise ExportError("file_changed", path=str(self.path))


def check_inside(path: Path, project: Path, *, is_named: bool = False) -> None:
    """Raise ExportError where a link of the project leads `path` out of it.

    is_named: a user named the path, so it may lie in another repository.
    """
    way = disk.find_exit_link(path, project) or (disk.find_exit_link(path) if is_named else None)
    if way:
        link, target = str(way.link), str(way.target)
        rm = shlex.join(["rm", link])
        raise ExportError("leads_out", path=str(path), link=link, target=target, rm=rm)


def write_new(
    path: Path, text: str, *, force: bool, project: Path, is_private: bool = False
) -> None:
    """Write a new file, with `force` over an old one; follow no link out. Raises ExportError.

    is_private: only its owner may read it.
    """
    check_inside(path, project, is_named=True)
    with disk.errors_as(ExportError, "file_write", path):
        if disk.is_there(path) and not force:
            raise ExportError("exists", path=str(path))
        target = Path(os.path.realpath(path))  # also of a link that leads nowhere, which stays
        disk.replace_file(target, text.encode("utf-8"), is_private=is_private)
