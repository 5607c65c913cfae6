"""Asks git whether it has the memory log: as it stands here, or though the file is gone."""

import hashlib
import os
import shlex
import time
from collections.abc import Callable
from pathlib import Path

from core import git
from core.errors import LogMissingError, SentinelError
from core.git import Repository, WorkTree, literal


def is_uncommitted(log_path: Path, read: Callable[[], bytes]) -> bool:
    """Return whether git would take up the log, but the last commit has not got it as it stands.

    read: gives the bytes of the log. False where git does not know that within WAIT_S seconds. Git
    is not asked for the state of its work tree, since it may then run a filter that the repository
    names: it gives the name under which the last commit has the log, and the file is named here.
    """
    target = Path(os.path.realpath(log_path))
    try:
        deadline_s = time.monotonic() + git.WAIT_S
        repository = Repository(target, may_be_empty=True, deadline_s=deadline_s)
        committed = repository.blob_in("HEAD") if repository.has_head else ""
        if not committed:
            return not repository.is_ignored
        data = read()
        is_sha1 = len(committed) == hashlib.sha1(usedforsecurity=False).digest_size * 2
        hashed = hashlib.sha1 if is_sha1 else hashlib.sha256
        for content in (data, data.replace(b"\r\n", b"\n")):  # maybe the line ends of Windows here
            blob = b"blob %d\0" % len(content) + content
            if hashed(blob, usedforsecurity=False).hexdigest() == committed:
                return False
        return not repository.is_filtered
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
        tree = WorkTree(folders[0], deadline_s=time.monotonic() + git.WAIT_S)
        lost = _missing(tree, log_path)
    except (SentinelError, OSError):
        return
    if lost and not os.path.lexists(log_path):  # git may have been writing it
        raise lost


def _missing(tree: WorkTree, log_path: Path) -> LogMissingError | None:
    """Return the error that says how to bring the log back, None for a new one."""
    if os.path.lexists(log_path) or os.path.islink(log_path.parent):  # a link has its own errors
        return None
    parts = [part for part in tree.prefix.split("/") if part]
    above = range(len(parts), -1 if not os.path.isdir(log_path.parent) else len(parts) - 1, -1)
    tail = f"{log_path.parent.name}/{log_path.name}"
    names = ["/".join([*parts[:depth], tail]) for depth in above]
    paths = [literal(name) for name in names]
    listed = tree.ask("ls-files", "-z", "-v", "--full-name", "--", *paths).split(b"\0")
    tags = {os.fsdecode(entry[2:]): entry[:1].upper() for entry in listed if entry}
    if not os.path.exists(os.path.join(tree.git_directory, "index")):  # without its checkout
        found = tree.ask("ls-tree", "-z", "--name-only", "--full-tree", "HEAD", "--", *paths)
        tags = dict.fromkeys(map(os.fsdecode, filter(None, found.split(b"\0"))), b"")
    for name in names:
        if os.path.lexists(tree.top / name):
            return None
        if name in tags:
            key, command = _way_back(tree, name, tags[name])
            facts = {"path": str(tree.top), "log": shlex.quote(name), "command": command}
            return LogMissingError(key, **facts)
    return None


def _way_back(tree: WorkTree, name: str, tag: bytes) -> tuple[str, str]:
    """Return the key of the error and what brings a log back that has this tag in `ls-files -v`."""
    restore = shlex.join(["git", "restore", name])
    if not tag:
        return "log_not_checked_out", "git checkout"
    if tag == b"M":
        return "log_deleted", shlex.join(["git", "checkout", "--merge", "--", name])
    if tag != b"S":
        return "log_deleted", restore
    asked = tree.run("config", "--type=bool", "--get", "core.sparseCheckout")
    if asked.stdout.strip() == b"true":
        folder = name.rpartition("/")[0]
        return "log_sparse", shlex.join(["git", "sparse-checkout", "add", folder])
    seen = shlex.join(["git", "update-index", "--no-skip-worktree", name])
    return "log_passed_over", f"{seen} && {restore}"
