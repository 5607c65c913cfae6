"""Counts the fragments, the work of the room, and the feedback on its tools."""

import json
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from rooms.fragments.activity import is_over, unreflected
from rooms.fragments.fragment import By, Suspicion, ToolFeedback, Version, Wanted
from rooms.fragments.room import Room, readers, repeats_when_cut
from rooms.fragments.storage.rows import Rows

# Names in the state: the model of the vectors; the progress of the upkeep; the start of the last
# one, and its changes.
MODEL, RUN, ENDED, FIGURES = "embedding_model", "upkeep", "upkeep_at", "upkeep_figures"

_COUNTED: tuple[By, ...] = ("tier", "kind", "lifetime", "agent")  # of live fragments
_LATEST = 3


@repeats_when_cut
def statistics_of(room: Room) -> dict[str, Any]:
    """Return the counts of the fragments that the room's agent sees, and how they are kept.

    State, versions, suspicions and upkeep are of the whole room, unless agents are kept apart.
    Raises FragmentsError, DatabaseError.
    """
    own = readers(room, "")
    live, upkeep, least = Wanted(agents=own), {}, 0.0
    with room.engine.reading() as rows:

        def total(wanted: Wanted) -> int:
            return sum(rows.count(wanted).values())

        state = rows.state()
        model = state.get(MODEL, "")
        if model:
            from rooms.fragments.models.vectors import cosines_of  # only with a model

            measured = cosines_of(state).least
            least = measured if room.config.least_cosine is None else room.config.least_cosine
        with suppress(ValueError, RecursionError):  # another program's
            upkeep = json.loads(state.get(FIGURES, "{}"))
        counted = {name: int(value) for name, value in state.items() if value.isdecimal()}
        return {
            "live": total(live),
            "superseded": total(Wanted(agents=own, state="superseded")),
            "deleted": rows.count(Wanted(agents=own, state="bin"), "deletion"),
            **{f"{by}s": rows.count(live, by) for by in _COUNTED},
            "anchors": total(Wanted(agents=own, is_anchor=True)),
            "links": rows.count_links(Wanted(agents=own, state="kept")),
            "versions": rows.count_entries(Version),
            "with_vector": total(Wanted(agents=own, has_vector=True)),
            "model": model,  # of the vectors
            "least_cosine": round(least, 4),  # to be found by a vector alone, 0 without a model
            # Since the room exists, such as `purged`, and the changes of the last upkeep by step;
            # none for an agent of a team: they count others' fragments.
            "figures": {} if room.agent else {"purged": 0, **counted} | room.engine.figures(),
            "upkeep_at": state.get(ENDED, ""),
            "upkeep": upkeep if isinstance(upkeep, dict) and not room.agent else {},
            "is_under_way": RUN in state,
            "suspicions": rows.count_entries(Suspicion),
            "unreflected": sum(is_over(it, room.clock()) for it in unreflected(rows, room.own)),
        }


@dataclass(frozen=True, slots=True)
class OfTool:
    """Feedback on one tool."""

    tool: str
    count: int
    relevant: float  # share of its answers, from 0 to 1
    sufficient: float
    suggestions: tuple[str, ...]  # the latest first


def feedback_by_tool(rows: Rows) -> list[OfTool]:
    """Return the feedback on each tool, the most first."""
    by_tool, tools = dict[str, list[ToolFeedback]](), list[OfTool]()
    for feedback in rows.entries(ToolFeedback):
        by_tool.setdefault(feedback.tool_name, []).append(feedback)
    for tool, some in by_tool.items():
        count, relevant = len(some), sum(it.relevant for it in some)
        sufficient = sum(it.sufficient for it in some)
        suggestions = dict.fromkeys(it.suggestion for it in reversed(some) if it.suggestion.strip())
        latest = tuple(suggestions)[:_LATEST]
        tools.append(OfTool(tool, count, relevant / count, sufficient / count, latest))
    return sorted(tools, key=lambda it: (-it.count, it.tool))
