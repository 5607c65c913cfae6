"""The interface of a room for the commands, the page and the checks.

The memory log is `lessons`. Any other room is a folder here with a class `ForPeople` in
`for_people.py`, which loads the room's modules only where it needs them.
"""

import importlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from core.config import Project, Settings
from core.errors import RefusedError
from core.messages import Facts, say
from core.sanitizer import redact, safe_name
from core.store import MemoryStore
from core.text.plain import digest

if TYPE_CHECKING:  # most commands need none of it
    from core.lessons.upkeep import Finding
    from core.room.redaction import SecretPlace

LESSONS = "lessons"
FIRST_ROOMS = (LESSONS, "sessions", "fragments")  # any other room comes after them
FILE_NAME = "for_people.py"
MOST_VALUES = 8  # of a list of counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
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
    data: dict[str, Any] = field(default_factory=dict)  # the whole item, for scripts
    privacy: str = ""  # public, team or private, where it is its user's own and of no project


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """A choice of items; an empty field does not count."""

    words: str = ""  # that each item has
    topics: tuple[str, ...] = ()  # any of them; a session has all of them as tags
    kind: str = ""
    since: str = ""  # a moment in ISO 8601
    limit: int | None = None
    forgotten: bool = False  # in place of present items, items that `restore` can bring back
    is_brief: bool = False  # a line each will do: texts may end early


@dataclass(frozen=True, slots=True)
class Matches:
    """The first matches, and the count of all."""

    items: list[Item]
    count: int


class ForgetOutcome(NamedTuple):
    """The outcome of `forget`. changed_items: stay, as they have changed since they were shown."""

    notes: list[str]  # where it is now
    changed_items: list[Item]
    errors: Sequence[str] = ()


class Restoration(NamedTuple):
    """A restore, planned or done. replaced_items: what it replaces."""

    items: list[Item]
    replaced_items: list[Item]
    notes: list[str]
    carry_out: "Callable[[], Restoration] | None" = None  # replaces only what was shown


class Version(NamedTuple):
    """A version of an item. places: where it is, for people; data: for scripts."""

    item: Item
    places: str
    data: dict[str, Any]


class Versions(NamedTuple):
    """The known versions of an item, newest first. notes: why others may be missing."""

    versions: list[Version]
    notes: list[str]


class Figures(NamedTuple):
    """The counts of a room. lines: below the headline; data: all, for scripts."""

    headline: str
    lines: list[str]
    data: dict[str, Any]


class Secrets(NamedTuple):
    """The secrets of a room. place_name, item_name: words for it and one of its items."""

    place_name: str
    item_name: str
    holders: "list[SecretPlace]"
    aside_paths: list[Path]  # nobody looked into them: a damaged database that a repair has kept


class RedactOutcome(NamedTuple):
    """The outcome of `redact`. left_places: whose secrets are still there."""

    redacted_places: "list[SecretPlace]"
    left_places: "list[SecretPlace]"
    notes: list[str]  # where bytes of them may still be
    is_whole: bool  # no file of this machine has them any more


Progress = Callable[[int, int], object]  # how many are looked through or saved, of how many
MOST_PLAN_ITEMS = 1_000  # of an import, which its table may show


class Row(NamedTuple):
    """A row of an imported file, with its number there."""

    number: int
    data: Any


class ExportRow(NamedTuple):
    """A row of an export, without secrets."""

    data: dict[str, Any]
    is_private: bool = False  # for its user's eyes alone
    is_counted: bool = True  # an item, and no link or note that belongs to one


@dataclass(frozen=True, slots=True, kw_only=True)
class Intake:
    """The input of an import into one room."""

    path: str  # as it is shown
    rows: Sequence[Row] = ()  # of an export of this program, by this room's `export_rows`
    file: Path | None = None  # that only the room can read
    data: bytes = b""  # its content where it is a text
    agent: str = ""  # whose fragments they shall be, "" for whose they were


class Refusal(NamedTuple):
    """Refused input: its line or file, and the reason, for people."""

    place: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportPlan:
    """The plan of an import, its items as they would be stored."""

    items: list[Item]  # the first of them
    count: int
    secret_kinds: Sequence[str]  # the kind of each secret that is taken out
    notes: list[str]
    refusals: list[Refusal]
    save: Callable[[Progress], list[str]] | None  # stores them; None where there are none


