"""Shows what a fragment is linked to: the causes of an error first, then what cured it."""

from typing import NamedTuple

from core.postgres.repeating import repeats_when_cut
from rooms.fragments.errors import NoSuchFragmentError
from rooms.fragments.fragment import Fragment
from rooms.fragments.recall.links import Step, steps_from
from rooms.fragments.room import Room, readers
from rooms.fragments.saving.finding import visible

__all__ = ["Explored", "Step", "explore"]

_RELATIONS = ("caused_by", "resolved_by", "part_of", "related", "contradicts", "superseded_by")


class Explored(NamedTuple):
    """A fragment, and the links from and to it with what is at their other ends."""

    start: Fragment
    steps: list[Step]


@repeats_when_cut
def explore(room: Room, start_id: str, *, agent: str = "") -> Explored:
    """Return what a fragment is linked to: causes, cures, then the rest, in both directions.

    agent: whose fragments, beside those of the default; "" for all. Raises NoSuchFragmentError,
    FragmentsError, DatabaseError.
    """
    agents = readers(room, agent)
    with room.engine.reading() as reading:
        start = visible(reading, start_id, agents)
        if start.deleted_at:
            raise NoSuchFragmentError(id=start.id)
        return Explored(start, steps_from(reading, [start], _RELATIONS, agents))
