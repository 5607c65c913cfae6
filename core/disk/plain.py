"""Reads a file that is no link and lies in none, and loads nothing for it: a hook runs often."""

import contextlib
import os
import stat


def read_plain(path: str) -> bytes | None:
    """Return what a file holds; None where it is none, a link or in a link, or cannot be read.

    `LogFile` then tells what it is: it follows links with care.
    """
    with contextlib.suppress(OSError):
        folder, file = os.lstat(os.path.dirname(path)), os.lstat(path)
        if stat.S_ISDIR(folder.st_mode) and stat.S_ISREG(file.st_mode):
            with open(path, "rb") as opened:
                return opened.read()
    return None
