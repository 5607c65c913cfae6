"""Says what a room is to people: what the commands, the page and the checks ask of each one.

A room keeps one kind of memory. The memory log is `lessons`; every other room is a folder here with
a file `for_people.py`. That file holds a class `ForPeople`, and imports what its room is made of
only where it is asked for.
"""

import importlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from core.config import Project, Settings, find_project
from core.errors import RefusedError
from core.messages import Facts
from core.sanitizer import safe
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
    """One lesson, session or fragment as a person reads it, without secrets.

    id: what a person types, whole. version: names this state, so that a change leaves alone what
    is another one by then. date: when it was last saved, or forgotten, ISO 8601 in UTC. kind: the
    word that `--kind` takes. mark: `*` for a principle or a pinned fragment, `!` for what failed or
    is blocked, "". texts: each with its label; a line of a list shows the first. facts: what stands
    below them, in the language of the reader. data: the whole item, for scripts. privacy: who may
    read what is its user's own: `public`, `team` or `private`; "" for what is of a project.
    """

    room: str
    id: str
    version: str
    date: str
    kind: str
    topic: str
    mark: str
    texts: tuple[tuple[str, str], ...]
    facts: tuple[str, ...]
    data: dict[str, Any]
    privacy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which items are meant; what is left empty does not count.

    words: that each item has. topics: any of them; a session has all of them as tags. kind: as of
    `Item`. since: a moment in ISO 8601. limit: how many at most. forgotten: instead of what is
    there, what `restore` can bring back. brief: only what the line of a list shows is wanted: other
    texts, facts and data may be missing.
    """

    words: str = ""
    topics: tuple[str, ...] = ()
    kind: str = ""
    since: str = ""
    limit: int | None = None
    forgotten: bool = False
    brief: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """Some of the items that fit, and how many there are in all."""

    items: list[Item]
    count: int


class Forgotten(NamedTuple):
    """What a room forgot. items: what went. notes: where it is now.

    stayed: what is another one by now than the person was shown. left: what could not be done.
    """

    items: list[Item]
    notes: list[str]
    stayed: list[Item]
    left: Sequence[str] = ()


class Restoring(NamedTuple):
    """What a restore brings back, before it is done or after it.

    instead_of: what goes for it. carry_out: does it; only what the person was shown is replaced.
    """

    items: list[Item]
    instead_of: list[Item]
    notes: list[str]
    carry_out: "Callable[[], Restoring] | None" = None


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
    """Where a room holds what looks like secrets.

    place, item: what people call all of it, and one item of it. aside: files that nobody looked
    into, such as a damaged database that a repair has kept.
    """

    place: str
    item: str
    held: "list[Held]"
    aside: list[Path]


class Redacted(NamedTuple):
    """What a room redacted, and where secrets are left. notes: where bytes of them may still be.

    is_whole: no file of this machine has them any more.
    """

    changed: "list[Held]"
    left: "list[Held]"
    notes: list[str]
    is_whole: bool


# --- exchange

Tell = Callable[[int, int], object]  # how many are looked through or saved, of how many
FIRST_ITEMS = 1_000  # of an import, which its table may show


class Row(NamedTuple):
    """A row of a file that comes in, and its number there."""

    place: int
    data: Any


class Outgoing(NamedTuple):
    """A row of an export, without secrets.

    is_private: it is for its user's eyes alone. is_counted: it is an item, and no link or note that
    belongs to one.
    """

    data: Data
    is_private: bool = False
    is_counted: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What somebody wants to bring into a room.

    path: as it is shown. rows: those of an export of this program, by this room's `rows`; () for a
    file that only the room can read. file: that file, data: what it holds where it is a text.
    agent: whose fragments they shall be, "" for whose they were.
    """

    path: str
    rows: Sequence[Row] = ()
    file: Path | None = None
    data: bytes = b""
    agent: str = ""


