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

    exclude_path: of `info/exclude`. prefix: the project from the top, "" or "a/b/". files: those in
    git. ignore_rule: hides the memory, or "".
    """

    exclude_path: Path
    prefix: str
    files: frozenset[str]
    ignore_rule: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The user's request.

    clients, old_clients: keys of `CLIENTS`, to set up and set up before. language: the one that the
    user named. unwanted_parts: of rules, hooks, approvals. rooms: None keeps those of each entry.
    level: this project, or all of the user. tree: None outside git. url: of a remote server, whose
    entry alone is planned. oauth: the client logs in without a key.
    """

    clients: tuple[str, ...]
    old_clients: frozenset[str] = frozenset()
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

    old_pieces, new_pieces: ours, as texts without the user's secrets.
    """

    kind: str
    client: str
    old_pieces: Sequence[str]
    new_pieces: Sequence[str]


@dataclass(slots=True)
class Change:
    """A file as it is and would be. new_text: None for no file."""

    file: UserFile
    new_text: str | None
    parts: list[Part] = field(default_factory=list)

    @property
    def path(self) -> Path:
        return self.file.path

    @property
    def old_text(self) -> str | None:
        """The present text, None for no file."""
        return self.file.text if self.file.is_there else None


class Plan:
    """Every file of a job, once, whatever its name.

    tools: that the clients then offer. present_kinds: of our parts now in the files.
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
        items = (item for file_id, item in self._files.items() if file_id not in self._problems)
        changes = (item for item in items if isinstance(item, Change))
        return [change for change in changes if change.old_text != change.new_text]

    @property
    def problems(self) -> list[Remark]:
        """Why files are left alone."""
        return list(self._problems.values())

    def text(self, path: Path) -> str | None:
        """Return the planned text, None for a missing or unreadable file."""
        file = self._open(path)
        return file.new_text if isinstance(file, Change) else None

    def is_sound(self, path: Path) -> bool:
        """Return whether a file is absent or can be written."""
        return isinstance(self._open(path), Change) and _find_obstacle(path) is None

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
        edit_text: Callable[[str], str | None],
        pieces_in: Callable[[str], Sequence[str]],
        client: str = "",
    ) -> None:
        """Plan an edit; a file that cannot be edited becomes a problem.

        edit_text: None removes the file. pieces_in: our pieces of a text.
        """
        file_id, change = self._file_id(path), self._open(path)
        if isinstance(change, Remark):
            self._problems.setdefault(file_id, change)
            return
        old_text, pieces, obstacle = change.new_text or "", list[str](), _find_obstacle(path)
        with suppress(CannotEditError):
            pieces = [*pieces_in(old_text)]
        if pieces:
            self.present_kinds.add(kind)
        try:
            new_text = edit_text(old_text)
        except CannotEditError as error:
            problem = Remark(error.key, {"path": str(path), **error.facts})
            self._problems.setdefault(file_id, problem)
            return
        if new_text == old_text or (new_text is None and change.new_text is None):
            return
        if obstacle:
            self._problems.setdefault(file_id, obstacle)
        if not change.parts:  # files come in the order in which something is put in
            self._files[file_id] = self._files.pop(file_id)
        change.new_text = "" if new_text is None and path.is_symlink() else new_text
        change.parts.append(Part(kind, client, pieces, pieces_in(change.new_text or "")))

    def put(self, path: Path, kind: str, text: str | None) -> None:
        """Plan a whole text, None for no file."""
        self.edit(path, kind, lambda _: text, str.splitlines)

    def edit_json(
        self,
        path: Path,
        kind: str,
        client: Client,
        edit_data: Callable[[Table], Table],
        pieces_in: Callable[[Any], Sequence[str]],
    ) -> None:
        """Plan an edit of JSON; for a file with comments say the lines to paste."""
        takes = client.takes.get(f"{self.job.level} {kind}", client.takes.get(kind, ""))

        def edit_text(text: str) -> str | None:
            try:
                data = merge.json_data(text, takes_mark="mark" in takes or self.job.remove)
            except CannotEditError as error:
                if error.key != "json_comments":
                    raise
                data = merge.data_in(text, path.suffix)
                is_usable = "comments" in takes or self.job.remove
                if edit_data(data) == data and is_usable:
                    return text
                if self.job.remove:
                    raise CannotEditError("json_kept_out", **error.facts) from None
                if not is_usable:
                    raise
                # The lines to paste for all our parts of this file, of which this is one.
                file_id = self._file_id(path)
                self._pasted[file_id] = edit_data(self._pasted.get(file_id, {}))
                self._problems.pop(file_id, None)
                block = merge.json_text(self._pasted[file_id], "")
                raise CannotEditError("json_kept", **error.facts, block=block) from None
            new_data = edit_data(data)
            if self.job.remove and not new_data and data:
                return None
            return merge.json_text(new_data, text) if new_data or data else text

        self.edit(path, kind, edit_text, lambda text: pieces_in(merge.json_data(text)), client.name)

    def entry_of(self, row: Client) -> OwnEntry:
        """Return our entry, as planned so far."""
        data = self.data(self.job.machine.path(row.entry[self.job.level]))
        return own_entry_in(data, row, self.job.machine)

    def rooms_of(self, row: Client) -> tuple[str, ...]:
        """Return the rooms of our entry; those of the job, if it names any."""
        is_said = self.job.rooms is not None and row.key in self.job.clients
        return (self.job.rooms or ()) if is_said else self.entry_of(row).rooms

    def _file_id(self, path: Path) -> str:
        """Return what tells a file from others: its path, links followed inside the project."""
        return str(path) if find_exit_link(path, self.job.root) else os.path.realpath(path)

    def _open(self, path: Path) -> Change | Remark:
        file_id = self._file_id(path)
        if file_id not in self._files:
            try:
                file = UserFile.read(path, self.job.root)
            except ExportError as error:
                key = {"file_read": "unreadable", "not_utf_8": "not_utf8"}.get(error.key, error.key)
                self._files[file_id] = Remark(key, error.facts)
            else:
                self._files[file_id] = Change(file, file.text if file.is_there else None)
        return self._files[file_id]


def _find_obstacle(path: Path) -> Remark | None:
    """Return the remark on a file whose owner forbids writing; a rename would pass over that."""
    try:
        may_write = os.stat(path).st_mode & stat.S_IWUSR
    except OSError:
        return None
    return None if may_write else Remark("read_only", {"path": str(path)})
