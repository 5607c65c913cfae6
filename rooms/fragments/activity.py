"""Counts the calls of sessions, stores feedback on tools, and counts recalls and fragments."""

import json
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from core.config import DEFAULT_AGENT, NAME_CHARS
from core.room.database import DatabaseError
from rooms.fragments import fragment as schema
from rooms.fragments import texts
from rooms.fragments.fragment import Activity, Filter, Fragment, ToolFeedback, hash_of
from rooms.fragments.room import Room, agents_for, check_name, owner_for, repeats_when_cut
from rooms.fragments.storage.rows import Rows
from rooms.fragments.upkeep.life import moment_before

IDLE_HOURS = 4  # a client that kills its server ends no session
Count = Callable[[Room, Sequence[Fragment], str], None]  # counts one use of each, in a session
_ANSWER_S = 0.1  # for an answer to be written by this process, before its use is counted
_WAIT_S = 0.05  # for others who write: nobody waits longer for a count
_LOCK = threading.Lock()
_WAITING_USES: dict[tuple[Room, str], list[Fragment]] = {}  # by room and session
# Keys of the state: the model of the vectors; the progress of the upkeep; the start of the last
# upkeep, and its changes.
MODEL, PROGRESS, UPKEEP_AT, FIGURES = "embedding_model", "upkeep", "upkeep_at", "upkeep_figures"
_GROUPS: tuple[schema.Group, ...] = ("tier", "kind", "lifetime", "agent")  # of live fragments
_MOST_SUGGESTIONS = 3


def count_call(
    rows: Rows, room: Room, session: str, agent: str, *, new_count: int = 0, reflects: bool = False
) -> None:
    """Count one call of a session, "" for none; it reopens it. new_count: of fragments."""
    key, now = check_name("sessionId", session), room.clock()
    if not key:
        return
    activity = find_activity(rows, room, key)
    activity = activity or Activity(session_id=key, agent=owner_for(room, agent), started_at=now)
    activity = replace(
        activity,
        last_at=now,
        calls=activity.calls + 1,
        written=activity.written + new_count,
        reflected_at=now if reflects else activity.reflected_at,
        ended_at="",
    )
    rows.put_entries([activity])


def store_feedback(room: Room, feedback: ToolFeedback) -> None:
    session = check_name("session_id", feedback.session_id)
    raw_texts = [
        texts.Text("tool_name", feedback.tool_name, NAME_CHARS, may_be_blank=False),
        texts.Text("suggestion", feedback.suggestion, texts.SUGGESTION_CHARS),
        texts.Text("context", feedback.context, texts.SITUATION_CHARS),
    ]
    values, _ = texts.redact_texts(raw_texts, strict=room.settings.strict)
    fields: dict[str, Any] = {raw.field: text for raw, text in zip(raw_texts, values, strict=True)}
    fields |= {"session_id": session, "created_at": room.clock(), "agent": owner_for(room, "")}
    with room.engine.writing() as rows:
        rows.put_entries([replace(feedback, **fields)])
        count_call(rows, room, session, "")


def find_unreflected(rows: Rows, agents: Sequence[str], *, since: str = "") -> list[Activity]:
    """Return sessions of these agents, () for all, that wrote and never reflected, since then."""
    activities: list[Activity] = rows.entries(Activity, since=since)
    own_activities = [entry for entry in activities if not agents or entry.agent in agents]
    return [entry for entry in own_activities if entry.written and not entry.reflected_at]


def is_over(activity: Activity, now: str) -> bool:
    """Return whether a session ended, or was idle for `IDLE_HOURS`."""
    return bool(activity.ended_at) or activity.last_at < moment_before(now, hours=IDLE_HOURS)


def find_activity(rows: Rows, room: Room, session: str) -> Activity | None:
    """Return the activity of a session; two agents may have sessions of one name."""
    activities: list[Activity] = rows.entries(Activity, subject=session)
    return next((entry for entry in activities if room.agent in ("", entry.agent)), None)


def count_later(room: Room, fragments: Sequence[Fragment], session: str) -> None:
    """Count as `count_use` after the answer, in a thread; later recalls share its transaction."""

    def count_waiting() -> None:
        with _LOCK:
            uses = dict(_WAITING_USES)
            _WAITING_USES.clear()
        for (room, session), fragments in uses.items():
            count_use(room, fragments, session)

    with _LOCK:
        is_first = not _WAITING_USES
        _WAITING_USES.setdefault((room, session), []).extend(fragments)
    if is_first:
        timer = threading.Timer(_ANSWER_S, count_waiting)
        timer.daemon, timer.name = True, "fragments-use"  # it may end with the process
        timer.start()