class Passed(NamedTuple):
    """What is not taken: the number of its line, or the name of its file, and why, for people."""

    place: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What an import would bring into a room, each as it would be stored.

    items: the first of them. count: of all of them. redacted: the kind of each secret that is taken
    out. notes: what else a person should know. save: stores them, and returns what to say of it;
    None where there is nothing to store.
    """

    items: list[Item]
    count: int
    redacted: Sequence[str]
    notes: list[str]
    passed: list[Passed]
    save: Callable[[Tell], list[str]] | None


class Room(Protocol):
    """What every room does for people. Each verb raises SentinelError where it cannot be read."""

    name: str

    def __init__(self, opened: Opened) -> None: ...

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
        """Return what a person names, whole; [] for nothing, several for an ambiguous name.

        Raises SentinelError for a name that can only be of this room, and is wrong.
        """

    def versions(self, name: str) -> Versions | None:
        """Return all versions of the item that is named, None for nothing of this room."""

    def fate(self, items: Sequence[Item], *, hard: bool) -> str:
        """Say what forgetting these items means. hard: for good, where there is a choice.

        Raises SentinelError where one of them is to stay.
        """

    def forget(self, items: Sequence[Item], *, hard: bool) -> Forgotten:
        """Forget these items, each only in the version that was shown."""

    def restore(self, name: str, *, originals: bool) -> Restoring | None:
        """Return what would come back by this name, None where that is nothing of this room.

        originals: what the principle of this name has replaced, in its place.
        """

    # --- doctor

    def findings(self) -> "list[Finding]":
        """Return what is wrong with the room and, as `ok`, how much it holds; nothing is changed.

        What can be repaired has its `fix`.
        """

    # --- stats

    def figures(self) -> Figures:
        """Count what the room holds."""

    # --- scan

    def secrets(self) -> Secrets | None:
        """Return where the room holds secrets; None where `scan` reads it as a file, by lines."""

    def redact(self) -> Redacted | None:
        """Take the secrets out of every text, and out of the bytes; None as of `secrets`."""

    # --- exchange

    def rows(self, wanted: Wanted, *, only_public: bool, notes: list[str]) -> Iterator[Outgoing]:
        """Yield what fits as JSON objects, from which `take` makes it again.

        only_public: of what has a scope, only what is public. notes: gets what a person should know
        of it.
        """

    def take(self, given: Given, tell: Tell) -> Taken:
        """Return what would come in; nothing is stored before it is told to."""


def rooms_of(opened: Opened, names: Sequence[str] = ()) -> list[Room]:
    """Return the rooms of these names, or all that may hold something. Raises RoomNameError."""
    known = room_names()
    for name in names:
        if name not in known:
            raise RoomNameError("no_room", name=name, rooms=", ".join(known))
    found = [_opened(name, opened) for name in known if name in names or not names]
    return [room for room in found if names or room.is_there()]


def with_fixes(
    findings: "Iterable[Finding]", mend: "Callable[[list[Finding]], list[Finding]]"
) -> "list[Finding]":
    """Return findings, those that can be repaired with what does it.

    mend: repairs findings, and returns them with what was done as further facts.
    """

    def fix_of(finding: "Finding") -> Callable[[], Mapping[str, str | int]]:
        return lambda: mend([finding])[0].facts

    return [replace(it, fix=fix_of(it)) if it.fixable else it for it in findings]


def room_names() -> list[str]:
    """Return the names of all rooms, in the order in which they are shown."""
    return [*FIRST, *sorted(set(_folders()) - set(FIRST))]


def kinds_told(kinds: Sequence[str]) -> Facts:
    """Return how many secrets there are, and of which kinds, for a sentence."""
    counts = Counter(kinds)
    names = ", ".join(f"{kind} {count:,}" for kind, count in counts.items())
    return {"count": len(kinds), "kinds": names}


def setup_rooms(opened: Opened, name: str) -> str:
    """Return what `setup --rooms` takes to switch a room on here, and none off that has something.

    Here is the project of the working directory, in which the person would type it.
    """
    here = replace(opened, project=find_project(None, os.environ, Path.cwd()))
    there = {LESSONS, name, *(room.name for room in rooms_of(here))}
    return ",".join(it for it in room_names() if it in there)


def listed_counts(counts: Mapping[str, int]) -> str:
    """Return values with their counts in one line, those of most first."""
    order = sorted(counts.items(), key=lambda it: (-it[1], it[0]))
    named = [f"{safe(name) or '?'} {count:,}" for name, count in order[:MOST_VALUES]]
    return ", ".join([*named, *(["…"] if len(order) > MOST_VALUES else [])])


def _folders() -> Iterator[str]:
    for place in importlib.import_module("rooms").__path__:
        with os.scandir(place) as entries:
            yield from (it.name for it in entries if os.path.isfile(f"{it.path}/{FILE_NAME}"))


def _opened(name: str, opened: Opened) -> Room:
    if name == LESSONS:
        module = importlib.import_module("rooms.lessons")
        room: Room = module.Lessons(opened)
    else:
        module = importlib.import_module(f"rooms.{name}.for_people")
        room = module.ForPeople(opened)
    return room
