"""Says what a room is to people: what the commands, the page and the checks ask of each one.

The memory log is `lessons`; every other room is a folder here with a file `for_people.py`. Its
class `ForPeople` imports what the room is made of only where it is asked for.
"""

import importlib
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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


class RoomNameError(RefusedError):
    """What a person has typed names no room, or nothing in the rooms, or several things."""

    table = "rooms"


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """The project, the settings and the store that one command works with."""

    project: Project
    settings: Settings
    store: MemoryStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One lesson, session or fragment as a person reads it, without secrets."""

    room: str
    id: str  # what a person types, whole
    version: str  # names this state: a change leaves alone what is another one by then
    date: str  # when it was last saved, or forgotten; ISO 8601 in UTC
    kind: str  # the word that `--kind` takes
    topic: str
    mark: str  # `*` for a principle or a pinned fragment, `!` for what failed or is blocked, ""
    texts: tuple[tuple[str, str], ...]  # each with its label; a line of a list shows the first
    facts: tuple[str, ...]  # what stands below them, in the language of the reader
    data: Data  # the whole item, for scripts
    privacy: str = ""  # public, team or private, where it is its user's own and of no project


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which items are meant; what is left empty does not count."""

    words: str = ""  # that each item has
    topics: tuple[str, ...] = ()  # any of them; a session has all of them as tags
    kind: str = ""
    since: str = ""  # a moment in ISO 8601
    limit: int | None = None
    forgotten: bool = False  # instead of what is there, what `restore` can bring back
    brief: bool = False  # only the line of a list: other texts, facts and data may be missing


@dataclass(frozen=True, slots=True)
class Found:
    """Some of the items that fit, and how many there are in all."""

    items: list[Item]
    count: int


class Forgotten(NamedTuple):
    """What a room forgot, what is another one by now than was shown, and what went wrong."""

    items: list[Item]
    notes: list[str]  # where it is now
    stayed: list[Item]
    left: Sequence[str] = ()


class Restoring(NamedTuple):
    """What a restore brings back, before it is done or after it, and what goes for it."""

    items: list[Item]
    instead_of: list[Item]
    notes: list[str]
    carry_out: "Callable[[], Restoring] | None" = None  # replaces only what was shown


class Version(NamedTuple):
    """One version of an item. places: where it is kept, for people; data: the same for scripts."""

    item: Item
    places: str
    data: dict[str, Any]


class Versions(NamedTuple):
    """All known versions of one item, the newest first. notes: why some may be missing."""

    found: list[Version]
    notes: list[str]


class Figures(NamedTuple):
    """What a room counts. lines: sentences below its headline; data: everything, for scripts."""

    headline: str
    lines: list[str]
    data: dict[str, Any]


class Secrets(NamedTuple):
    """Where a room holds what looks like secrets, and what people call it and one item of it."""

    place: str
    item: str
    held: "list[Held]"
    aside: list[Path]  # nobody looked into them: a damaged database that a repair has kept


class Redacted(NamedTuple):
    """What a room redacted, and where secrets are left."""

    changed: "list[Held]"
    left: "list[Held]"
    notes: list[str]  # where bytes of them may still be
    is_whole: bool  # no file of this machine has them any more


Tell = Callable[[int, int], object]  # how many are looked through or saved, of how many
FIRST_ITEMS = 1_000  # of an import, which its table may show


class Row(NamedTuple):
    """A row of a file that comes in, and its number there."""

    place: int
    data: Any


class Outgoing(NamedTuple):
    """A row of an export, without secrets."""

    data: Data
    is_private: bool = False  # for its user's eyes alone
    is_counted: bool = True  # an item, and no link or note that belongs to one


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What somebody wants to bring into a room."""

    path: str  # as it is shown
    rows: Sequence[Row] = ()  # of an export of this program, by this room's `rows`
    file: Path | None = None  # that only the room can read
    data: bytes = b""  # what it holds where it is a text
    agent: str = ""  # whose fragments they shall be, "" for whose they were


class Passed(NamedTuple):
    """What is not taken: its line or its file, and why, for people."""

    place: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What an import would bring into a room, each as it would be stored."""

    items: list[Item]  # the first of them
    count: int
    redacted: Sequence[str]  # the kind of each secret that is taken out
    notes: list[str]
    passed: list[Passed]
    save: Callable[[Tell], list[str]] | None  # stores them and says so; None where there are none


