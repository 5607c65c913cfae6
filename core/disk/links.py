"""Tells where symbolic links lead, since a clone brings links that its user has never looked at.

A link may lead to whatever lies in the project or in the work tree that it is in. Out of them it is
followed only to what is plainly a memory; a file that is written for clients never follows it. A
git directory and a home are outside, wherever they lie.
"""

import contextlib
import json
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from core.config import CONTEXT_DIRECTORY, no_project_kind
from core.errors import LogReadError, link_error

LOG_SUFFIX = ".jsonl"
_OURS = (".gitignore", ".gitattributes")
_MOST_BYTES = 1 << 20  # how far into a file its first record is looked for
_KEYS = ("id", "topic", "lesson")  # which every record has, as texts


class WayOut(NamedTuple):
    """A link of a project, and where it leads."""

    link: Path
    target: Path


def way_out(path: Path, project: Path | None = None) -> WayOut | None:
    """Return the link by which `path` leaves the project; None where it leaves it by none.

    A path that lies outside by its own name, or by a link that is none of the project's, has been
    chosen by the user. project: None for the repository that the link is in.
    """
    first, *parts = Path(os.getcwd(), path).parts
    at = Path(first)
    for part in parts:
        link = at / part
        if part == os.pardir:
            at = at.parent
        elif not os.path.islink(link):
            at = link
        else:
            around = trees_of(project) if project else _work_tree(at)
            real = Path(os.path.realpath(path))
            if _is_in(at, around) and not _is_in(real, around):
                return WayOut(link, real)
            at = Path(os.path.realpath(link))
    return None


def memory_at(path: Path) -> Path:
    """Return where the memory log `path` really is.

    Raises LogReadError for a link that leads to nothing or to what is no memory, FileNotFoundError
    where there is no log, OSError.
    """
    folder, real = path.parent, path
    if _is_link(folder):
        real = _target(folder, path, "folder")
        if not _is_in(real, trees_of(folder.parent)) and not _holds_memory(real, path.name):
            raise _error("log_link_folder", path, folder, real)
        real /= path.name
    if _is_link(real):
        real = _target(path, path, "file")
        is_named = real.suffix == LOG_SUFFIX or _is_in(real, trees_of(folder.parent))
        if os.path.isfile(real) and not (is_named and _is_log(real)):
            raise _error("log_link", path, path, real)
    return real


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


def _is_link(path: Path) -> bool:
    """Return whether this is a link. Raises OSError if unsure, FileNotFoundError for nothing."""
    return stat.S_ISLNK(os.lstat(path).st_mode)


def _target(link: Path, path: Path, kind: str) -> Path:
    """Return what a link leads to. Raises LogReadError where nothing is there."""
    real = Path(os.path.realpath(link))
    try:
        os.stat(real)
    except FileNotFoundError:
        raise _error(f"log_link_gone_{kind}", path, link, real) from None
    return real


def _error(key: str, path: Path, link: Path, target: Path) -> LogReadError:
    return link_error(key, path=str(path), link=str(link), target=str(target))


def _holds_memory(folder: Path, name: str) -> bool:
    """Return whether a directory is there for a memory, or for nothing yet."""
    if no_project_kind(folder, os.environ):
        return False
    found, ours = os.listdir(folder), name.removesuffix(LOG_SUFFIX) + "."
    left = [it for it in found if it not in _OURS and not it.lstrip(".").startswith(ours)]
    return folder.name == CONTEXT_DIRECTORY or name in found or not left


def _is_log(path: Path) -> bool:
    """Return whether a file holds a record, or nothing but blanks."""
    with open(path, "rb") as file:
        start = file.read(_MOST_BYTES).removeprefix(b"\xef\xbb\xbf")
    return not start.strip() or any(map(_is_record, start.split(b"\n")))


def _is_record(line: bytes) -> bool:
    if not line.lstrip().startswith(b"{"):
        return False
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return all(isinstance(value.get(key), str) for key in _KEYS)


# What belongs to a project.


def trees_of(project: Path) -> list[Path]:
    """Return the directories, without links, inside which a project's links may lead."""
    root = Path(os.path.realpath(project))
    return list(dict.fromkeys([*([] if _is_shared(root) else [root]), *_work_tree(root)]))


def _work_tree(folder: Path) -> list[Path]:
    """Return the work tree that a directory, given without links, is in; [] where it is in none.

    Not the other work trees of its repository: files of an archive could name any directory so.
    """
    places = (folder, *folder.parents)
    top = next((place for place in places if os.path.lexists(place / ".git")), None)
    if top is None or _is_shared(top):
        return []
    return [top]


def _is_in(path: Path, trees: Sequence[Path]) -> bool:
    below = (path.relative_to(tree).parts for tree in trees if path.is_relative_to(tree))
    return any(".git" not in map(str.casefold, parts) for parts in below)


def _is_shared(tree: Path) -> bool:
    """Return whether a directory is no project's: a home, what homes lie in, one of the system."""
    homes = {os.environ.get("HOME", ""), os.environ.get("USERPROFILE", ""), os.path.expanduser("~")}
    holds_home = any(home and Path(os.path.realpath(home)).is_relative_to(tree) for home in homes)
    return holds_home or bool(no_project_kind(tree, os.environ))
