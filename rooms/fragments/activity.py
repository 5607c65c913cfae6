"""Notes the calls of sessions and feedback on tools, and counts recalls and what is kept."""

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
_WAITING: dict[tuple[Room, str], list[Fragment]] = {}  # by room and session
# Names in the state: the model of the vectors; the progress of the upkeep; the start of the last
# one, and its changes.
MODEL, PROGRESS, UPKEEP_AT, FIGURES = "embedding_model", "upkeep", "upkeep_at", "upkeep_figures"
_COUNTED: tuple[schema.By, ...] = ("tier", "kind", "lifetime", "agent")  # of live fragments
_LATEST = 3


def note(
    rows: Rows, room: Room, session: str, agent: str, *, wrote: int = 0, has_reflected: bool = False
) -> None:
    """Count one call of a session, which reopens it; "" is no session. wrote: new fragments."""
    key, now = check_name("sessionId", session), room.clock()
    if not key:
        return
    known = find_activity(rows, room, key)
    known = known or Activity(session_id=key, agent=owner_for(room, agent), started_at=now)
    changed = replace(
        known,
        last_at=now,
        calls=known.calls + 1,
        written=known.written + wrote,
        reflected_at=now if has_reflected else known.reflected_at,
        ended_at="",
    )
    rows.note([changed])


def store_feedback(room: Room, feedback: ToolFeedback) -> None:
    """Store a feedback of now."""
    session = check_name("session_id", feedback.session_id)
    given = [
        texts.Text("tool_name", feedback.tool_name, NAME_CHARS, may_be_blank=False),
        texts.Text("suggestion", feedback.suggestion, texts.SUGGESTION_CHARS),
        texts.Text("context", feedback.context, texts.SITUATION_CHARS),
    ]
    clean, _ = texts.clean_texts(given, strict=room.settings.strict)
    fields: dict[str, Any] = {it.field: text for it, text in zip(given, clean, strict=True)}
    done = replace(
        feedback,
        **fields,
        session_id=session,
        created_at=room.clock(),
        agent=owner_for(room, ""),
    )
    with room.engine.writing() as rows:
        rows.note([done])
        note(rows, room, session, "")


def find_unreflected(rows: Rows, agents: Sequence[str], *, since: str = "") -> list[Activity]:
    """Return sessions of these agents, () for all, that wrote and never reflected, since then."""
    found: list[Activity] = rows.entries(Activity, since=since)
    own = [each for each in found if not agents or each.agent in agents]
    return [each for each in own if each.written and not each.reflected_at]


def is_over(activity: Activity, now: str) -> bool:
    """Return whether a session ended, or was idle for `IDLE_HOURS`."""
    return bool(activity.ended_at) or activity.last_at < moment_before(now, hours=IDLE_HOURS)


def find_activity(rows: Rows, room: Room, session: str) -> Activity | None:
    """Return what is known of a session; two agents may have sessions of one name."""
    found: list[Activity] = rows.entries(Activity, subject=session)
    return next((each for each in found if room.agent in ("", each.agent)), None)


def count_later(room: Room, fragments: Sequence[Fragment], session: str) -> None:
    """Count as `count_use` after the answer, in a thread; later recalls share its transaction."""

    def count_waiting() -> None:
        with _LOCK:
            waiting = dict(_WAITING)
            _WAITING.clear()
        for (room, session), fragments in waiting.items():
            count_use(room, fragments, session)

    with _LOCK:
        is_first = not _WAITING
        _WAITING.setdefault((room, session), []).extend(fragments)
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
    theirs = hash_of(f"{room.agent} {session}") if session else ""
    shares = (
        (room, session, [it for it in fragments if room.owns(it)]),
        (room.for_agent(DEFAULT_AGENT), theirs, [it for it in fragments if not room.owns(it)]),
    )
    now = room.clock()
    for owner, name, some in shares:
        if not some:
            continue
        times = Counter(it.number for it in some)
        alike = defaultdict[tuple[int, int, bool], list[int]](list)  # those that get equal values
        try:
            with owner.engine.writing(wait_s=_WAIT_S) as rows:
                for it in rows.by_numbers(times):
                    uses = it.access_count + times[it.number]
                    sessions = it.sessions_count + (name not in ("", it.last_session))
                    alike[uses, sessions, it.tier == "permanent"].append(it.number)
                for (uses, sessions, is_permanent), numbers in alike.items():
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
    own = agents_for(room, "")
    live, upkeep, least = Filter(agents=own), {}, 0.0
    with room.engine.reading() as rows:

        def total(wanted: Filter) -> int:
            return sum(rows.count(wanted).values())

        state = rows.state()
        model = state.get(MODEL, "")
        if model:
            from rooms.fragments.models.vectors import cosines_of  # only with a model

            measured = cosines_of(state).answer_cosine
            least = measured if room.config.least_cosine is None else room.config.least_cosine
        with suppress(ValueError, RecursionError):  # another program's
            upkeep = json.loads(state.get(FIGURES, "{}"))
        by = {f"{it}s": rows.count(live, it) for it in _COUNTED}
        counted = {name: int(value) for name, value in state.items() if value.isdecimal()}
        return {
            "live": sum(by["kinds"].values()),
            "superseded": total(Filter(agents=own, state="superseded")),
            "deleted": rows.count(Filter(agents=own, state="bin"), "deletion"),
            **by,
            "anchors": total(Filter(agents=own, is_anchor=True)),
            "links": rows.count_links(Filter(agents=own, state="kept")),
            "versions": rows.count_entries(schema.Version),
            "with_vector": total(Filter(agents=own, has_vector=True)),
            "model": model,  # of the vectors
            "least_cosine": round(least, 4),  # to be found by a vector alone, 0 without a model
            # Since the room exists, such as `purged`, and the changes of the last upkeep by step;
            # none for an agent of a team: they count others' fragments.
            "figures": {} if room.agent else {"purged": 0, **counted} | room.engine.figures(),
            "upkeep_at": state.get(UPKEEP_AT, ""),
            "upkeep": upkeep if isinstance(upkeep, dict) and not room.agent else {},
            "is_under_way": PROGRESS in state,
            "suspicions": rows.count_entries(schema.Suspicion),
            "unreflected": sum(
                is_over(it, room.clock()) for it in find_unreflected(rows, room.own_agents)
            ),
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
    by_tool, tools = dict[str, list[ToolFeedback]](), list[ToolSummary]()
    for feedback in rows.entries(ToolFeedback):
        by_tool.setdefault(feedback.tool_name, []).append(feedback)
    for tool, some in by_tool.items():
        count, relevant = len(some), sum(it.relevant for it in some)
        sufficient = sum(it.sufficient for it in some)
        suggestions = dict.fromkeys(it.suggestion for it in reversed(some) if it.suggestion.strip())
        latest = tuple(suggestions)[:_LATEST]
        tools.append(ToolSummary(tool, count, relevant / count, sufficient / count, latest))
    return sorted(tools, key=lambda it: (-it.count, it.tool))
