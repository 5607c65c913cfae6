"""Counts the fragments by what they are, and what the room has done with them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from rooms.fragments.fragment import Suspicion, Version, Wanted
from rooms.fragments.room import Room, readers, repeats_when_cut
from rooms.fragments.saving.activity import is_over, unreflected
from rooms.fragments.storage.rows import Rows
from rooms.fragments.upkeep.running import ENDED, FIGURES, RUN

MODEL = "embedding_model"  # its name in the state
Counts = Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """How many fragments there are, and how they are kept.

    live: those that can be recalled; superseded: those with a successor; deleted: those in the bin,
    by why they are there. tiers, kinds, lifetimes, agents, anchors, with_vector: of the live ones.
    model: what made the vectors, "" for nothing. links: from fragments that are not in the bin, by
    relation. versions: those before an amendment. figures: what the room has counted since it is
    there, such as `purged`: those that have left the bin for good; {} for an agent of a team, as it
    counts what others have, and so is upkeep. upkeep_at: when the last upkeep
    began that was ended, "" for none; upkeep: what it did, by step. is_under_way: whether one has
    begun and not ended. suspicions: pairs that wait to be settled. unreflected: sessions that wrote
    something and that nobody has reflected on.
    """

    live: int = 0
    superseded: int = 0
    deleted: Counts = field(default_factory=dict)
    tiers: Counts = field(default_factory=dict)
    kinds: Counts = field(default_factory=dict)
    lifetimes: Counts = field(default_factory=dict)
    agents: Counts = field(default_factory=dict)
    anchors: int = 0
    links: Counts = field(default_factory=dict)
    versions: int = 0
    with_vector: int = 0
    model: str = ""
    figures: Counts = field(default_factory=dict)
    upkeep_at: str = ""
    upkeep: Mapping[str, Counts] = field(default_factory=dict)
    is_under_way: bool = False
    suspicions: int = 0
    unreflected: int = 0


@repeats_when_cut
def statistics_of(room: Room, *, agent: str = "") -> Statistics:
    """Return the counts of the fragments that a caller sees, "" for all.

    The figures of the state, the versions, the suspicions and the upkeep are those of the whole
    room, but where agents are kept apart. Raises FragmentsError, DatabaseError.
    """
    own = readers(room, agent)
    mine = room.own or own
    live = Wanted(agents=own)
    with room.engine.reading() as reading:
        state, kinds = reading.state(), reading.count(live, "kind")
        return Statistics(
            live=sum(kinds.values()),
            superseded=_one(reading, Wanted(agents=own, state="superseded")),
            deleted=reading.count(Wanted(agents=own, state="bin"), "deletion"),
            tiers=reading.count(live, "tier"),
            kinds=kinds,
            lifetimes=reading.count(live, "lifetime"),
            agents=reading.count(live, "agent"),
            anchors=_one(reading, Wanted(agents=own, is_anchor=True)),
            links=reading.count_links(Wanted(agents=own, state="kept")),
            versions=reading.count_entries(Version),
            with_vector=_one(reading, Wanted(agents=own, has_vector=True)),
            model=state.get(MODEL, ""),
            figures={} if room.agent else _figures(state),
            upkeep_at=state.get(ENDED, ""),
            upkeep={} if room.agent else _upkeep(state),
            is_under_way=RUN in state,
            suspicions=reading.count_entries(Suspicion),
            unreflected=sum(is_over(it, room.clock()) for it in unreflected(reading, mine)),
        )


def _one(reading: Rows, wanted: Wanted) -> int:
    return sum(reading.count(wanted).values())


def _figures(state: Mapping[str, str]) -> dict[str, int]:
    """Return what is counted in the state; `purged` is always there."""
    counted = {name: int(value) for name, value in state.items() if value.isdecimal()}
    return {"purged": 0, **counted}


def _upkeep(state: Mapping[str, str]) -> dict[str, Counts]:
    try:
        given = json.loads(state.get(FIGURES, "{}"))
    except (ValueError, RecursionError):  # another program's
        return {}
    return given if isinstance(given, dict) else {}
