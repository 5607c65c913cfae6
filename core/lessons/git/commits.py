"""Lists the commits that changed the memory log, under every name that the file has had."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.lessons.git.repository import SHORT_DIGITS, Repository, literal
from core.project import CONTEXT_DIRECTORY, LOG_NAME

ADDITIONS = 50

_EVERYWHERE = ("--all", "--reflog")
_ANY_LOG = f":(top,glob)**/{CONTEXT_DIRECTORY}/{LOG_NAME}"
_FORMAT = "--format=%H%x00%an%x00%aI"
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
    """One commit and what it did to the log; `date` is ISO 8601."""

    id: str
    author: str
    date: str
    changes: tuple[FileChange, ...] = ()

    @property
    def short(self) -> str:
        """The beginning of the id that people use."""
        return self.id[:SHORT_DIGITS]


class Commits:
    """The commits of a repository that changed its file. Every method raises HistoryError."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._paths: dict[bool, tuple[str, ...]] = {}

    def exist(self) -> bool:
        """Return whether any commit knows the file."""
        paths = map(literal, self._names(everywhere=True))
        return bool(self._repository.ask("rev-list", "--max-count=1", *_EVERYWHERE, "--", *paths))

    def matching(self, pattern: str = "", *, everywhere: bool = False) -> list[Commit]:
        """Return the commits that changed a line of the file, the newest first.

        pattern: a regular expression that the line holds. everywhere: in all branches, the stash
        and the reflog, not only in what HEAD has behind it. A merge is among them when its file
        differs from that of every parent.
        """
        lines = [f"-G{pattern}"] if pattern else []
        return self._log("-c", "--date-order", _FORMAT, *lines, everywhere=everywhere)

    def between(self, base: str, head: str) -> list[Commit]:
        """Return those that commit `head` has behind it and commit `base` has not, newest first."""
        starts = (f"{base}..{head}",)
        return self._log("-c", "--date-order", _FORMAT, everywhere=True, starts=starts)

    def _log(self, *options: str, everywhere: bool, starts: tuple[str, ...] = ()) -> list[Commit]:
        starts = starts or self._starts(everywhere)
        if not starts:
            return []
        order = ("--full-history", "--no-renames", "--encoding=UTF-8")
        paths = map(literal, self._names(everywhere=everywhere))
        data = self._repository.ask("log", *order, *_RAW, *options, *starts, "--", *paths)
        return list(_parsed(data))

    def _starts(self, everywhere: bool) -> tuple[str, ...]:
        if everywhere:
            return _EVERYWHERE
        return ("HEAD",) if self._repository.has_head else ()

    def _names(self, *, everywhere: bool) -> tuple[str, ...]:
        """Return the path of the file and those that it was moved from, the newest first."""
        if everywhere not in self._paths:
            names = [self._repository.path]
            for name in names:
                names += [old for old in self._former(name, everywhere) if old not in names]
            self._paths[everywhere] = tuple(names)
        return self._paths[everywhere]

    def _former(self, name: str, everywhere: bool) -> Iterator[str]:
        """Yield where the commits that brought the file to `name` took it from."""
        starts = self._starts(everywhere)
        if not starts:
            return
        ask = self._repository.ask
        added = ("--full-history", "--no-renames", "--diff-filter=A", "--format=%H")
        found = ask("log", *added, *starts, "--", literal(name)).decode("ascii").split()
        if not found:
            return
        moved = ("--no-walk", "-M1%", "--diff-filter=R", "--format=")
        paths = dict.fromkeys((_ANY_LOG, literal(self._repository.path), literal(name)))
        data = ask("log", *moved, *_RAW, *found[-ADDITIONS:], "--", *paths)
        fields = [field for field in data.split(b"\0") if field.strip(b"\n")]
        for _, old, new in zip(*[iter(fields)] * 3, strict=False):
            if os.fsdecode(new) == name:
                yield os.fsdecode(old)


def _parsed(data: bytes) -> Iterator[Commit]:
    """Yield the commits of a log in `_FORMAT` with raw changes; every field ends in a NUL."""
    fields = [field.removeprefix(b"\n") for field in data.split(b"\0")]
    at = 0
    while at < len(fields):
        if not fields[at]:
            at += 1
            continue
        name, author, date = (it.decode("utf-8", "replace") for it in fields[at : at + 3])
        at += 3
        changes = []
        while at < len(fields) and (fields[at].startswith(b":") or not fields[at]):
            if fields[at]:
                changes.append(_change(fields[at], os.fsdecode(fields[at + 1])))
                at += 1
            at += 1
        yield Commit(id=name, author=author, date=date, changes=tuple(changes))


def _change(raw: bytes, path: str) -> FileChange:
    """Parse `:mode mode name name M`, plus a colon, mode and name for each further parent."""
    parents = len(raw) - len(raw.lstrip(b":"))
    words = raw.lstrip(b":").decode("ascii").split(" ")
    modes, names = words[: parents + 1], words[parents + 1 : 2 * (parents + 1)]
    blobs: Sequence[str] = [
        name if mode.startswith("100") else "" for mode, name in zip(modes, names, strict=True)
    ]
    return FileChange(before=tuple(blobs[:-1]), after=blobs[-1], path=path)
