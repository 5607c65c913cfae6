"""The interface of a room for the commands, the page and the checks.

The memory log is `lessons`. Any other room is a folder here with a class `ForPeople` in
`for_people.py`, which loads the room's modules only where it needs them.
"""

import importlib
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from core.config import Project, Settings, find_project
from core.errors import RefusedError
from core.lessons.record import digest
from core.messages import Facts, say
from core.sanitizer import redact, safe
from core.store import MemoryStore

if TYPE_CHECKING:  # most commands need none of it
    from core.lessons.upkeep import Finding
    from core.room.redaction import Held

Data = dict[str, Any]

LESSONS = "lessons"
FIRST = (LESSONS, "sessions", "fragments")  # any other room comes after them
FILE_NAME = "for_people.py"
MOST_VALUES = 8  # of a list of counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """The project, settings and store of one command."""

    project: Project
    settings: Settings
    store: MemoryStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A lesson, session or fragment for people, without secrets."""

    room: str
    id: str  # as a person types it, whole
    version: str = ""  # names this state: a change leaves alone an item that has another one
    date: str  # when it was last saved, or forgotten; ISO 8601 in UTC
    kind: str  # the word that `--kind` takes
    topic: str
    mark: str  # `*` for a principle or a pinned fragment, `!` for a failure or blocker, ""
    texts: tuple[tuple[str, str], ...]  # each with its label; a line of a list shows the first
    facts: tuple[str, ...] = ()  # the lines below them, in the reader's language
    data: Data = field(default_factory=dict)  # the whole item, for scripts
    privacy: str = ""  # public, team or private, where it is its user's own and of no project


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A choice of items; an empty field does not count."""

    words: str = ""  # that each item has
    topics: tuple[str, ...] = ()  # any of them; a session has all of them as tags
    kind: str = ""
    since: str = ""  # a moment in ISO 8601
    limit: int | None = None
    forgotten: bool = False  # in place of present items, items that `restore` can bring back
    is_brief: bool = False  # a line each will do: texts may end early


@dataclass(frozen=True, slots=True)
class Found:
    """The first matches, and the count of all."""

    items: list[Item]
    count: int


class Forgotten(NamedTuple):
    """The outcome of `forget`. stayed: items that have changed since; left: its errors."""

    notes: list[str]  # where it is now
    stayed: list[Item]
    left: Sequence[str] = ()


class Restoring(NamedTuple):
    """A restore, planned or done. instead_of: the items that it replaces."""

    items: list[Item]
    instead_of: list[Item]
    notes: list[str]
    carry_out: "Callable[[], Restoring] | None" = None  # replaces only what was shown


class Version(NamedTuple):
    """A version of an item. places: where it is, for people; data: for scripts."""

    item: Item
    places: str
    data: dict[str, Any]


class Versions(NamedTuple):
    """The known versions of an item, newest first. notes: why others may be missing."""

    found: list[Version]
    notes: list[str]


class Figures(NamedTuple):
    """The counts of a room. lines: below the headline; data: all, for scripts."""

    headline: str
    lines: list[str]
    data: dict[str, Any]


class Secrets(NamedTuple):
    """The secrets of a room. place, item: words for it and one of its items."""

    place: str
    item: str
    held: "list[Held]"
    aside: list[Path]  # nobody looked into them: a damaged database that a repair has kept


class Redacted(NamedTuple):
    """The outcome of `redact`. left: secrets that are still there."""

    changed: "list[Held]"
    left: "list[Held]"
    notes: list[str]  # where bytes of them may still be
    is_whole: bool  # no file of this machine has them any more


Tell = Callable[[int, int], object]  # how many are looked through or saved, of how many
FIRST_ITEMS = 1_000  # of an import, which its table may show


class Row(NamedTuple):
    """A row of an imported file, with its number there."""

    place: int
    data: Any


