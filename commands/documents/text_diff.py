"""Writes the files of a plan, each whole or not at all, and none that changed meanwhile."""

import contextlib
import errno
import os
from pathlib import Path

from commands.setup.files import Change
from core.disk.atomic import make_directory, read_regular, real_path, replace_whole


class ChangedError(Exception):
    """A file is not what the plan was made from."""


def text_of(path: Path) -> str | None:
    """The text of a file, None where there is none. OSError; ValueError for what is no UTF-8."""
    try:
        return read_regular(path)[0].decode("utf-8")
    except FileNotFoundError:
        return None


def write(change: Change, root: Path) -> None:
    """Carry out one change; a link stays one, and a directory below `root` that is empty goes.

    Raises ChangedError and OSError; the file is then as it was.
    """
    if change.path.is_symlink() and not change.path.exists():  # it would be replaced by a file
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    if change.after is not None:
        make_directory(change.path.parent)
    if change.after is None and not change.path.is_symlink():
        _check(change)
        real_path(change.path).unlink()
        _remove_empty(change.path.parent, root)
        return
    replace_whole(change.path, (change.after or "").encode(), lambda target: _check(change))


def _check(change: Change) -> None:
    try:
        now = text_of(change.path)
    except ValueError:
        raise ChangedError from None
    if now != change.before:
        raise ChangedError


def _remove_empty(directory: Path, root: Path) -> None:
    while directory != root and directory.is_relative_to(root):
        with contextlib.suppress(OSError):
            os.rmdir(directory)
        if directory.exists():
            return
        directory = directory.parent