class Room(Protocol):
    """A room for people. Each method raises SentinelError where the room cannot be read.

    A method with a body here is the default for most rooms.
    """

    name: str
    _memory: Memory

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds that an item may have."""

    def is_there(self) -> bool:
        """Return whether the room may hold items, without loading it."""

    def find(self, filter_: Filter) -> Matches:
        """Return the matches: with words the most relevant first, else the newest."""

    def explain_no_match(self, filter_: Filter) -> list[str]:
        """Say why nothing was found: the room's purpose, or a similar name."""

    def find_by_name(self, name: str) -> list[Item]:
        """Return a name's items, whole. Raises for an unknown name that only this room can have."""

    def versions(self, name: str) -> Versions | None:
        """Return the versions of a named item, by default its present one; None without an item."""
        versions = [Version(item, "", {}) for item in self.find_by_name(name)]
        return Versions(versions, []) if versions else None

    def preview_forget(self, items: Sequence[Item], *, hard: bool) -> str:
        """Say what forgetting does, for good if `hard`. Raises if an item must stay."""

    def forget(self, items: Sequence[Item], *, hard: bool) -> ForgetOutcome:
        """Forget each item in the version that was shown."""

    def restore(self, name: str, *, originals: bool) -> Restoration | None:
        """Plan to bring back an item, or a principle's originals; None for an unknown name."""

    def findings(self) -> "list[Finding]":
        """Return faults with their repairs, and an `ok` with counts."""

    def figures(self) -> Figures:
        """Count the items."""

    def secrets(self) -> Secrets | None:
        """Return the secrets; None where `scan` reads the room's file by lines."""
        return None

    def redact(self) -> RedactOutcome | None:
        """Redact all texts and their bytes on disk; None as for `secrets`."""
        return None

    def export_rows(
        self, filter_: Filter, *, only_public: bool, notes: list[str]
    ) -> Iterator[ExportRow]:
        """Yield matches for `plan_import`. only_public: leave out items of a narrower scope."""

    def plan_import(self, intake: Intake, progress: Progress) -> ImportPlan:
        """Plan an import; only `ImportPlan.save` stores it."""


# Shared by the rooms.


def rooms_of(memory: Memory, names: Sequence[str] = ()) -> list[Room]:
    """Return these rooms, or all with items. Raises RefusedError."""
    check_names(names)
    rooms = list[Room]()
    for name in room_names():
        if name in names or not names:
            module = "rooms.lessons" if name == LESSONS else f"rooms.{name}.for_people"
            room: Room = importlib.import_module(module).ForPeople(memory)
            rooms += [room] if names or room.is_there() else []
    return rooms


def check_names(names: Sequence[str]) -> None:
    """Raise RefusedError for what is the name of no room."""
    known_names = room_names()
    for name in names:
        if name not in known_names:
            raise RefusedError("rooms.no_room", name=name, rooms=", ".join(known_names))


def room_names() -> list[str]:
    """Return the names of all rooms in the order of display."""
    folders = map(Path, importlib.import_module("rooms").__path__)
    others = {file.parent.name for folder in folders for file in folder.glob(f"*/{FILE_NAME}")}
    return [*FIRST_ROOMS, *sorted(others - set(FIRST_ROOMS))]


def count_kinds(kinds: Sequence[str]) -> Facts:
    """Return count and kinds of secrets for a sentence."""
    return {"count": len(kinds), "kinds": joined_counts(Counter(kinds))}


def sentence_for_switch_on(memory: Memory, name: str) -> str:
    """Say how to switch a room on without switching off another that holds items."""
    names = {LESSONS, name, *(room.name for room in rooms_of(memory))}
    return say("rooms.switch_on", rooms=",".join(name for name in room_names() if name in names))


def lines_on_unknown(key: str, names: Iterable[str], known_names: Collection[str]) -> list[str]:
    """Return a sentence for each unknown topic or tag, with similar ones."""
    from core.lessons.record_text import topic_text
    from core.text.wording import find_similar

    lines = list[str]()
    for name in names:
        if name not in known_names:
            texts = [name, *find_similar(name, known_names)]
            first, *others = (topic_text(redact(text).text) for text in texts)
            similar = ", ".join(others)
            lines.append(say(f"{key}_but" if similar else key, name=first, similar=similar))
    return lines


def read_intake(intake: Intake, sources: ModuleType) -> Any:
    """Read the input by a room's module."""
    if intake.rows:
        return sources.source_from_rows(intake.rows)
    if intake.data:
        return sources.read_text(intake.data, intake.path)
    return sources.read_source(intake.file or Path())


def state_of(*values: object) -> str:
    """Return a digest of an item's values, which names its version."""
    return digest(repr(values))[:12]


def joined_counts(counts: Mapping[str, int]) -> str:
    """Return counts in one line, the highest first.

    >>> joined_counts({"auth": 3, "db": 1200})
    'db 1,200, auth 3'
    """
    order = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    parts = [f"{safe_name(name) or '?'} {count:,}" for name, count in order[:MOST_VALUES]]
    return ", ".join([*parts, *(["…"] if len(order) > MOST_VALUES else [])])
