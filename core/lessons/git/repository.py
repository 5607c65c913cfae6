"""What a command reads from git: where a log stands in its repository, its commits, its old files.

Nothing is written, fetched on purpose or asked for. The file is long because the rules of what may
be believed of git's answers are the same for all questions.
"""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.lessons.git import call as git
from core.lessons.git.errors import HistoryError
from core.project import CONTEXT_DIRECTORY, LOG_NAME

REASON_CHARS = 300
SHORT_DIGITS = 10
ADDITIONS = 50
_LINK = "120000"
EVERYWHERE = ("--all", "--reflog")

_WHOLE_ID = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
_ANY_LOG = f":(top,glob)**/{CONTEXT_DIRECTORY}/{LOG_NAME}"
_FORMAT = "--format=%H%x00%an%x00%aI%x00%s"
_RAW = ("--raw", "-z", "--no-abbrev", "--text", "--no-textconv", "--no-ext-diff", "--no-color")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """Object names of one file: `before` in each parent of a commit, `after` in it; "" for none.

    path: the file from the top of the work tree, with `/`.
    """

    before: tuple[str, ...]
    after: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One commit and what it did to the log; `date` is ISO 8601, texts are as git has them."""

    id: str
    author: str
    date: str
    subject: str
    changes: tuple[FileChange, ...] = ()

    @property
    def short(self) -> str:
        """The beginning of the id that people use."""
        return self.id[:SHORT_DIGITS]


class Repository:
    """The git repository that a file is in, and the names that file had in it.

    folder: where git is started. path: the file from the top of the work tree, with `/`.
    is_cut: whether it is a shallow clone, in which older commits are missing.
    """

    def __init__(self, target: Path, *, may_be_empty: bool = False) -> None:
        """Find the repository of `target`, which need not exist. Raises HistoryError.

        may_be_empty: whether one without any commit will do.
        """
        self.folder = next(folder for folder in target.parents if folder.is_dir())
        asked = ("--is-shallow-repository", "--is-inside-work-tree", "--show-prefix")
        done = self._run("rev-parse", *asked)
        if done.returncode and b"not a git repository" not in done.stderr:
            raise _failed(done.stderr)
        cut, _, rest = done.stdout.partition(b"\n")
        inside, _, prefix = rest.partition(b"\n")
        if inside != b"true":
            raise HistoryError("no_repository", path=str(target.parent))
        self.is_cut = cut == b"true"
        self._below = target.relative_to(self.folder).as_posix()
        self.path = os.fsdecode(prefix.removesuffix(b"\n")) + self._below
        self._paths: dict[bool, tuple[str, ...]] = {}
        self.has_head = not self._run("rev-parse", "--verify", "--quiet", "HEAD").returncode
        is_empty = not self.has_head and not self._git("rev-list", "--max-count=1", "--all")
        if is_empty and not may_be_empty:
            raise HistoryError("no_commits", path=str(self.folder))

    @property
    def is_ignored(self) -> bool:
        """Whether git is told not to track the file."""
        return not self._run("check-ignore", "--quiet", "--", self._below).returncode

    def has_history(self) -> bool:
        """Whether any commit knows the file."""
        paths = map(_literal, self._names(everywhere=True))
        return bool(self._git("rev-list", "--max-count=1", *EVERYWHERE, "--", *paths))

    def blob_in_head(self) -> str:
        """The object name of the file as last committed, "" if it is not there."""
        done = self._run("rev-parse", "--verify", "--quiet", f"HEAD:{self.path}")
        return "" if done.returncode else done.stdout.decode("ascii").strip()

    def commit_of(self, name: str) -> str:
        """The id of the commit that a revision means.

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
        """The commit at which two others parted. Raises HistoryError where git knows none."""
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
        """The object name of the file in a commit, "" where there is none, or only a link.

        path: one of its former names, as a change of a commit has it.
        """
        named = _literal(path or self.path)
        data = self._git("ls-tree", "-z", "--full-tree", commit, "--", named)
        mode, _, name = data.partition(b"\t")[0].decode("ascii").split() or ("", "", "")
        return name if mode.startswith("100") else ""

    def blob_in_index(self, path: str = "") -> str:
        """The same of what the next commit will hold. Raises HistoryError for an open conflict."""
        asked = ("ls-files", "-z", "--stage", "--", _literal(path or self.path))
        done = self._run(*asked, variables=self._index())
        if done.returncode:
            raise _failed(done.stderr)
        entry, _, more = done.stdout.partition(b"\0")
        mode, name, stage = entry.partition(b"\t")[0].decode("ascii").split() or ("", "", "0")
        if more or stage != "0":
            raise HistoryError("unmerged", path=self.path)
        return name if mode.startswith("100") else ""

    def links_in(self, commit: str, paths: Sequence[str]) -> list[str]:
        """The object names of those of these that are symbolic links there; "": in the index."""
        named = [*map(_literal, paths)]
        if commit:
            data = self._git("ls-tree", "-z", "--full-tree", commit, "--", *named)
        else:
            done = self._run("ls-files", "-z", "--stage", "--", *named, variables=self._index())
            data = done.stdout
        entries = [entry.partition(b"\t")[0].decode("ascii").split() for entry in data.split(b"\0")]
        at = 2 if commit else 1
        return [words[at] for words in entries if words and words[0] == _LINK]

    def own_path(self, log_path: Path) -> str:
        """The path of a log in its project as the project has it, whatever it is a link to.

        That of the file itself where the project is no part of this work tree.
        """
        top = os.fsdecode(self._git("rev-parse", "--show-toplevel").removesuffix(b"\n"))
        project = Path(os.path.realpath(log_path.parent.parent))
        try:
            below = project.relative_to(os.path.realpath(top))
        except ValueError:
            return self.path
        return (below / CONTEXT_DIRECTORY / LOG_NAME).as_posix()

    def _index(self) -> dict[str, str]:
        """The index that git has made for the hook that runs now, if it is of this repository.

        `git commit --all` and `git commit FILE` do not put what they commit into the usual one.
        """
        given = os.environ.get("GIT_INDEX_FILE")
        if not given:
            return {}
        folder = os.fsdecode(self._git("rev-parse", "--absolute-git-dir").removesuffix(b"\n"))
        index = Path(os.path.realpath(given))
        is_ours = index.is_relative_to(os.path.realpath(folder))
        return {"GIT_INDEX_FILE": str(index)} if is_ours else {}

    def commits(self, pattern: str = "", *, everywhere: bool = False) -> list[Commit]:
        """Commits that changed a line of the file, the newest first.

        pattern: a regular expression that the line holds. everywhere: in all branches, the stash
        and the reflog, not only in what HEAD has behind it. A merge is among them when its file
        differs from that of every parent.
        """
        lines = [f"-G{pattern}"] if pattern else []
        return self._log("-c", "--date-order", _FORMAT, *lines, everywhere=everywhere)

    def commits_between(self, base: str, head: str) -> list[Commit]:
        """Those of them that a commit has behind it and another has not, the newest first."""
        starts = (f"{base}..{head}",)
        return self._log("-c", "--date-order", _FORMAT, everywhere=True, starts=starts)

    def standings(self) -> list[tuple[str, str]]:
        """How the file changed in the first-parent history of HEAD, the oldest first.

        Each time the date at which the commit was made there (its author may have written it long
        before), and the object name of the file after it, "" for none.
        """
        commits = self._log("-m", "--first-parent", _FORMAT.replace("%aI", "%cI"), everywhere=False)
        names = self._names(everywhere=False)
        files: dict[str, str] = {}
        found = []
        for commit in reversed(commits):
            files |= {change.path: change.after for change in commit.changes}
            blobs = (files.get(name, "") for name in names)
            found.append((commit.date, next(filter(None, blobs), "")))
        return found

    def _log(self, *options: str, everywhere: bool, starts: tuple[str, ...] = ()) -> list[Commit]:
        starts = starts or self._starts(everywhere)
        if not starts:
            return []
        order = ("--full-history", "--no-renames", "--encoding=UTF-8")
        paths = map(_literal, self._names(everywhere=everywhere))
        return list(_parsed(self._git("log", *order, *_RAW, *options, *starts, "--", *paths)))

    def _starts(self, everywhere: bool) -> tuple[str, ...]:
        if everywhere:
            return EVERYWHERE
        return ("HEAD",) if self.has_head else ()

    def _names(self, *, everywhere: bool) -> tuple[str, ...]:
        """The path of the file and those that it was moved from, the newest first."""
        if everywhere not in self._paths:
            names = [self.path]
            for name in names:
                names += [old for old in self._former(name, everywhere) if old not in names]
            self._paths[everywhere] = tuple(names)
        return self._paths[everywhere]

    def _former(self, name: str, everywhere: bool) -> Iterator[str]:
        """Where the commits that brought the file to `name` took it from."""
        starts = self._starts(everywhere)
        if not starts:
            return
        added = ("--full-history", "--no-renames", "--diff-filter=A", "--format=%H")
        found = self._git("log", *added, *starts, "--", _literal(name)).decode("ascii").split()
        if not found:
            return
        moved = ("--no-walk", "-M1%", "--diff-filter=R", "--format=")
        paths = dict.fromkeys((_ANY_LOG, _literal(self.path), _literal(name)))
        data = self._git("log", *moved, *_RAW, *found[-ADDITIONS:], "--", *paths)
        fields = [field for field in data.split(b"\0") if field.strip(b"\n")]
        for _, old, new in zip(*[iter(fields)] * 3, strict=False):
            if os.fsdecode(new) == name:
                yield os.fsdecode(old)

    def _git(self, *arguments: str) -> bytes:
        done = self._run(*arguments)
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


