"""Makes rooms of fragments below a directory of a test, with a clock that the test sets."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_args

import pytest

from core.config import Settings
from core.program import NO_CANCELLATION, Cancellation
from rooms.fragments.draft import remember
from rooms.fragments.fragment import Draft, Entry, Filter, Fragment, hash_of
from rooms.fragments.room import Config, Room
from rooms.fragments.storage.rows import Engine, pages_of
from rooms.fragments.storage.sqlite import SqliteEngine
from rooms.fragments.upkeep.consolidation import Report

START = "2026-05-01T10:00:00+00:00"


class Clock:
    """Tells the time: the start, until the test lets some of it pass."""

    def __init__(self, start: str = START) -> None:
        self.now = datetime.fromisoformat(start).astimezone(UTC)

    def __call__(self) -> str:
        return self.now.isoformat(timespec="seconds")

    def wait(self, *, days: float = 0, hours: float = 0) -> str:
        """Let time pass and return the new time."""
        self.now += timedelta(days=days, hours=hours)
        return self()


class Files:
    """Keeps each room in the file of its path; a `Databases` keeps it on a server."""

    def engine_at(self, path: Path, cancellation: Cancellation = NO_CANCELLATION) -> Engine:
        return SqliteEngine(path, timeout_s=5, cancellation=cancellation)

    def copy(self, path: Path, other: Path) -> None:
        """Copy a room that nobody has open, with all that lies beside it."""
        shutil.copytree(path.parent, other.parent)


here: Any = Files()  # where the rooms of a test are kept


def a_room(tmp_path: Path, *, clock: Callable[[], str] | None = None, **settings: Any) -> Room:
    """The fragments of `memory.db` in this directory, which is made with the first write.

    clock: a new `Clock` where none is given. settings: fields of `Config`, the others are those of
    `Settings`.
    """
    figures = {name: settings.pop(name) for name in Config._fields if name in settings}
    config = Config(**{"path": tmp_path / "memory.db", **figures})
    return Room(
        engine=here.engine_at(config.path),
        config=config,
        settings=Settings(**{"lock_timeout_s": 5, **settings}),
        clock=clock or Clock(),
    )


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def room(tmp_path: Path, clock: Clock) -> Room:
    """The room of a test; a file imports both fixtures."""
    return a_room(tmp_path, clock=clock)


def saved(
    room: Room, content: str, *, agent: str = "", session: str = "", **fields: Any
) -> Fragment:
    """The fragment that says this. fields: those of its `Draft`, the others of the row."""
    drafted = {it: fields.pop(it) for it in Draft.__dataclass_fields__ if it in fields}
    draft = Draft(content=content, **drafted)
    fragment = remember(room, draft, agent=agent, session=session).fragment
    return changed(room, fragment, **fields) if fields else fragment


def add(room: Room, *contents: str, **values: Any) -> list[Fragment]:
    """Fragments as another program would store them, in one transaction."""
    with room.engine.writing() as rows:
        known = sum(rows.count(Filter(state="all")).values())
        return rows.add([
            Fragment(**{"id": f"f{known + at}", "content": content, "created_at": room.clock(),
                        "content_hash": hash_of(content), **values})
            for at, content in enumerate(contents)
        ])  # fmt: skip


def changed(room: Room, fragment: Fragment, **fields: Any) -> Fragment:
    """A fragment as another program would leave it."""
    [now] = stored(room, fragment.id)
    after = replace(now, **fields)
    with room.engine.writing() as rows:
        rows.replace([after])
    return after


def stored(room: Room, *ids: str) -> list[Fragment]:
    """The fragments of these ids as they are stored, those in the bin, too."""
    with room.engine.reading() as rows:
        return rows.by_ids(ids)


def all_of(room: Room, wanted: Filter = Filter(state="all")) -> list[Fragment]:  # noqa: B008
    """All fragments that are meant, by their numbers."""
    with room.engine.reading() as rows:
        return [it for page in pages_of(rows, wanted) for it in page]


def state_of(room: Room) -> dict[str, str]:
    with room.engine.reading() as rows:
        return rows.state()


def figures_of(report: Report) -> dict[str, dict[str, int]]:
    """The figures of a consolidation that are not 0."""
    every = ((it.name, {name: one for name, one in it.figures.items() if one})
             for it in report.steps)  # fmt: skip
    return {name: counts for name, counts in every if counts}


def links_of(room: Room, *ids: str) -> set[tuple[str, str, str]]:
    """The links from and to these fragments: from which, the relation, to which."""
    with room.engine.reading() as rows:
        return {(it.from_id, it.relation, it.to_id) for it in rows.links(ids)}


def everything(room: Room) -> dict[str, Any]:
    """The sorted content of a room, without the numbers of its rows and its state."""
    kinds: list[type[Any]] = [*get_args(Entry)]
    with room.engine.reading() as rows:
        fragments = rows.find(Filter(state="all"))
        links = rows.links([it.id for it in fragments])
        entries = {kind.__name__: sorted(map(repr, rows.entries(kind))) for kind in kinds}
    return {
        "fragments": sorted(repr(replace(it, number=0)) for it in fragments),
        "links": sorted(map(repr, links)),
        **entries,
    }