class Room(Protocol):
    """What every room does for people. Each verb raises SentinelError where it cannot be read.

    What most rooms need not do has an answer here; a room that does it has its own.
    """

    name: str
    _opened: Opened

    def __init__(self, opened: Opened) -> None:
        self._opened = opened

    @property
    def kinds(self) -> tuple[str, ...]:
        """The words that an item may have as its kind."""

    def is_there(self) -> bool:
        """Return whether the room may hold something; loads nothing of it."""

    def find(self, wanted: Wanted) -> Found:
        """Return the items that fit: with words the most relevant first, else the newest."""

    def nothing(self, wanted: Wanted) -> list[str]:
        """Say why nothing was found: what the room is for, or which name may have been meant."""

    def named(self, name: str) -> list[Item]:
        """Return what a person names, whole; raises where only this room has such names."""

    def versions(self, name: str) -> Versions | None:
        """Return all versions of the item that is named, None for nothing of this room.

        A room that keeps no former ones has the item as it is.
        """
        found = [Version(item, "", {}) for item in self.named(name)]
        return Versions(found, []) if found else None

    def fate(self, items: Sequence[Item], *, hard: bool) -> str:
        """Say what forgetting means, for good if `hard`; raises where one of these is to stay."""

    def forget(self, items: Sequence[Item], *, hard: bool) -> Forgotten:
        """Forget these items, each only in the version that was shown."""

    def restore(self, name: str, *, originals: bool) -> Restoring | None:
        """Return what would come back, or the originals of a principle; None for nothing of it."""

    def findings(self) -> "list[Finding]":
        """Return what is wrong with the room, with a `fix`, and as `ok` how much it holds."""

    def figures(self) -> Figures:
        """Count what the room holds."""

    def secrets(self) -> Secrets | None:
        """Return where the room holds secrets; None where `scan` reads it as a file, by lines."""
        return None

    def redact(self) -> Redacted | None:
        """Take the secrets out of every text, and out of the bytes; None as of `secrets`."""
        return None

    def rows(self, wanted: Wanted, *, only_public: bool, notes: list[str]) -> Iterator[Outgoing]:
        """Yield what fits as `take` wants it, of what has a scope only what is public if asked."""

    def take(self, given: Given, tell: Tell) -> Taken:
        """Return what would come in; nothing is stored before it is told to."""


# What rooms share.


def rooms_of(opened: Opened, names: Sequence[str] = ()) -> list[Room]:
    """Return the rooms of these names, or all that may hold something. Raises RoomNameError."""
    known = room_names()
    for name in names:
        if name not in known:
            raise RoomNameError("no_room", name=name, rooms=", ".join(known))
    found = list[Room]()
    for name in known:
        if name in names or not names:
            module = "rooms.lessons" if name == LESSONS else f"rooms.{name}.for_people"
            room: Room = importlib.import_module(module).ForPeople(opened)
            found += [room] if names or room.is_there() else []
    return found


def room_names() -> list[str]:
    """Return the names of all rooms, in the order in which they are shown."""
    folders = map(Path, importlib.import_module("rooms").__path__)
    others = {it.parent.name for folder in folders for it in folder.glob(f"*/{FILE_NAME}")}
    return [*FIRST, *sorted(others - set(FIRST))]


def kinds_told(kinds: Sequence[str]) -> Facts:
    """Return how many secrets there are, and of which kinds, for a sentence."""
    return {"count": len(kinds), "kinds": listed_counts(Counter(kinds))}


def switched_on(opened: Opened, name: str) -> str:
    """Say how to switch a room on where the person types it, and none off that has something."""
    here = replace(opened, project=find_project(None, os.environ, Path.cwd()))
    there = {LESSONS, name, *(room.name for room in rooms_of(here))}
    return say("rooms.switch_on", rooms=",".join(it for it in room_names() if it in there))


def unknown_names(key: str, names: Iterable[str], known: Collection[str]) -> list[str]:
    """Say which of these topics or tags there are not, and which ones resemble them."""
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
    """Return what was given as this module of a room reads it."""
    if given.rows:
        return sources.of_rows(given.rows, given.path)
    if given.data:
        return sources.read_text(given.data, given.path)
    return sources.read_source(given.file or Path())


def state_of(*values: object) -> str:
    """Return what names the state of an item that is made of these values."""
    return digest(repr(values).encode("utf-8", "surrogatepass"))[:12]


def listed_counts(counts: Mapping[str, int]) -> str:
    """Return values with their counts in one line, those of most first."""
    order = sorted(counts.items(), key=lambda it: (-it[1], it[0]))
    named = [f"{safe(name) or '?'} {count:,}" for name, count in order[:MOST_VALUES]]
    return ", ".join([*named, *(["…"] if len(order) > MOST_VALUES else [])])
