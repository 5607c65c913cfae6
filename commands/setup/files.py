"""Holds the files that setup works on: each as it is, as it would be, and what is wrong with it.

Setup leaves a file alone that it cannot edit safely.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from commands.clients.text_file import ExportError, UserFile, check_stays
from commands.documents.edit_toml import BrokenTomlError
from commands.documents.json_tree import BrokenJsonError, OtherKindError
from commands.documents.marked_block import BrokenBlockError
from commands.setup.client_machine import Machine
from commands.setup.client_table import Client
from core.disk import way_out
from core.errors import RefusedError
from core.messages import Facts, Language

Level = Literal["project", "user"]
LEVELS: tuple[Level, ...] = get_args(Level)

# What is left of a file that setup has made: nothing, or an empty object.
_LEFT = ("", "{}\n")
# What stands before the blanks of a file of the user that held no more, when ours is taken out.
_BEFORE_BLANKS = "{}\n \n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """What starts this program: the words of its server, and of its command line.

    is_command: whether these are two commands on the PATH, so that no path of this machine is in
    them; else a script follows an interpreter, or uv and `run`.
    """

    server: tuple[str, ...]
    cli: tuple[str, ...]
    windows: bool = False
    is_command: bool = False


@dataclass(frozen=True, slots=True)
class Tree:
    """What git says of a project.

    exclude: the file that names what git passes over on this machine alone. prefix: the project
    from the top, with `/` at its end, "" at the top. tracked: files of the project that git has.
    """

    exclude: Path
    prefix: str
    tracked: frozenset[str]

    def top_of(self, root: Path) -> Path:
        """Return the directory of the repository. root: that of the project."""
        return root.parents[self.prefix.count("/") - 1] if self.prefix else root


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What the user asked for. clients: keys of `CLIENTS`. present: those that were set up before.

    level: for the project, or for all projects of the user. lang: the language of the rules, which
    models read. chosen: the one that the user named.
    remove: take out instead of put in.
    rules, hooks, approvals: with the rules, the hooks, and what lets a client call our tools
    unasked. rooms: those that the entries are to offer, as
    `read_rooms` returns them; None for the ones that each entry has. tree: the git work tree of the
    project, None outside git. url: of a server that others run, whose entry alone is meant then; ""
    for our own. oauth: the client logs in there by itself, without a key.
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
    def top(self) -> Path:
        """The directory of the repository, or of the project outside git."""
        return self.tree.top_of(self.root) if self.tree else self.root

    @property
    def tracked(self) -> frozenset[str]:
        """The files of the project that git has, of those that setup knows."""
        return self.tree.tracked if self.tree else frozenset()

    @property
    def project(self) -> str:
        """The same as an entry names it."""
        return self.root.as_posix() if self.machine.windows else str(self.root)


@dataclass(frozen=True, slots=True)
class Remark:
    """A sentence of `commands.setup.words` with its facts."""

    key: str
    facts: Facts


class EntryError(RefusedError):
    """The entry in a file cannot be edited, which leaves the file alone. Facts: path, and more."""

    table = "setup"


@dataclass(slots=True)
class Change:
    """A file as it is and as it would be; None: no file. parts: what it gets or loses, for whom.

    shown: our texts in it, old and new; a diff shows no other text of a configuration.
    """

    file: UserFile
    after: str | None
    parts: list[tuple[str, str]] = field(default_factory=list)
    shown: set[str] = field(default_factory=set)

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


class Desk:
    """Every file that the plan looks at, once, under whatever name.

    project: whose links are not followed out of it.
    """

    def __init__(self, project: Path) -> None:
        self.project = project
        self.files: dict[str, Change] = {}
        self.problems: dict[str, Remark] = {}

    def changes(self) -> list[Change]:
        """Return the files that would change and have no problem."""
        sound = [change for real, change in self.files.items() if real not in self.problems]
        return [change for change in sound if change.before != change.after]

    def text(self, path: Path) -> str | None:
        """Return the text of a file as planned so far; None also for one that cannot be read."""
        change = self.files.get(self._real(path))
        if change:
            return change.after
        try:
            file = opened(path, self.project)
        except ExportError:
            return None
        return file.text if file.is_there else None

    @contextmanager
    def editing(self, path: Path, part: str, *clients: Client) -> Iterator[Change]:
        """Yield a file's change, to be edited; what goes wrong becomes a problem of the file."""
        real = self._real(path)
        change = self.files.get(real) or self._opened(path, real)
        before = change.after
        change.after = given = _filled(change)
        try:
            yield change
        except ValueError as error:
            self.problems.setdefault(real, _problem(path, error))
        if change.after == given:
            change.after = before
        elif change.before == "" and not _is_json(change):  # tells it from a file that setup made
            change.after = change.text.removesuffix("\n")
        obstacle = _obstacle(path) if change.after != change.before else None
        if obstacle:
            self.problems.setdefault(real, obstacle)
        if change.after != before:
            change.parts += [(part, client.name) for client in clients] or [(part, "")]

    def _real(self, path: Path) -> str:
        """Return what tells a file; one that a link leads out of the project is none but itself."""
        return str(path) if way_out(path, self.project) else os.path.realpath(path)

    def _opened(self, path: Path, real: str) -> Change:
        file = UserFile(path, "", None, self.project)
        try:
            file = opened(path, self.project)
        except ExportError as error:
            keys = {"file_read": "unreadable", "not_utf_8": "not_utf8", "leads_out": "leads_out"}
            self.problems[real] = Remark(keys[error.key], error.facts)
        self.files[real] = Change(file, file.text if file.is_there else None)
        return self.files[real]


