"""Gives a call its room, and its answer the form and the length that are asked for.

Begins in the background what a write gives rise to: embeddings, and the daily upkeep.
"""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from core.config import DEFAULT_AGENT, Settings
from core.lessons.record_text import as_json
from core.program import NO_CANCELLATION, Cancellation
from core.room.one_list import Gather
from rooms.fragments.answers.lines import Scene
from rooms.fragments.answers.objects import as_object
from rooms.fragments.errors import FragmentsError
from rooms.fragments.fragment import Fragment
from rooms.fragments.recall.recalling import Line
from rooms.fragments.room import Room, agent_of, open_room
from rooms.fragments.saving.activity import end_session

_TENDING = threading.Lock()  # one thread of a process at a time
_WAIT_S = 1.5  # for one that is at it, which rests after a second


class Offer(NamedTuple):
    """How a server offers the room, and for whom it is called.

    core_only: without links, reflection and upkeep. project: the name of its directory. session:
    that of the caller. agent: of its credential, "" for a caller over stdio. beside: what
    gathers from the other rooms that are on.
    """

    cancellation: Cancellation = NO_CANCELLATION
    core_only: bool = False
    project: str = ""
    session: str = ""
    agent: str = ""
    beside: Sequence[Gather] = ()


class Frame:
    """What every answer needs. Raises ConfigError, FragmentsError."""

    def __init__(self, settings: Settings, offer: Offer) -> None:
        self._settings, self._offer = settings, offer
        room = open_room(settings, os.environ, offer.cancellation)
        self._room: Room = _bound(room, offer.agent)

    def go_on(self) -> None:
        """Have done in the background what a write gives rise to."""
        go_on(self._room)

    def end(self) -> None:
        """End the session of the caller."""
        end_session(self._room, self._offer.session)

    def close(self) -> None:
        """Leave all in one file, a copy of which is a backup; let go of connections."""
        with resting():
            self._room.engine.close()

    @property
    def _is_served(self) -> bool:
        """Whether a server keeps the fragments, with backups that nobody here knows of."""
        return self._room.engine.keeps_agents_apart

    @property
    def _scene(self) -> Scene:
        room, project = self._room, self._offer.project
        return Scene(room.clock(), room.config, project)

    def _answer(self, text: Callable[[], str], declared: Callable[[], dict[str, Any]]) -> str:
        return as_json(declared()) if self._settings.answers == "json" else text()

    def _line(self, scene: Scene) -> Line:
        """Return what a fragment looks like to the reader, for what counts the tokens."""
        return _object_text if self._settings.answers == "json" else scene.line

    def _rest(self, tokens: int, frame: int) -> int:
        """Return what an answer may cost beside its frame, by the settings, too."""
        return max(min(tokens, self._settings.budget_tokens) - frame, 1)


def _bound(room: Room, agent: str) -> Room:
    """Return the room as the caller has it. Raises FragmentsError."""
    if room.engine.keeps_agents_apart:
        return room.for_agent(agent or agent_of(os.environ))
    if agent not in ("", DEFAULT_AGENT):
        raise FragmentsError("agents_together", name=agent)
    return room


def _object_text(fragment: Fragment) -> str:
    return as_json(as_object(fragment))


def go_on(room: Room) -> None:
    """Begin what is due, in threads of their own; returns at once."""
    room = room.for_all()
    from rooms.fragments.embeddings.filling import (
        fill_in_background,  # a first answer needs no model
    )

    fill_in_background(room)
    if _TENDING.acquire(blocking=False):
        threading.Thread(target=_tend, args=(room,), name="upkeep", daemon=True).start()


@contextmanager
def resting() -> Iterator[None]:
    """Keep the upkeep of this process from its work, as soon as one that is at it rests."""
    is_resting = _TENDING.acquire(timeout=_WAIT_S)
    try:
        yield
    finally:
        if is_resting:
            _TENDING.release()


def _tend(room: Room) -> None:
    from rooms.fragments.judging.settings import has_judge
    from rooms.fragments.upkeep.daily import tend

    try:
        tend(room, compares=not has_judge(os.environ))
    finally:
        _TENDING.release()