class Outgoing(NamedTuple):
    """A row of an export, without secrets."""

    data: Data
    is_private: bool = False  # for its user's eyes alone
    is_counted: bool = True  # an item, and no link or note that belongs to one


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The input of an import into one room."""

    path: str  # as it is shown
    rows: Sequence[Row] = ()  # of an export of this program, by this room's `rows`
    file: Path | None = None  # that only the room can read
    data: bytes = b""  # its content where it is a text
    agent: str = ""  # whose fragments they shall be, "" for whose they were


class Passed(NamedTuple):
    """Refused input: its line or file, and the reason, for people."""

    place: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """The plan of an import, its items as they would be stored."""

    items: list[Item]  # the first of them
    count: int
    redacted: Sequence[str]  # the kind of each secret that is taken out
    notes: list[str]
    passed: list[Passed]
    save: Callable[[Tell], list[str]] | None  # stores them and says so; None where there are none


class Room(Protocol):
    """A room for people. Each method raises SentinelError where the room cannot be read.

    A method with a body here is the default for most rooms.
    """

    name: str
    _opened: Opened

    def __init__(self, opened: Opened) -> None:
        self._opened = opened

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds that an item may have."""

    def is_there(self) -> bool:
        """Return whether the room may hold items, without loading it."""

    def find(self, wanted: Wanted) -> Found:
        """Return the matches: with words the most relevant first, else the newest."""

    def nothing(self, wanted: Wanted) -> list[str]:
        """Say why nothing was found: the room's purpose, or a similar name."""

    def named(self, name: str) -> list[Item]:
        """Return a name's items, whole. Raises for an unknown name that only this room can have."""

    def versions(self, name: str) -> Versions | None:
        """Return the versions of a named item, by default its present one; None without an item."""
        found = [Version(item, "", {}) for item in self.named(name)]
        return Versions(found, []) if found else None

    def fate(self, items: Sequence[Item], *, hard: bool) -> str:
        """Say what forgetting does, for good if `hard`. Raises if an item must stay."""

    def forget(self, items: Sequence[Item], *, hard: bool) -> Forgotten:
        """Forget each item in the version that was shown."""

    def restore(self, name: str, *, originals: bool) -> Restoring | None:
        """Plan to bring back an item, or a principle's originals; None for an unknown name."""

    def findings(self) -> "list[Finding]":
        """Return faults with their repairs, and an `ok` with counts."""

    def figures(self) -> Figures:
        """Count the items."""

    def secrets(self) -> Secrets | None:
        """Return the secrets; None where `scan` reads the room's file by lines."""
        return None

    def redact(self) -> Redacted | None:
        """Redact all texts and their bytes on disk; None as for `secrets`."""
        return None

    def rows(self, wanted: Wanted, *, only_public: bool, notes: list[str]) -> Iterator[Outgoing]:
        """Yield matches as `take` reads them. only_public: leave out items of a narrower scope."""

    def take(self, given: Given, tell: Tell) -> Taken:
        """Plan an import; only `Taken.save` stores it."""


# Shared by the rooms.


def rooms_of(opened: Opened, names: Sequence[str] = ()) -> list[Room]:
    """Return these rooms, or all with items. Raises RefusedError."""
    check_names(names)
    found = list[Room]()
    for name in room_names():
        if name in names or not names:
            module = "rooms.lessons" if name == LESSONS else f"rooms.{name}.for_people"
            room: Room = importlib.import_module(module).ForPeople(opened)
            found += [room] if names or room.is_there() else []
    return found


def check_names(names: Sequence[str]) -> None:
    """Raise RefusedError for what is the name of no room."""
    known = room_names()
    for name in names:
        if name not in known:
            raise RefusedError("rooms.no_room", name=name, rooms=", ".join(known))


def room_names() -> list[str]:
    """Return the names of all rooms in the order of display."""
    folders = map(Path, importlib.import_module("rooms").__path__)
    others = {it.parent.name for folder in folders for it in folder.glob(f"*/{FILE_NAME}")}
    return [*FIRST, *sorted(others - set(FIRST))]


def kinds_told(kinds: Sequence[str]) -> Facts:
    """Return count and kinds of secrets for a sentence."""
    return {"count": len(kinds), "kinds": listed_counts(Counter(kinds))}


def switched_on(opened: Opened, name: str) -> str:
    """Say how to switch a room on without switching off another that holds items."""
    here = replace(opened, project=find_project(None, os.environ, Path.cwd()))
    there = {LESSONS, name, *(room.name for room in rooms_of(here))}
    return say("rooms.switch_on", rooms=",".join(it for it in room_names() if it in there))


def unknown_names(key: str, names: Iterable[str], known: Collection[str]) -> list[str]:
    """Return a sentence for each unknown topic or tag, with similar ones."""
    from core.lessons.record_text import topic_text
    from core.text.wording import similar_to

    lines = list[str]()
    for name in names:
        if name not in known:
            near = ", ".join(topic_text(redact(it).text) for it in similar_to(name, known))
            told = topic_text(redact(name).text)
            lines.append(say(f"{key}_but" if near else key, name=told, similar=near))
    return lines


def source_of(given: Given, sources: ModuleType) -> Any:
    """Read the input by a room's module."""
    if given.rows:
        return sources.of_rows(given.rows, given.path)
    if given.data:
        return sources.read_text(given.data, given.path)
    return sources.read_source(given.file or Path())


def state_of(*values: object) -> str:
    """Return a digest of an item's values, which names its version."""
    return digest(repr(values).encode("utf-8", "surrogatepass"))[:12]


def listed_counts(counts: Mapping[str, int]) -> str:
    """Return counts in one line, the highest first.

    >>> listed_counts({"auth": 3, "db": 1200})
    'db 1,200, auth 3'
    """
    order = sorted(counts.items(), key=lambda it: (-it[1], it[0]))
    named = [f"{safe(name) or '?'} {count:,}" for name, count in order[:MOST_VALUES]]
    return ", ".join([*named, *(["…"] if len(order) > MOST_VALUES else [])])
