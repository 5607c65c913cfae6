"""Follows links from fragments to those that they lead to, one step far."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from rooms.fragments.engine import Reading
from rooms.fragments.fragment import Fragment, Link

FOLLOWED = ("caused_by", "resolved_by", "related")  # where no relation is asked for


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
    reading: Reading, fragments: Sequence[Fragment], relations: Sequence[str], agents: Sequence[str]
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
    reading: Reading, fragments: Sequence[Fragment], relations: Sequence[str], agents: Sequence[str]
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
