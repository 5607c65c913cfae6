"""Follows links from fragments to those that they lead to, one step far, and shows them of one."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from rooms.fragments.errors import NoSuchFragmentError
from rooms.fragments.fragment import Fragment, Link
from rooms.fragments.room import Room, readers, repeats_when_cut
from rooms.fragments.saving.finding import visible
from rooms.fragments.storage.rows import Rows

FOLLOWED = ("caused_by", "resolved_by", "related")  # where no relation is asked for

_RELATIONS = ("caused_by", "resolved_by", "part_of", "related", "contradicts", "superseded_by")


class Step(NamedTuple):
    """A link that was followed, in whichever direction, and the fragment at its other end."""

    link: Link
    fragment: Fragment


class Linked(NamedTuple):
    """A fragment that is linked to another: over which relation, to which.

    leads_here: the link leads to this fragment; else it leads from this one to the other.
    """

    fragment: Fragment
    relation: str
    to_id: str
    leads_here: bool = True


def steps_from(
    reading: Rows, fragments: Sequence[Fragment], relations: Sequence[str], agents: Sequence[str]
) -> list[Step]:
    """Return the links of fragments that lead elsewhere, those of the first relation first.

    What is in the bin is left out, and what has a successor, unless the link says just that.
    agents: whose fragments count, () for all.
    """
    places = {it.id: place for place, it in enumerate(fragments)}
    links = reading.links(places, relations) if places else []
    ends = sorted(
        _ends(links, places),
        key=lambda it: (relations.index(it[0].relation), places[it[1]], it[0].to_id == it[1]),
    )
    others = {it.id: it for it in reading.by_ids({far: None for *_, far in ends})}
    return [
        Step(link, others[far])
        for link, _, far in ends
        if far in others and _counts(others[far], link, agents)
    ]


def linked_to(
    reading: Rows, fragments: Sequence[Fragment], relations: Sequence[str], agents: Sequence[str]
) -> list[Linked]:
    """Return what is linked to these fragments, each once; the arguments are those above."""
    found = dict[str, Linked]()
    for link, other in steps_from(reading, fragments, relations, agents):
        is_end = link.to_id == other.id
        near = link.from_id if is_end else link.to_id
        found.setdefault(other.id, Linked(other, link.relation, near, is_end))
    return list(found.values())


def _ends(links: Sequence[Link], places: Mapping[str, int]) -> Iterator[tuple[Link, str, str]]:
    """Yield each link that leads elsewhere, with its end that is known and the other one."""
    for link in links:
        if link.to_id not in places:
            yield link, link.from_id, link.to_id
        elif link.from_id not in places:
            yield link, link.to_id, link.from_id


def _counts(other: Fragment, link: Link, agents: Sequence[str]) -> bool:
    if other.deleted_at or (agents and other.agent not in agents):
        return False
    return not other.superseded_at or link.relation == "superseded_by"


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
