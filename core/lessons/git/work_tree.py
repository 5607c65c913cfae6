"""Finds the git directory of a folder, and asks that one by its name.

A tree may hold a directory that looks like a git directory, settings and all, for git to find on
its way up. So no call but the first looks for one, and that takes none from inside the tree.
"""

import math
import os
import re
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from core.lessons.git import call
from core.lessons.git.errors import HistoryError

REASON_CHARS = 300

_GIT = ".git"
_LOOKS_BARE = b"safe.bareRepository"  # in the refusal of a git that knows this setting
# What git says of an object that is missing or damaged names it, or has one of these words.
_LACKS = re.compile(
    r"(?<![0-9a-f])[0-9a-f]{40}|(?<![\w/\\.-])objects?\b(?! format)"
    r"|packfile|promisor|revision walk|not a valid commit|transport .{0,64} not allowed",
    re.IGNORECASE,
)


class WorkTree:
    """The git work tree that a folder is in. Its methods raise HistoryError where git fails.

    folder: where git is started. git_directory: the repository's. top: where the work tree begins.
    These are absolute. prefix: the folder from the top, with `/` and one at its end, "" at the top.
    """

    def __init__(self, folder: Path, *, deadline_s: float = math.inf) -> None:
        """Find the work tree of `folder`, which exists. Raises HistoryError, also if in none.

        deadline_s: when by the monotonic clock no call waits for git any longer.
        """
        self.folder = Path(os.path.abspath(folder))
        self._deadline_s = deadline_s
        found, place = _discovered(Path(os.path.realpath(folder)), deadline_s)
        if found.returncode and b"not a git repository" not in found.stderr:
            raise failed(found.stderr)
        self.git_directory = _line(found)
        top = _line(_called(place, "rev-parse", "--show-toplevel", deadline_s=deadline_s))
        self.top = Path(top)
        is_inside = self.folder.resolve().is_relative_to(Path(self.git_directory).resolve())
        asked = ("rev-parse", "--is-inside-work-tree", "--show-prefix")
        said = self.ask(*asked) if top and not is_inside else b""
        inside, _, prefix = said.partition(b"\n")
        if inside != b"true":
            reason = _reason(found.stderr) if found.returncode else ""
            raise HistoryError("no_repository", path=str(folder), reason=reason)
        self.prefix = os.fsdecode(prefix.removesuffix(b"\n"))

    def ask(self, *arguments: str, variables: Mapping[str, str] | None = None) -> bytes:
        """Return what git prints. variables: added to its environment."""
        done = self.run(*arguments, variables=variables)
        if done.returncode:
            raise failed(done.stderr)
        return done.stdout

    def run(
        self, *arguments: str, variables: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        """Call git; the return code says whether it failed. variables: as of `ask`."""
        named = (*self._named, *arguments)
        return _called(self.folder, *named, variables=variables, deadline_s=self._deadline_s)

    def start(self, *arguments: str) -> "subprocess.Popen[bytes]":
        """Start a git that answers what is written to it."""
        try:
            return call.start(self.folder, *self._named, *arguments)
        except OSError as error:
            raise HistoryError("no_git") from error

    @property
    def index(self) -> dict[str, str]:
        """What names the index that git made for the hook running now, if it is of this repository.

        `git commit --all` and `git commit FILE` do not put what they commit into the usual one.
        """
        given = os.environ.get("GIT_INDEX_FILE")
        if not given:
            return {}
        index = Path(os.path.realpath(self.top / given))
        is_ours = index.is_relative_to(os.path.realpath(self.git_directory))
        return {"GIT_INDEX_FILE": str(index)} if is_ours else {}

    @property
    def _named(self) -> tuple[str, str]:
        return f"--git-dir={self.git_directory}", f"--work-tree={self.top}"


def failed(stderr: bytes, *, is_lacking: bool = False) -> HistoryError:
    """Return the error that says what git complained of.

    is_lacking: whether objects are known to be missing; else git's own words tell.
    """
    is_lacking = is_lacking or bool(_LACKS.search(stderr.decode("utf-8", "replace")))
    return HistoryError("objects_missing" if is_lacking else "git_failed", reason=_reason(stderr))


def _reason(stderr: bytes) -> str:
    lines = stderr.decode("utf-8", "replace").strip().splitlines() or ["?"]
    return next((line for line in lines if line.startswith("fatal:")), lines[-1])[:REASON_CHARS]


def _discovered(
    place: Path, deadline_s: float
) -> "tuple[subprocess.CompletedProcess[bytes], Path]":
    """Return what git says of its directory from here up, and where it was not led astray."""
    while True:
        found = _called(place, "rev-parse", "--absolute-git-dir", deadline_s=deadline_s)
        if place.parent == place or not _is_planted(found, place):
            return found, place
        place = place.parent


def _is_planted(found: "subprocess.CompletedProcess[bytes]", place: Path) -> bool:
    """Return whether git came upon a directory at or above `place` that is itself a repository."""
    if found.returncode:
        return _LOOKS_BARE in found.stderr
    directory = Path(_line(found))
    return directory.name != _GIT and directory in (place, *place.parents)


def _line(done: "subprocess.CompletedProcess[bytes]") -> str:
    return os.fsdecode(done.stdout.removesuffix(b"\n"))


def _called(
    folder: Path,
    *arguments: str,
    deadline_s: float,
    variables: Mapping[str, str] | None = None,
) -> "subprocess.CompletedProcess[bytes]":
    timeout_s = min(call.TIMEOUT_S, deadline_s - time.monotonic())
    try:
        return call.run(folder, *arguments, variables=variables, timeout_s=timeout_s)
    except subprocess.TimeoutExpired:
        raise HistoryError("git_slow", seconds=round(timeout_s)) from None
    except OSError as error:
        raise HistoryError("no_git") from error
