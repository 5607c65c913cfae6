"""Tells cheaply whether the memory log has changes that no commit has, or is gone.

Git is not asked for the state of its work tree, since it may then run a filter that the repository
names. It gives the name under which the last commit has the log; here the file is given one, too.
"""

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from core.errors import SentinelError
from core.lessons.git.repository import Repository
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


def is_deleted(log_path: Path) -> bool:
    """Return whether git tracks the log and the file is gone; False where git does not know."""
    if os.path.lexists(log_path):
        return False
    name = f"{log_path.parent.name}/{log_path.name}"
    try:
        tree = WorkTree(log_path.parents[1], deadline_s=time.monotonic() + WAIT_S)
        return bool(tree.ask("ls-files", "--deleted", "--", name))
    except (SentinelError, OSError):
        return False


def _names(data: bytes, like: str) -> Iterator[str]:
    """Yield the names that git gives these bytes, which may have the line ends of Windows here.

    like: a name in the form that the repository uses.
    """
    hashed = hashlib.sha1 if len(like) == hashlib.sha1().digest_size * 2 else hashlib.sha256
    for content in (data, data.replace(b"\r\n", b"\n")):
        yield hashed(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
