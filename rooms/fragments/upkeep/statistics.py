"""Counts the fragments, what the room has done with them, and what was said of its tools."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from rooms.fragments.activity import is_over, unreflected
from rooms.fragments.fragment import Suspicion, ToolFeedback, Version, Wanted
from rooms.fragments.room import Room, readers, repeats_when_cut
from rooms.fragments.storage.rows import Rows

# Names in the state: what made the vectors; how far the upkeep is; when the last one began, and
# what it did.
MODEL, RUN, ENDED, FIGURES = "embedding_model", "upkeep", "upkeep_at", "upkeep_figures"

_LATEST = 3
Counts = Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """How many fragments there are, and how they are kept.

    live: those that can be recalled; superseded: those with a successor; deleted: those in the bin,
    by why they are there. tiers, kinds, lifetimes, agents, anchors, with_vector: of the live ones.
    model: what made the vectors, "" for nothing; least_cosine: from which a fragment may answer by
    its vector alone, 0 without a model. links: from fragments that are not in the bin, by
    relation. versions: those before an amendment. figures: what the room has counted since it is
    there, such as `purged`: those that have left the bin for good; {} for an agent of a team, as it
    counts what others have, and so is upkeep. upkeep_at: when the last upkeep began that was ended,
    "" for none; upkeep: what it did, by step. is_under_way: whether one has begun and not ended.
    suspicions: pairs that wait to be settled. unreflected: sessions that wrote something and that
    nobody has reflected on.
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
        """How many fragments are kept that no recall finds: `total` of memory_stats has none."""
        return self.superseded + sum(self.deleted.values())


@repeats_when_cut
def statistics_of(room: Room) -> Statistics:
    """Return the counts of the fragments that the agent of the room sees.

    The figures of the state, the versions, the suspicions and the upkeep are those of the whole
    room, but where agents are kept apart. Raises FragmentsError, DatabaseError.
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
    """Return what is counted in the state; `purged` is always there."""
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
    """What was said of the answers of one tool.

    relevant, sufficient: the shares of the answers that were, from 0 to 1. suggestions: the latest,
    the newest first.
    """

    tool: str
    count: int
    relevant: float
    sufficient: float
    suggestions: tuple[str, ...]


def feedback_by_tool(rows: Rows) -> list[OfTool]:
    """Return what was said of each tool, those named most first."""
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
