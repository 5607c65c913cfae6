"""Holds a setup: the job, and every file as it is and would be, or why it is left alone."""

import os
import stat
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from commands.clients import merge
from commands.clients.entries import OwnEntry, own_entry_in
from commands.clients.machine import Installation, Machine
from commands.clients.merge import CannotEditError, Table
from commands.clients.table import CLIENTS, Client, Level
from commands.clients.text_file import ExportError, UserFile
from core.disk import find_exit_link
from core.messages import Facts, Language


class Tree(NamedTuple):
    """A project in git.

    exclude: the path of `info/exclude`. prefix: the project from the top, "" or "a/b/". tracked:
    its files in git. ignored: the rule that hides the memory, or "".
    """

    exclude_path: Path
    prefix: str
    files: frozenset[str]
    ignore_rule: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The user's request.

    clients, present: keys of `CLIENTS`, to set up and set up before. chosen: the language that the
    user named. without: unwanted parts, of rules, hooks and approvals. rooms: None keeps those of
    each entry. level: this project, or all of the user. tree: None outside git. url: of a remote
    server, whose entry alone is planned. oauth: the client logs in without a key.
    """

    clients: tuple[str, ...]
    present: frozenset[str]
    machine: Machine
    installation: Installation
    language: Language | None = None
    remove: bool = False
    unwanted_parts: Collection[str] = ()
    level: Level = "project"
    rooms: tuple[str, ...] | None = None
    tree: Tree | None = None
    url: str = ""
    oauth: bool = False

    @property
    def root(self) -> Path:
        return self.machine.root

    @property
    def project(self) -> str:
        """The project's directory in an entry, with `/` on Windows."""
        return self.root.as_posix() if self.machine.windows else str(self.root)

    @property
    def top(self) -> Path:
        """The top of the repository; outside git, of the project."""
        prefix = self.tree.prefix if self.tree else ""
        return self.root.parents[prefix.count("/") - 1] if prefix else self.root

    @property
    def rows(self) -> list[Client]:
        return [client for client in CLIENTS if client.key in self.clients]


class Remark(NamedTuple):
    """A sentence of the table `setup` with its facts."""

    key: str
    facts: Facts


class Part(NamedTuple):
    """A part that a file gets or loses. kind: `entry`, `hooks` and so on. client: its name, or "".

    before, after: our pieces as texts, without the user's secrets.
    """

    kind: str
    client: str
    before: Sequence[str]
    after: Sequence[str]


@dataclass(slots=True)
class Change:
    """A file as it is and would be. after: None for no file."""

    file: UserFile
    after: str | None
    parts: list[Part] = field(default_factory=list)

    @property
    def path(self) -> Path:
        return self.file.path

    @property
    def before(self) -> str | None:
        """The present text, None for no file."""
        return self.file.text if self.file.is_there else None


class Plan:
    """Every file of a job, once, whatever its name.

    tools: that the clients then offer. there: kinds of our parts now in writable files.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self.notes: list[Remark] = []
        self.tools: list[str] = []
        self.present_kinds = set[str]()
        self._files: dict[str, Change | Remark] = {}
        self._problems: dict[str, Remark] = {}
        self._pasted: dict[str, Table] = {}

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
        """Return the planned text, None for a missing or unreadable file."""
        opened = self._opened(path)
        return opened.after if isinstance(opened, Change) else None

    def is_sound(self, path: Path) -> bool:
        """Return whether a file is absent or can be written."""
        return isinstance(self._opened(path), Change) and _obstacle(path) is None

    def data(self, path: Path) -> dict[str, Any]:
        """Return the planned data, {} for an unreadable file."""
        try:
            return merge.data_in(self.text(path) or "", path.suffix)
        except CannotEditError:
            return {}

    def note(self, key: str, **facts: str | int) -> None:
        remark = Remark(key, facts)
        if remark not in self.notes:
            self.notes.append(remark)

    def edit(
        self,
        path: Path,
        kind: str,
        edited: Callable[[str], str | None],
        ours: Callable[[str], Sequence[str]],
        client: str = "",
    ) -> None:
        """Plan an edit; a file that cannot be edited becomes a problem.

        edited: text to text, None to remove the file. ours: our pieces of a text.
        """
        real, change = self._real(path), self._opened(path)
        if isinstance(change, Remark):
            self._problems.setdefault(real, change)
            return
        before, pieces, obstacle = change.after or "", list[str](), _obstacle(path)
        with suppress(CannotEditError):
            pieces = [*ours(before)]
        if pieces and not obstacle:
            self.present_kinds.add(kind)
        try:
            after = edited(before)
        except CannotEditError as error:
            self._problems.setdefault(real, Remark(error.key, {"path": str(path), **error.facts}))
            return
        if after == before or (after is None and change.after is None):
            return
        if obstacle:
            self._problems.setdefault(real, obstacle)
        if not change.parts:  # files come in the order in which something is put in
            self._files[real] = self._files.pop(real)
        change.after = "" if after is None and path.is_symlink() else after
        change.parts.append(Part(kind, client, pieces, ours(change.after or "")))

    def put(self, path: Path, kind: str, text: str | None) -> None:
        """Plan a whole text, None for no file."""
        self.edit(path, kind, lambda _: text, str.splitlines)

    def edit_json(
        self,
        path: Path,
        kind: str,
        client: Client,
        edited: Callable[[Table], Table],
        ours: Callable[[Any], Sequence[str]],
    ) -> None:
        """Plan an edit of JSON; for a file with comments say the lines to paste."""
        takes = client.takes.get(f"{self.job.level} {kind}", client.takes.get(kind, ""))

        def text_of(text: str) -> str | None:
            try:
                data = merge.json_data(text, takes_mark="mark" in takes or self.job.remove)
            except CannotEditError as error:
                if error.key != "json_comments":
                    raise
                data = merge.data_in(text, path.suffix)
                is_usable = "comments" in takes or self.job.remove
                if edited(data) == data and is_usable:
                    return text
                if self.job.remove:
                    raise CannotEditError("json_kept_out", **error.facts) from None
                if not is_usable:
                    raise
                # The lines to paste for all our parts of this file, of which this is one.
                real = self._real(path)
                self._pasted[real] = edited(self._pasted.get(real, {}))
                self._problems.pop(real, None)
                block = merge.json_text(self._pasted[real], "")
                raise CannotEditError("json_kept", **error.facts, block=block) from None
            after = edited(data)
            if self.job.remove and not after and data:
                return None
            return merge.json_text(after, text) if after or data else text

        self.edit(path, kind, text_of, lambda text: ours(merge.json_data(text)), client.name)

    def entry_of(self, row: Client) -> OwnEntry:
        """Return our entry, as planned so far."""
        data = self.data(self.job.machine.path(row.entry[self.job.level]))
        return own_entry_in(data, row, self.job.machine)

    def rooms_of(self, row: Client) -> tuple[str, ...]:
        """Return the rooms of our entry; those of the job, if it names any."""
        is_said = self.job.rooms is not None and row.key in self.job.clients
        return (self.job.rooms or ()) if is_said else self.entry_of(row).rooms

    def _real(self, path: Path) -> str:
        """Return the file's identity: its link's target, unless that is out of the project."""
        return str(path) if find_exit_link(path, self.job.root) else os.path.realpath(path)

    def _opened(self, path: Path) -> Change | Remark:
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
    """Return the remark on a file whose owner forbids writing; a rename would pass over that."""
    try:
        may_write = os.stat(path).st_mode & stat.S_IWUSR
    except OSError:
        return None
    return None if may_write else Remark("read_only", {"path": str(path)})
