"""Counts the fragments, the work of the room, and the feedback on its tools."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from rooms.fragments.activity import is_over, unreflected
from rooms.fragments.fragment import Suspicion, ToolFeedback, Version, Wanted
from rooms.fragments.room import Room, readers, repeats_when_cut
from rooms.fragments.storage.rows import Rows

# Names in the state: the model of the vectors; the progress of the upkeep; the start of the last
# one, and its changes.
MODEL, RUN, ENDED, FIGURES = "embedding_model", "upkeep", "upkeep_at", "upkeep_figures"

_LATEST = 3
Counts = Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """Counts of fragments, and how they are kept.

    deleted: in the bin, by reason. tiers, kinds, lifetimes, agents, anchors, with_vector: of the
    live fragments. links: from fragments outside the bin, by relation. model: of the vectors, ""
    for none. least_cosine: of a fragment found by its vector alone, 0 without a model. figures:
    counted since the room exists, such as `purged`, gone for good. upkeep: changes of the last one,
    by step. Both are {} for an agent of a team: they count others' fragments. upkeep_at: start of
    the last finished one, "" for none. unreflected: past sessions that wrote and never reflected.
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
    least_cosine: float = 0.0
    figures: Counts = field(default_factory=dict)
    upkeep_at: str = ""
    upkeep: Mapping[str, Counts] = field(default_factory=dict)
    is_under_way: bool = False
    suspicions: int = 0
    unreflected: int = 0

    @property
    def left_out(self) -> int:
        """Fragments that no recall finds; `total` of memory_stats leaves them out."""
        return self.superseded + sum(self.deleted.values())


@repeats_when_cut
def statistics_of(room: Room) -> Statistics:
    """Return the counts of the fragments that the room's agent sees.

    State, versions, suspicions and upkeep are of the whole room, unless agents are kept apart.
    Raises FragmentsError, DatabaseError.
    """
    own = readers(room, "")
    live = Wanted(agents=own)
    with room.engine.reading() as rows:
        state, kinds = rows.state(), rows.count(live, "kind")
        writers = unreflected(rows, room.own)
        return Statistics(
            live=sum(kinds.values()),
            superseded=_one(rows, Wanted(agents=own, state="superseded")),
            deleted=rows.count(Wanted(agents=own, state="bin"), "deletion"),
            tiers=rows.count(live, "tier"),
            kinds=kinds,
            lifetimes=rows.count(live, "lifetime"),
            agents=rows.count(live, "agent"),
            anchors=_one(rows, Wanted(agents=own, is_anchor=True)),
            links=rows.count_links(Wanted(agents=own, state="kept")),
            versions=rows.count_entries(Version),
            with_vector=_one(rows, Wanted(agents=own, has_vector=True)),
            model=(model := state.get(MODEL, "")),
            least_cosine=round(_least_cosine(room, state), 4) if model else 0.0,
            figures={} if room.agent else _figures(state) | room.engine.figures(),
            upkeep_at=state.get(ENDED, ""),
            upkeep={} if room.agent else _upkeep(state),
            is_under_way=RUN in state,
            suspicions=rows.count_entries(Suspicion),
            unreflected=sum(is_over(it, room.clock()) for it in writers),
        )


def _least_cosine(room: Room, state: Mapping[str, str]) -> float:
    from rooms.fragments.models.vectors import cosines_of  # only with a model

    measured = cosines_of(state).least
    return measured if room.config.least_cosine is None else room.config.least_cosine


def _one(rows: Rows, wanted: Wanted) -> int:
    return sum(rows.count(wanted).values())


def _figures(state: Mapping[str, str]) -> dict[str, int]:
    counted = {name: int(value) for name, value in state.items() if value.isdecimal()}
    return {"purged": 0, **counted}


def _upkeep(state: Mapping[str, str]) -> dict[str, Counts]:
    try:
        done = json.loads(state.get(FIGURES, "{}"))
    except (ValueError, RecursionError):  # another program's
        return {}
    return done if isinstance(done, dict) else {}


@dataclass(frozen=True, slots=True)
class OfTool:
    """Feedback on one tool.

    relevant, sufficient: shares of its answers, from 0 to 1. suggestions: the latest first.
    """

    tool: str
    count: int
    relevant: float
    sufficient: float
    suggestions: tuple[str, ...]


def feedback_by_tool(rows: Rows) -> list[OfTool]:
    """Return the feedback on each tool, the most first."""
    by_tool = dict[str, list[ToolFeedback]]()
    for feedback in rows.entries(ToolFeedback):
        by_tool.setdefault(feedback.tool_name, []).append(feedback)
    tools = list[OfTool]()
    for tool, some in by_tool.items():
        count = len(some)
        relevant, sufficient = (sum(it.relevant for it in some), sum(it.sufficient for it in some))
        suggestions = dict.fromkeys(it.suggestion for it in reversed(some) if it.suggestion.strip())
        latest = tuple(suggestions)[:_LATEST]
        tools.append(OfTool(tool, count, relevant / count, sufficient / count, latest))
    return sorted(tools, key=lambda it: (-it.count, it.tool))
