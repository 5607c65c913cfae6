"""Holds what a setup is about: what was asked, and every file as it is and as it would be.

A file that cannot be edited safely is left alone, and a sentence says why.
"""

import os
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from commands.clients import merge
from commands.clients.machine import Installation, Machine
from commands.clients.merge import CannotEditError, Table
from commands.clients.table import CLIENTS, Client, Level
from commands.clients.text_file import ExportError, UserFile
from core.disk import way_out
from core.messages import Facts, Language


@dataclass(frozen=True, slots=True)
class Tree:
    """What git says of a project.

    exclude: the file that names what git passes over on this machine alone. prefix: the project
    from the top, with `/` at its end, "" at the top. tracked: files of the project that git has.
    ignored: where git is told to pass over the memory, "" where it is not.
    """

    exclude: Path
    prefix: str
    tracked: frozenset[str]
    ignored: str = ""

    def top_of(self, root: Path) -> Path:
        """Return the directory of the repository. root: that of the project."""
        return root.parents[self.prefix.count("/") - 1] if self.prefix else root


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What the user asked for. clients: keys of `CLIENTS`. present: those that were set up before.

    level: for the project, or for all projects of the user. lang: the language of the rules, which
    models read. chosen: the one that the user named. remove: take out instead of put in. rules,
    hooks, approvals: with these. rooms: those that the entries are to offer; None for the ones that
    each entry has. tree: None outside git. url: of a server that others run, whose entry alone is
    meant then. oauth: the client logs in there by itself, without a key.
    """

    clients: tuple[str, ...]
    present: frozenset[str]
    machine: Machine
    installation: Installation
    lang: Language = "en"
    chosen: Language | None = None
    remove: bool = False
    rules: bool = True
    hooks: bool = True
    approvals: bool = True
    level: Level = "project"
    rooms: tuple[str, ...] | None = None
    tree: Tree | None = None
    url: str = ""
    oauth: bool = False

    @property
    def root(self) -> Path:
        """The directory of the project."""
        return self.machine.root

    @property
    def project(self) -> str:
        """The same as an entry names it."""
        return self.root.as_posix() if self.machine.windows else str(self.root)

    @property
    def top(self) -> Path:
        """The directory of the repository, or of the project outside git."""
        return self.tree.top_of(self.root) if self.tree else self.root

    @property
    def rows(self) -> list[Client]:
        """The clients that are meant."""
        return [client for client in CLIENTS if client.key in self.clients]


class Remark(NamedTuple):
    """A sentence of the table `setup` with its facts."""

    key: str
    facts: Facts


class Part(NamedTuple):
    """What a file gets or loses. kind: `entry`, `hooks` and so on. client: its name, "" for none.

    before, after: the pieces of ours that stand there, as texts without anybody's secrets.
    """

    kind: str
    client: str
    before: Sequence[str]
    after: Sequence[str]


@dataclass(slots=True)
class Change:
    """A file as it is and as it would be; None: no file."""

    file: UserFile
    after: str | None
    parts: list[Part] = field(default_factory=list)

    @property
    def path(self) -> Path:
        """Where the file is, or would be."""
        return self.file.path

    @property
    def before(self) -> str | None:
        """The text as it is, None where there is no file."""
        return self.file.text if self.file.is_there else None

    @property
    def text(self) -> str:
        """The text as planned so far, "" where there is no file."""
        return self.after or ""

    def write(self, root: Path) -> None:
        """Carry it out; directories below `root` that are empty then go. Raises ExportError."""
        if self.after is None and not self.path.is_symlink():
            self.file.remove(root)
        else:
            self.file.replace(self.text)


class Plan:
    """Every file that a job looks at, once, under whatever name.

    notes: what the user should know. tools: what clients then offer. there: the kinds of parts of
    ours that stand in files which could be written, as they are.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self.notes: list[Remark] = []
        self.tools: list[str] = []
        self.there = set[str]()
        self._files: dict[str, Change | Remark] = {}
        self._problems: dict[str, Remark] = {}
        self._pasted: dict[str, str] = {}

    @property
    def changes(self) -> list[Change]:
        """The files that would change and have no problem."""
        sound = (it for real, it in self._files.items() if real not in self._problems)
        return [it for it in sound if isinstance(it, Change) and it.before != it.after]

    @property
    def problems(self) -> list[Remark]:
        """Why files are left alone."""
        return list(self._problems.values())

    def text(self, path: Path) -> str | None:
        """Return the text of a file as planned so far; None also for one that cannot be read."""
        opened = self._opened(path)
        return opened.after if isinstance(opened, Change) else None

    def is_sound(self, path: Path) -> bool:
        """Return whether a file could be written, or is not there."""
        return isinstance(self._opened(path), Change) and _obstacle(path) is None

    def data(self, path: Path) -> dict[str, Any]:
        """Return the data of a file as planned so far, {} for one that cannot be read."""
        try:
            return merge.data_in(self.text(path) or "", path.suffix)
        except CannotEditError:
            return {}

    def note(self, key: str, **facts: str | int) -> None:
        """Add what the user should know, once."""
        remark = Remark(key, facts)
        if remark not in self.notes:
            self.notes.append(remark)

    def edit(
        self,
        path: Path,
        kind: str,
        edited: Callable[[str], str | None],
        ours: Callable[[str], Sequence[str]] = lambda text: [],
        client: str = "",
    ) -> None:
        """Change the text of a file; what cannot be edited stays, which becomes a problem.

        ours: what of ours stands in such a text. A text of None removes the file.
        """
        real, change = self._real(path), self._opened(path)
        if isinstance(change, Remark):
            self._problems.setdefault(real, change)
            return
        before, pieces = change.text, list[str]()
        with suppress(CannotEditError):
            pieces = [*ours(before)]
        if pieces and self.is_sound(path):
            self.there.add(kind)
        try:
            after = edited(before)
        except CannotEditError as error:
            self._problems.setdefault(real, Remark(error.key, {"path": str(path), **error.facts}))
            return
        if after == before or (after is None and change.after is None):
            return
        obstacle = _obstacle(path)
        if obstacle:
            self._problems.setdefault(real, obstacle)
        if not change.parts:  # files come in the order in which something is put in
            self._files[real] = self._files.pop(real)
        change.after = "" if after is None and path.is_symlink() else after
        change.parts.append(Part(kind, client, pieces, ours(change.text)))

    def put(self, path: Path, kind: str, text: str | None) -> None:
        """Have this text as the whole of a file, None for no file."""
        self.edit(path, kind, lambda _: text, str.splitlines)

    def edit_json(
        self,
        path: Path,
        kind: str,
        client: Client,
        edited: Callable[[Table], Table],
        ours: Callable[[Any], Sequence[str]],
    ) -> None:
        """The same for the data of JSON: with comments it is refused, and said what to put in."""
        takes = client.takes.get(f"{self.job.level} {kind}", client.takes.get(kind, ""))

        def text_of(text: str) -> str | None:
            try:
                data = merge.json_data(text, takes_mark="mark" in takes or self.job.remove)
            except CannotEditError as error:
                if error.key != "json_comments":
                    raise
                return self._commented(path, text, edited, error, is_taken="comments" in takes)
            after = edited(data)
            if self.job.remove and not after and data:
                return None
            return merge.json_text(after, text) if after or data else text

        def pieces(text: str) -> Sequence[str]:
            return ours(merge.json_data(text))

        self.edit(path, kind, text_of, pieces, client.name)

    def _commented(
        self,
        path: Path,
        text: str,
        edited: Callable[[Table], Table],
        error: CannotEditError,
        *,
        is_taken: bool,
    ) -> str:
        """Return the text where it needs no change. Raises CannotEditError with what to paste."""
        data = merge.data_in(text, path.suffix)
        if edited(data) == data and (is_taken or self.job.remove):
            return text
        if self.job.remove:
            raise CannotEditError("json_kept_out", **error.facts)
        if not is_taken:
            raise error
        real = self._real(path)
        before = self._pasted.get(real, "")
        self._pasted[real] = merge.json_text(edited(merge.json_data(before)), "")
        self._problems.pop(real, None)
        raise CannotEditError("json_kept", **error.facts, block=self._pasted[real])

    def _real(self, path: Path) -> str:
        """Return what tells a file; one that a link leads out of the project is none but itself."""
        return str(path) if way_out(path, self.job.root) else os.path.realpath(path)

    def _opened(self, path: Path) -> Change | Remark:
        """Return a file as planned so far, or why it cannot be read."""
        real = self._real(path)
        if real not in self._files:
            try:
                file = UserFile.read(path, self.job.root)
            except ExportError as error:
                key = {"file_read": "unreadable", "not_utf_8": "not_utf8"}.get(error.key, error.key)
                self._files[real] = Remark(key, error.facts)
            else:
                self._files[real] = Change(file, file.text if file.is_there else None)
        return self._files[real]


def _obstacle(path: Path) -> Remark | None:
    """Return why a file must not be written, though it could be: its owner forbids it."""
    try:
        may_write = os.stat(path).st_mode & stat.S_IWUSR
    except OSError:
        return None
    return None if may_write else Remark("read_only", {"path": str(path)})
