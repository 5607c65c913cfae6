"""Tells cheaply whether the memory log has changes that no commit has, or is gone.

Git is not asked for the state of its work tree, since it may then run a filter that the repository
names. It gives the name under which the last commit has the log; here the file is given one, too.
"""

import hashlib
import os
import shlex
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from core.errors import LogMissingError, SentinelError
from core.lessons.git.repository import Repository, literal
from core.lessons.git.work_tree import WorkTree

WAIT_S = 2


def is_uncommitted(log_path: Path, read: Callable[[], bytes]) -> bool:
    """Return whether git would take up the log, but the last commit has not got it as it stands.

    read: gives the bytes of the log. False where git does not know that within WAIT_S seconds.
    """
    target = Path(os.path.realpath(log_path))
    try:
        deadline_s = time.monotonic() + WAIT_S
        repository = Repository(target, may_be_empty=True, deadline_s=deadline_s)
        committed = repository.blob_in("HEAD") if repository.has_head else ""
        if not committed:
            return not repository.is_ignored
        return committed not in _names(read(), committed) and not repository.is_filtered
    except (SentinelError, OSError):
        return False


def check_missing(log_path: Path) -> None:
    """Raise LogMissingError where git has the log and the file is not there.

    Without its folder the log of a folder above is meant as well, up to the top of the work tree:
    nobody can see then that the project begins there. A log that git does not know is a new one,
    and so is any where git does not answer within WAIT_S seconds.
    """
    folders = log_path.parents[1], *log_path.parents[1].resolve().parents
    if not any(os.path.lexists(folder / ".git") for folder in folders):
        return  # most plain directories: git need not be asked
    try:
        tree = WorkTree(folders[0], deadline_s=time.monotonic() + WAIT_S)
        lost = _missing(tree, log_path)
    except (SentinelError, OSError):
        return
    if lost and not os.path.lexists(log_path):  # git may have been writing it
        key, name, command = lost
        raise LogMissingError(key, path=str(tree.top), log=shlex.quote(name), command=command)


def _missing(tree: WorkTree, log_path: Path) -> tuple[str, str, str] | None:
    """Return the key of the error, the log from the top, and what brings it back; None for new."""
    if os.path.lexists(log_path) or os.path.islink(log_path.parent):  # a link has its own errors
        return None
    parts = [part for part in tree.prefix.split("/") if part]
    above = range(len(parts), -1 if not os.path.isdir(log_path.parent) else len(parts) - 1, -1)
    tail = f"{log_path.parent.name}/{log_path.name}"
    names = ["/".join([*parts[:depth], tail]) for depth in above]
    paths = [literal(name) for name in names]
    listed = tree.ask("ls-files", "-z", "-v", "--full-name", "--", *paths).split(b"\0")
    tags = {os.fsdecode(entry[2:]): entry[:1].upper() for entry in listed if entry}
    has_index = os.path.exists(os.path.join(tree.git_directory, "index"))
    if not has_index:  # a clone without its checkout
        named = tree.ask("ls-tree", "-z", "--name-only", "--full-tree", "HEAD", "--", *paths)
        tags = dict.fromkeys(map(os.fsdecode, filter(None, named.split(b"\0"))), b"")
    for name in names:
        if os.path.lexists(tree.top / name):
            return None
        if name in tags:
            return _way_back(tree, name, tags[name])
    return None


def _way_back(tree: WorkTree, name: str, tag: bytes) -> tuple[str, str, str]:
    """Return the same for a log with this tag of git, b"" where nothing is checked out."""
    if not tag:
        return "log_not_checked_out", name, "git checkout"
    restore = shlex.join(["git", "restore", name])
    if tag == b"M":
        return "log_deleted", name, shlex.join(["git", "checkout", "--merge", "--", name])
    if tag != b"S":
        return "log_deleted", name, restore
    asked = tree.run("config", "--type=bool", "--get", "core.sparseCheckout")
    if asked.stdout.strip() == b"true":
        folder = name.rpartition("/")[0]
        return "log_sparse", name, shlex.join(["git", "sparse-checkout", "add", folder])
    seen = shlex.join(["git", "update-index", "--no-skip-worktree", name])
    return "log_passed_over", name, f"{seen} && {restore}"


def _names(data: bytes, like: str) -> Iterator[str]:
    """Yield the names that git gives these bytes, which may have the line ends of Windows here.

    like: a name in the form that the repository uses.
    """
    hashed = hashlib.sha1 if len(like) == hashlib.sha1().digest_size * 2 else hashlib.sha256
    for content in (data, data.replace(b"\r\n", b"\n")):
        yield hashed(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