def opened(path: Path, project: Path) -> UserFile:
    """Return a file of the user; a link that leads nowhere is no file. Raises ExportError.

    project: whose links are not followed out of it; others, such as those of a user who keeps the
    files of a home elsewhere, are.
    """
    check_stays(path, project)
    if os.path.islink(path) and not os.path.exists(path):
        return UserFile(path, "", None, project)
    return UserFile.read(path, project)


def _obstacle(path: Path) -> Remark | None:
    """Return why a file must not be written, though it could be: its owner or a link forbids it."""
    if os.path.islink(path) and not os.path.exists(path):
        return Remark("unreadable", {"path": str(path), "reason": "broken symbolic link"})
    try:
        may_write = os.stat(path).st_mode & stat.S_IWUSR
    except OSError:
        return None
    return None if may_write else Remark("read_only", {"path": str(path)})


def _problem(path: Path, error: ValueError) -> Remark:
    facts: Facts = {"path": str(path)}
    match error:
        case EntryError():
            return Remark(error.key, error.facts)
        case BrokenJsonError():
            return Remark(f"json_{error.kind}", {**facts, "line": error.line})
        case OtherKindError():
            return Remark("other_kind", {**facts, "place": ".".join(map(str, error.path))})
        case BrokenTomlError():
            return Remark("toml_syntax", facts)
        case BrokenBlockError():
            return Remark("broken_block", facts)
    raise error


def unless_made(change: Change, text: str) -> str | None:
    """Return the text left when ours is out, None for a file that setup can have made itself.

    That is what is left of such a file, to the byte. A link was made by the user.
    """
    if text == change.text:
        return change.after
    mark = text[: text.startswith("\ufeff")]
    blanks = text.removeprefix(f"{mark}{_BEFORE_BLANKS}")
    if _is_json(change) and len(blanks) < len(text) and not blanks.strip():
        return mark + blanks
    is_made = text in _LEFT and change.text.endswith("\n") and not os.path.islink(change.path)
    return None if is_made else text


def _filled(change: Change) -> str | None:
    """Return the text with an object to edit, in a file of the user that holds only blanks."""
    if change.after is None or change.text.strip("\ufeff \t\r\n") or not _is_json(change):
        return change.after
    mark = change.text[: change.text.startswith("\ufeff")]
    return f"{mark}{_BEFORE_BLANKS}{change.text.removeprefix(mark)}"


def _is_json(change: Change) -> bool:
    return change.path.suffix == ".json"


def strings_in(value: object) -> set[str]:
    """Return every text and number in a value, as a text; a key of an object is none."""
    if isinstance(value, dict):
        return {text for it in value.values() for text in strings_in(it)}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return {text for it in value for text in strings_in(it)}
    return {str(value)} if isinstance(value, str | int) else set()