def _literal(path: str) -> str:
    return f":(top,literal){path}"


def _failed(said: bytes) -> HistoryError:
    lines = said.decode("utf-8", "replace").strip().splitlines() or ["?"]
    fatal = next((line for line in lines if line.startswith("fatal:")), lines[-1])
    return HistoryError("git_failed", reason=fatal[:REASON_CHARS])


def _parsed(data: bytes) -> Iterator[Commit]:
    """The commits of a log in `_FORMAT` with raw changes; every field ends in a NUL."""
    fields = [field.removeprefix(b"\n") for field in data.split(b"\0")]
    at = 0
    while at < len(fields):
        if not fields[at]:
            at += 1
            continue
        head = [field.decode("utf-8", "replace") for field in fields[at : at + 4]]
        at += 4
        changes = []
        while at < len(fields) and (fields[at].startswith(b":") or not fields[at]):
            if fields[at]:
                changes.append(_change(fields[at], os.fsdecode(fields[at + 1])))
                at += 1
            at += 1
        yield Commit(
            id=head[0], author=head[1], date=head[2], subject=head[3], changes=tuple(changes)
        )


def _change(raw: bytes, path: str) -> FileChange:
    """`:mode mode name name M`, with one more colon, mode and name for each further parent."""
    parents = len(raw) - len(raw.lstrip(b":"))
    words = raw.lstrip(b":").decode("ascii").split(" ")
    modes, names = words[: parents + 1], words[parents + 1 : 2 * (parents + 1)]
    blobs: Sequence[str] = [
        name if mode.startswith("100") else "" for mode, name in zip(modes, names, strict=True)
    ]
    return FileChange(before=tuple(blobs[:-1]), after=blobs[-1], path=path)
