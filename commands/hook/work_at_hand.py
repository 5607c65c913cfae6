"""Shows which work goes on in a project: its branch, its changed files and its last commits.

Git is not asked whether a file differs, since it may then run a filter that the repository names.
It lists size and time under which it knows each file, and here the files are looked at. New files
that git does not know yet are left out: finding them takes a walk through the whole tree.
"""

import os
import re
import stat
import time
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from core.config import CONTEXT_DIRECTORY
from core.git import HistoryError, WorkTree
from core.lessons.task import MOST_FILES, Work

WAIT_S = 1
MOST_COMMITS = 5
MOST_LISTED_BYTES = 3_000_000  # some 15,000 files; looking at more would take too long

_BRANCHES = "refs/heads/"
_NAMES = ("--name-only", "--no-renames", "--relative", "-z", "--no-ext-diff", "--no-textconv")
# What `ls-files --debug` puts behind a file of the index.
_KNOWN = re.compile(
    rb"  ctime: [^\n]*+\n  mtime: (\d++):\d++\n  dev: [^\n]*+\n  uid: [^\n]*+\n"
    rb"  size: (\d++)\tflags: [^\n]*+\n"
)


def work_at_hand(folder: Path) -> Work:
    """Return the work in a folder of a git work tree, files of the memory aside.

    What git cannot tell within WAIT_S seconds, or at all, is left out.
    """
    try:
        tree = WorkTree(folder, deadline_s=time.monotonic() + WAIT_S)
    except (HistoryError, OSError):
        return Work()
    commits = tuple(_commits(_asked(tree, *_log())))
    staged = _paths(_asked(tree, "diff-index", "--cached", *_NAMES, "HEAD", "--"))
    listed = _asked(tree, "ls-files", "-z", "--debug")
    changed = dict.fromkeys((*_changed(folder, listed), *staged))
    branch = _asked(tree, "symbolic-ref", "--quiet", "HEAD").decode("utf-8", "replace").strip()
    return Work(
        branch=branch.removeprefix(_BRANCHES),
        # Of a tree that was copied, git knows no time of any file.
        changed=tuple(changed) if len(changed) <= MOST_FILES else (),
        commits=commits,
    )


def _log() -> tuple[str, ...]:
    return ("log", f"--max-count={MOST_COMMITS}", "--no-merges", "--format=%x01%s", *_NAMES)


def _asked(tree: WorkTree, *arguments: str) -> bytes:
    try:
        return tree.ask(*arguments)
    except HistoryError:
        return b""


def _commits(data: bytes) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield subject and files of each commit of a log."""
    for part in data.split(b"\1")[1:]:
        subject, _, paths = part.partition(b"\0")
        yield subject.decode("utf-8", "replace"), tuple(_paths(paths))


def _paths(data: bytes) -> Iterator[str]:
    """Yield the paths of a list in NFC, those of the memory left out."""
    for name in data.split(b"\0"):
        path = unicodedata.normalize("NFC", os.fsdecode(name.strip(b"\n")))
        if path and not path.startswith(f"{CONTEXT_DIRECTORY}/"):
            yield path


def _changed(folder: Path, listed: bytes) -> Iterator[str]:
    """Yield the files that have another size or time than git knows; a deleted one is none."""
    if len(listed) > MOST_LISTED_BYTES:
        return
    for name, second, size in _known(listed):
        try:
            found = os.lstat(os.path.join(os.fsencode(folder), name))
        except (OSError, ValueError):
            continue
        is_known = (int(found.st_mtime), found.st_size) == (int(second), int(size))
        if stat.S_ISREG(found.st_mode) and not is_known:
            yield from _paths(name)


def _known(listed: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Yield the name, the second of the last change and the size of each file of the index."""
    name, *parts = listed.split(b"\0")
    for part in parts:
        found = _KNOWN.match(part)
        if not found:
            return
        yield name, found[1], found[2]
        name = part[found.end() :]