def count_use(room: Room, fragments: Sequence[Fragment], session: str) -> None:
    """Count a use of each fragment; drop the count where the database is busy or read-only.

    fragments: twice if recalled twice. A used fragment becomes hot. session: "" for none. A shared
    fragment is counted as its owner, by numbers alone: else it would age though everybody uses it.
    """
    # Whose session it was is nobody else's business, and two agents may have one of this name.
    digest = hash_of(f"{room.agent} {session}") if session else ""
    own_fragments = [fragment for fragment in fragments if room.owns(fragment)]
    others = [fragment for fragment in fragments if not room.owns(fragment)]
    shares = (room, session, own_fragments), (room.for_agent(DEFAULT_AGENT), digest, others)
    now = room.clock()
    for owner, name, group in shares:
        if not group:
            continue
        times = Counter(fragment.number for fragment in group)
        groups = defaultdict[tuple[int, int, bool], list[int]](list)  # by the values to set
        try:
            with owner.engine.writing(wait_s=_WAIT_S) as rows:
                for fragment in rows.by_numbers(times):
                    uses = fragment.access_count + times[fragment.number]
                    sessions = fragment.sessions_count + (name not in ("", fragment.last_session))
                    groups[uses, sessions, fragment.tier == "permanent"].append(fragment.number)
                for (uses, sessions, is_permanent), numbers in groups.items():
                    values = {"access_count": uses, "accessed_at": now, "sessions_count": sessions}
                    values |= {"last_session": name} if name else {}
                    values |= {} if is_permanent else {"tier": "hot"}
                    rows.set_fields(numbers, values)
        except DatabaseError:
            continue


@repeats_when_cut
def statistics_of(room: Room) -> dict[str, Any]:
    """Return the counts of the fragments that the room's agent sees, and how they are kept.

    State, versions, suspicions and upkeep are of the whole room, unless agents are kept apart.
    Raises FragmentsError, DatabaseError.
    """
    agents = agents_for(room, "")
    live_filter, upkeep, cosine = Filter(agents=agents), {}, 0.0
    with room.engine.reading() as rows:

        def count_of(filter_: Filter) -> int:
            return sum(rows.count(filter_).values())

        state = rows.state()
        model = state.get(MODEL, "")
        if model:
            from rooms.fragments.models.vectors import cosines_of  # only with a model

            measured_cosine = cosines_of(state).answer_cosine
            cosine = (
                measured_cosine if room.config.least_cosine is None else room.config.least_cosine
            )
        with suppress(ValueError, RecursionError):  # another program's
            upkeep = json.loads(state.get(FIGURES, "{}"))
        counts = {f"{field}s": rows.count(live_filter, field) for field in _GROUPS}
        figures = {name: int(value) for name, value in state.items() if value.isdecimal()}
        silent_sessions = find_unreflected(rows, room.own_agents)
        return {
            "live": sum(counts["kinds"].values()),
            "superseded": count_of(Filter(agents=agents, state="superseded")),
            "deleted": rows.count(Filter(agents=agents, state="bin"), "deletion"),
            **counts,
            "anchors": count_of(Filter(agents=agents, is_anchor=True)),
            "links": rows.count_links(Filter(agents=agents, state="kept")),
            "versions": rows.count_entries(schema.Version),
            "with_vector": count_of(Filter(agents=agents, has_vector=True)),
            "model": model,  # of the vectors
            "least_cosine": round(cosine, 4),  # to be found by a vector alone, 0 without a model
            # Since the room exists, such as `purged`, and the changes of the last upkeep by step;
            # none for an agent of a team: they count others' fragments.
            "figures": {} if room.agent else {"purged": 0, **figures} | room.engine.figures(),
            "upkeep_at": state.get(UPKEEP_AT, ""),
            "upkeep": upkeep if isinstance(upkeep, dict) and not room.agent else {},
            "is_under_way": PROGRESS in state,
            "suspicions": rows.count_entries(schema.Suspicion),
            "unreflected": sum(is_over(entry, room.clock()) for entry in silent_sessions),
        }


@dataclass(frozen=True, slots=True)
class ToolSummary:
    """Feedback on one tool."""

    tool: str
    count: int
    relevant: float  # share of its answers, from 0 to 1
    sufficient: float
    suggestions: tuple[str, ...]  # the latest first


def feedback_by_tool(rows: Rows) -> list[ToolSummary]:
    """Return the feedback on each tool, the most first."""
    groups, summaries = dict[str, list[ToolFeedback]](), list[ToolSummary]()
    for feedback in rows.entries(ToolFeedback):
        groups.setdefault(feedback.tool_name, []).append(feedback)
    for tool, group in groups.items():
        count, relevant = len(group), sum(entry.relevant for entry in group)
        sufficient = sum(entry.sufficient for entry in group)
        suggestions = filter(str.strip, (entry.suggestion for entry in reversed(group)))
        latest = tuple(dict.fromkeys(suggestions))[:_MOST_SUGGESTIONS]
        summaries.append(ToolSummary(tool, count, relevant / count, sufficient / count, latest))
    return sorted(summaries, key=lambda summary: (-summary.count, summary.tool))
