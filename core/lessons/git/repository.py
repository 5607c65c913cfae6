"""Finds the git repository of a memory log, and in it revisions, the index and files by name.

Nothing is written, fetched on purpose or asked of a person.
"""

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from core.lessons.git import call as git
from core.lessons.git.errors import HistoryError
from core.project import CONTEXT_DIRECTORY, LOG_NAME

REASON_CHARS = 300
SHORT_DIGITS = 10

_FILE, _LINK = "100", "120000"  # how the mode of a file begins, and that of a symbolic link
_WHOLE_ID = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")


class Repository:
    """The git repository that a file is in. Every method raises HistoryError where git fails.

    folder: where git is started. path: the file from the top of the work tree, with `/`.
    is_cut: whether it is a shallow clone, in which older commits are missing. has_head: whether
    the branch that is checked out has a commit.
    """

    def __init__(self, target: Path, *, may_be_empty: bool = False) -> None:
        """Find the repository of `target`, which need not exist. Raises HistoryError.

        may_be_empty: whether one without any commit will do.
        """
        self.folder = next(folder for folder in target.parents if folder.is_dir())
        wanted = ("--is-shallow-repository", "--is-inside-work-tree", "--show-prefix")
        done = self._run("rev-parse", *wanted)
        if done.returncode and b"not a git repository" not in done.stderr:
            raise _failed(done.stderr)
        cut, _, rest = done.stdout.partition(b"\n")
        inside, _, prefix = rest.partition(b"\n")
        if inside != b"true":
            raise HistoryError("no_repository", path=str(target.parent))
        self.is_cut = cut == b"true"
        self._below = target.relative_to(self.folder).as_posix()
        self.path = os.fsdecode(prefix.removesuffix(b"\n")) + self._below
        self.has_head = not self._run("rev-parse", "--verify", "--quiet", "HEAD").returncode
        is_empty = not self.has_head and not self.ask("rev-list", "--max-count=1", "--all")
        if is_empty and not may_be_empty:
            raise HistoryError("no_commits", path=str(self.folder))

    @property
    def is_ignored(self) -> bool:
        """Whether git is told not to track the file."""
        return not self._run("check-ignore", "--quiet", "--", self._below).returncode

    def commit_of(self, name: str) -> str:
        """Return the id of the commit that a revision means.

        Raises HistoryError where it means none, or where a branch and a tag are called so: git
        would take the tag, and whoever may push one would decide what is looked at.
        """
        if name and not name.startswith(("-", "^")) and "\0" not in name:
            done = self._run("rev-parse", "--verify", f"{name}^{{commit}}")
            is_certain = name == "HEAD" or _WHOLE_ID.fullmatch(name)
            if not done.returncode and b"is ambiguous" in done.stderr and not is_certain:
                raise HistoryError("ambiguous_revision", name=name)
            if not done.returncode:
                return done.stdout.decode("ascii").strip()
        raise HistoryError("bad_revision", *self._cut, name=name)

    def merge_base(self, one: str, other: str) -> str:
        """Return the commit at which two others parted. Raises HistoryError if git knows none."""
        done = self._run("merge-base", one, other)
        if done.returncode > 1:
            raise _failed(done.stderr)
        if done.returncode:
            short = {"one": one[:SHORT_DIGITS], "other": other[:SHORT_DIGITS]}
            raise HistoryError("no_merge_base", *self._cut, **short)
        return done.stdout.decode("ascii").split()[0]

    @property
    def _cut(self) -> tuple[str, ...]:
        return ("cut",) if self.is_cut else ()

    def blob_in(self, commit: str, path: str = "") -> str:
        """Return the object name of the file in a commit, "" where there is none, or only a link.

        commit: "" for the index; HistoryError is raised while it holds an open conflict. path: a
        former name of the file, as a `FileChange` has it.
        """
        entries = self._entries(commit, path or self.path)
        if len(entries) > 1 or any(stage != "0" for _, _, stage in entries):
            raise HistoryError("unmerged", path=self.path)
        return next((name for mode, name, _ in entries if mode.startswith(_FILE)), "")

    def links_in(self, commit: str, paths: Sequence[str]) -> list[str]:
        """Return the object names of the paths that are symbolic links there; "": in the index."""
        return [name for mode, name, _ in self._entries(commit, *paths) if mode == _LINK]

    def _entries(self, commit: str, *paths: str) -> list[tuple[str, str, str]]:
        """Return mode, object name and stage of these paths in a commit, "": in the index."""
        named = map(literal, paths)
        if commit:
            data = self.ask("ls-tree", "-z", "--full-tree", commit, "--", *named)
        else:
            asked = ("ls-files", "-z", "--stage", "--", *named)
            data = self.ask(*asked, variables=self._index())
        heads = [entry.partition(b"\t")[0].decode("ascii").split() for entry in data.split(b"\0")]
        if commit:
            return [(head[0], head[2], "0") for head in heads if head]
        return [(head[0], head[1], head[2]) for head in heads if head]

    def _index(self) -> dict[str, str]:
        """Return the index that git made for the hook running now, if it is of this repository.

        `git commit --all` and `git commit FILE` do not put what they commit into the usual one.
        """
        given = os.environ.get("GIT_INDEX_FILE")
        if not given:
            return {}
        folder = os.fsdecode(self.ask("rev-parse", "--absolute-git-dir").removesuffix(b"\n"))
        index = Path(os.path.realpath(given))
        is_ours = index.is_relative_to(os.path.realpath(folder))
        return {"GIT_INDEX_FILE": str(index)} if is_ours else {}

    def own_path(self, log_path: Path) -> str:
        """Return the path of a log in its project as the project has it, whatever it is a link to.

        That of the file itself where the project is no part of this work tree.
        """
        top = os.fsdecode(self.ask("rev-parse", "--show-toplevel").removesuffix(b"\n"))
        project = Path(os.path.realpath(log_path.parent.parent))
        try:
            below = project.relative_to(os.path.realpath(top))
        except ValueError:
            return self.path
        return (below / CONTEXT_DIRECTORY / LOG_NAME).as_posix()

    def ask(self, *arguments: str, variables: Mapping[str, str] | None = None) -> bytes:
        """Return what git prints. variables: added to its environment. Raises HistoryError."""
        done = self._run(*arguments, variables=variables)
        if done.returncode:
            raise _failed(done.stderr)
        return done.stdout

    def _run(
        self, *arguments: str, variables: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        try:
            return git.run(self.folder, *arguments, variables=variables)
        except subprocess.TimeoutExpired:
            raise HistoryError("git_slow", seconds=git.TIMEOUT_S) from None
        except OSError as error:
            raise HistoryError("no_git") from error


def literal(path: str) -> str:
    """Return a path from the top of the work tree as git takes it, none of its signs a pattern."""
    return f":(top,literal){path}"


def _failed(stderr: bytes) -> HistoryError:
    lines = stderr.decode("utf-8", "replace").strip().splitlines() or ["?"]
    fatal = next((line for line in lines if line.startswith("fatal:")), lines[-1])
    return HistoryError("git_failed", reason=fatal[:REASON_CHARS])
