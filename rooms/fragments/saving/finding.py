"""Finds the fragments that a caller names, and says why one of them cannot be used."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from core.config import NAME_CHARS
from core.text.plain import SURROGATE
from rooms.fragments.errors import NoSuchFragmentError, SavingError
from rooms.fragments.fragment import Fragment, Wanted
from rooms.fragments.room import Room
from rooms.fragments.saving.drafting import plain_id
from rooms.fragments.storage.rows import Rows

SUPERSEDED_IMPORTANCE = 0.3


def changing(room: Room, id_: str) -> AbstractContextManager[Rows]:
    """Return the transaction in which a fragment is changed: where none is, no database is made.

    Raises NoSuchFragmentError.
    """
    if not room.engine.exists():
        raise NoSuchFragmentError(id=plain_id(id_))
    return room.engine.writing()


def visible(reading: Rows, id_: str, agents: Sequence[str]) -> Fragment:
    """Return a fragment of these agents, () for all, wherever it is. Raises NoSuchFragmentError."""
    key = plain_id(id_)
    if len(key) <= NAME_CHARS and not SURROGATE.search(key):
        for found in reading.by_ids([key]):
            if not agents or found.agent in agents:
                return found
    raise NoSuchFragmentError(id=key)


def kept(reading: Rows, id_: str, agents: Sequence[str]) -> Fragment:
    """Return a fragment of these agents that is not in the bin. Raises FragmentsError."""
    found = visible(reading, id_, agents)
    if found.deleted_at:
        raise SavingError("in_bin", id=found.id)
    return found


def changeable(
    reading: Rows, room: Room, id_: str, agents: Sequence[str], *, in_bin: bool = False
) -> Fragment:
    """Return a fragment of these agents that may be changed here. Raises FragmentsError.

    in_bin: whether one in the bin may be.
    """
    found = visible(reading, id_, agents)
    if not room.owns(found):
        raise SavingError("shared", id=found.id, owner=found.agent)
    return found if in_bin else kept(reading, found.id, agents)


def same_content(reading: Rows, agent: str, content_hash: str) -> Fragment | None:
    """Return the agent's fragment with this content: a live one before one that is put away."""
    wanted = Wanted(agents=(agent,), content_hash=content_hash, state="all")
    found = reading.find(wanted, order="newest", limit=10)
    return min(found, key=lambda it: (it.deleted_at, it.superseded_at), default=None)


def successors(reading: Rows, id_: str) -> list[str]:
    """Return the ids of the fragments that have taken the place of one."""
    return [it.to_id for it in reading.links([id_], ["superseded_by"]) if it.from_id == id_]


def superseded(fragment: Fragment, now: str) -> Fragment:
    """Return a fragment whose place another has: out of recall, and of little importance."""
    return replace(
        fragment,
        importance=min(fragment.importance, SUPERSEDED_IMPORTANCE),
        superseded_at=fragment.superseded_at or now,
    )
