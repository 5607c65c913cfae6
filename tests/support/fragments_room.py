"""Makes rooms of fragments below a directory of a test, with a clock that the test sets."""

import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from core.config import Settings
from core.program import NO_CANCELLATION, Cancellation
from rooms.fragments.config import Config
from rooms.fragments.draft import Draft, remember
from rooms.fragments.fragment import Activity, Fragment, Link, ToolFeedback, Wanted
from rooms.fragments.room import Room
from rooms.fragments.storage.engine import Engine
from rooms.fragments.storage.sqlite import SqliteEngine

START = "2026-05-01T10:00:00+00:00"


class Clock:
    """Says what time it is: the start, until the test lets some of it pass."""

    def __init__(self, start: str = START) -> None:
        self.now = datetime.fromisoformat(start).astimezone(UTC)

    def __call__(self) -> str:
        return self.now.isoformat(timespec="seconds")

    def wait(self, *, days: float = 0, hours: float = 0) -> str:
        """Let time pass and return what time it is then."""
        self.now += timedelta(days=days, hours=hours)
        return self()


class Files:
    """Keeps each room in the file of its path."""

    def engine_at(self, path: Path, cancellation: Cancellation = NO_CANCELLATION) -> Engine:
        """The engine of a path."""
        return SqliteEngine(path, timeout_s=5, cancellation=cancellation)

    def copy(self, path: Path, other: Path) -> None:
        """Copy a room that nobody has open, with all that lies beside it."""
        shutil.copytree(path.parent, other.parent)


class Places:
    """Where the rooms of a test are kept; `both_engines` says where else."""

    here: Any = Files()


def a_room(tmp_path: Path, *, clock: Callable[[], str] | None = None, **settings: Any) -> Room:
    """The fragments of `memory.db` in this directory, which is made with the first write.

    clock: a new `Clock` where none is given. settings: fields of `Config`, the others are those of
    `Settings`.
    """
    figures = {name: settings.pop(name) for name in Config._fields if name in settings}
    config = Config(**{"path": tmp_path / "memory.db", **figures})
    return Room(
        engine=Places.here.engine_at(config.path),
        config=config,
        settings=Settings(**{"lock_timeout_s": 5, **settings}),
        clock=clock or Clock(),
    )


@pytest.fixture
def clock() -> Clock:
    """The clock of the room of a test."""
    return Clock()


@pytest.fixture
def room(tmp_path: Path, clock: Clock) -> Room:
    """The room of a test; a file imports both fixtures."""
    return a_room(tmp_path, clock=clock)


def saved(
    room: Room, content: str, *, agent: str = "", session: str = "", **fields: Any
) -> Fragment:
    """The fragment that says this. fields: the others of its `Draft`."""
    return remember(room, Draft(content=content, **fields), agent=agent, session=session).fragment


def stored(room: Room, *ids: str) -> list[Fragment]:
    """The fragments of these ids as they are stored, those in the bin, too."""
    with room.engine.reading() as reading:
        return reading.by_ids(ids)


def is_unused(room: Room) -> bool:
    """Whether nothing was ever stored: there is no file, or on a server nothing in the tables."""
    if not room.engine.keeps_agents_apart:
        return not room.engine.exists()
    with room.engine.reading() as reading:
        noted = reading.entries(Activity) + reading.entries(ToolFeedback)
        return not noted and not reading.find(Wanted(state="all"), limit=1)


def figures(room: Room) -> dict[str, int]:
    """The figures that the room counts, by name."""
    with room.engine.reading() as reading:
        return {name: int(value) for name, value in reading.state().items() if value.isdecimal()}


def links_of(room: Room, *ids: str) -> set[tuple[str, str, str]]:
    """The links from and to these fragments: from which, the relation, to which."""
    with room.engine.reading() as reading:
        return {_parts(it) for it in reading.links(ids)}


def _parts(link: Link) -> tuple[str, str, str]:
    return link.from_id, link.relation, link.to_id
