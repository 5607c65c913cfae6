"""Finds the git repository of a memory log, and in it revisions, the index and files by name.

Nothing is written, fetched on purpose or asked of a person.
"""

import math
import os
import re
from collections.abc import Sequence
from pathlib import Path

from core.lessons.git.errors import HistoryError
from core.lessons.git.work_tree import WorkTree, failed
from core.project import CONTEXT_DIRECTORY, LOG_NAME

SHORT_DIGITS = 10

_FILE, _LINK = "100", "120000"  # how the mode of a file begins, and that of a symbolic link
_WHOLE_ID = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")


class Repository:
    """The git repository that a file is in. Every method raises HistoryError where git fails.

    git: the work tree, which is asked. path: the file from its top, with `/`. is_cut: whether it is
    a shallow clone, in which older commits are missing. has_head: whether the branch that is
    checked out has a commit.
    """

    def __init__(
        self, target: Path, *, may_be_empty: bool = False, deadline_s: float = math.inf
    ) -> None:
        """Find the repository of `target`, which need not exist. Raises HistoryError.

        may_be_empty: whether one without any commit will do. deadline_s: as of `WorkTree`.
        """
        folder = next(folder for folder in target.parents if folder.is_dir())
        self.git = WorkTree(folder, deadline_s=deadline_s)
        self.ask = self.git.ask
        self.is_cut = self.ask("rev-parse", "--is-shallow-repository") == b"true\n"
        self._below = target.relative_to(folder).as_posix()
        self.path = self.git.prefix + self._below
        self.has_head = not self.git.run("rev-parse", "--verify", "--quiet", "HEAD").returncode
        is_empty = not self.has_head and not self.ask("rev-list", "--max-count=1", "--all")
        if is_empty and not may_be_empty:
            raise HistoryError("no_commits", path=str(folder))

    @property
    def is_ignored(self) -> bool:
        """Whether git is told not to track the file."""
        return not self.git.run("check-ignore", "--quiet", "--", self._below).returncode

    def tracks(self, path: Path) -> bool:
        """Return whether the index has a file, or a link of this name; False outside this tree."""
        place = Path(os.path.realpath(path.parent), path.name)
        top = os.path.realpath(self.git.top)
        return place.is_relative_to(top) and bool(
            self._entries("", place.relative_to(top).as_posix())
        )

    @property
    def is_filtered(self) -> bool:
        """Whether git keeps the file in another form than it has here, encrypted for example."""
        value = self.ask("check-attr", "-z", "filter", "--", self._below).split(b"\0")[2]
        return value not in (b"unspecified", b"unset")

    def commit_of(self, name: str) -> str:
        """Return the id of the commit that a revision means.

        Raises HistoryError where it means none or a missing one, or where a branch and a tag are
        called so: git would take the tag, and whoever may push one would decide what is looked at.
        """
        if name and not name.startswith(("-", "^")) and "\0" not in name:
            done = self.git.run("rev-parse", "--verify", f"{name}^{{commit}}")
            is_whole = _WHOLE_ID.fullmatch(name)
            is_certain = is_whole or name == "HEAD"
            if not done.returncode and b"is ambiguous" in done.stderr and not is_certain:
                raise HistoryError("ambiguous_revision", name=name)
            if not done.returncode:
                return done.stdout.decode("ascii").strip()
            if b"Could not read" in done.stderr or (not is_whole and self._is_lost(name)):
                raise failed(done.stderr, is_lacking=True)
        raise HistoryError("bad_revision", *self._cut, name=name)

    def _is_lost(self, name: str) -> bool:
        """Return whether a name means an object that git does not have, or begins at one."""
        return any(
            not self.git.run("rev-parse", "--verify", "--quiet", part).returncode
            and self.git.run("cat-file", "-e", part).returncode
            for part in (name, re.split("[~^:]", name)[0])
        )

    def merge_base(self, one: str, other: str) -> str:
        """Return the commit at which two others parted. Raises HistoryError if git knows none."""
        done = self.git.run("merge-base", one, other)
        if done.returncode > 1:
            raise failed(done.stderr)
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
            data = self.ask(*asked, variables=self.git.index)
        heads = [entry.partition(b"\t")[0].decode("ascii").split() for entry in data.split(b"\0")]
        if commit:
            return [(head[0], head[2], "0") for head in heads if head]
        return [(head[0], head[1], head[2]) for head in heads if head]

    def own_path(self, log_path: Path) -> str:
        """Return the path of a log in its project as the project has it, whatever it is a link to.

        That of the file itself where the project is no part of this work tree.
        """
        project = Path(os.path.realpath(log_path.parent.parent))
        try:
            below = project.relative_to(os.path.realpath(self.git.top))
        except ValueError:
            return self.path
        return (below / CONTEXT_DIRECTORY / LOG_NAME).as_posix()


def literal(path: str) -> str:
    """Return a path from the top of the work tree as git takes it, none of its signs a pattern."""
    return f":(top,literal){path}"
