"""Keeps what each session did, and puts away what it needed only while it ran."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from core.config import NAME_CHARS
from core.lessons.record_text import minute_of
from core.messages import say
from core.text.plain import estimate_tokens
from rooms.fragments.errors import SavingError
from rooms.fragments.fragment import (
    SITUATION_CHARS,
    SUGGESTION_CHARS,
    TYPES,
    Activity,
    Fragment,
    ToolFeedback,
    Wanted,
    hash_of,
)
from rooms.fragments.room import Room, named, writer
from rooms.fragments.standing import after, fresh_id, same_content
from rooms.fragments.storage.engine import pages_of
from rooms.fragments.storage.rows import Rows
from rooms.fragments.texts import Given, cleaned

TOPIC = "session"
IDLE = timedelta(hours=4)  # a client that kills its server ends no session
GONE = timedelta(days=1)  # after so long without a call a session is ended by the upkeep


class Ended(NamedTuple):
    """What the end of a session did.

    forgotten: how many fragments of its working memory went to the bin. reflected: what was noted
    of it by itself, None where it wrote nothing, or `reflect` was called in it.
    """

    forgotten: int
    reflected: Fragment | None = None


def note(writing: Rows, room: Room, session: str, agent: str, *, wrote: int = 0) -> None:
    """Count one call of a session, and how many fragments it wrote; "" is no session."""
    key, now = named("sessionId", session), room.clock()
    if not key:
        return
    known = _of(writing, room, key)
    known = known or Activity(session_id=key, agent=writer(room, agent), started_at=now)
    calls, written = known.calls + 1, known.written + wrote
    writing.note([replace(known, last_at=now, calls=calls, written=written, ended_at="")])


def note_reflection(writing: Rows, room: Room, session: str) -> None:
    """Note that `reflect` was called in a session that is noted; others are none."""
    key = named("sessionId", session)
    known = _of(writing, room, key) if key else None
    if known:
        writing.note([replace(known, reflected_at=room.clock())])


def end_session(room: Room, session: str) -> Ended:
    """End a session: its working memory goes to the bin, but for what is pinned.

    Where it wrote something and nobody reflected, one fact says so for 48 hours. Ending it again
    changes nothing. Of two agents with a session of one name it is that of the room's agent. Raises
    FragmentsError, DatabaseError.
    """
    key, now = named("sessionId", session), room.clock()
    if not key or not room.engine.exists():
        return Ended(0)
    with room.engine.writing() as writing:
        wanted = Wanted(session=key, lifetimes=("working",), state="kept", is_anchor=False)
        gone = [it for some in pages_of(writing, wanted) for it in some if room.owns(it)]
        writing.replace([replace(it, deleted_at=now, deletion="ended") for it in gone])
        writing.count_up({"ended": len(gone)})
        known, reflected = _of(writing, room, key), None
        if known and not known.ended_at:
            writing.note([replace(known, ended_at=now)])
            if known.written and not known.reflected_at:
                reflected = _noted(writing, room, known, now)
    return Ended(len(gone), reflected)


def end_idle_sessions(room: Room, *, silent_for: timedelta = GONE) -> int:
    """End the sessions that have had no call for so long, each as its own agent; return how many.

    A client may kill its server before that can end its session. Raises FragmentsError,
    DatabaseError.
    """
    before = _earlier(room.clock(), silent_for)
    with room.engine.reading() as reading:
        found: list[Activity] = reading.entries(Activity)
    idle = [it for it in found if not it.ended_at and it.last_at < before]
    for it in idle:
        end_session(room.for_agent(it.agent), it.session_id)
    return len(idle)


def unreflected(reading: Rows, agents: Sequence[str], *, since: str = "") -> list[Activity]:
    """Return the sessions of these agents, () for all, that wrote something and never reflected.

    since: the moment of their last call, or a later one.
    """
    found: list[Activity] = reading.entries(Activity, since=since)
    return [
        it
        for it in found
        if it.written and not it.reflected_at and (not agents or it.agent in agents)
    ]


def is_over(activity: Activity, now: str) -> bool:
    """Return whether a session has ended, or has been without a call for so long that it counts."""
    return bool(activity.ended_at) or activity.last_at < _earlier(now, IDLE)


def _earlier(now: str, by: timedelta) -> str:
    return (datetime.fromisoformat(now) - by).isoformat(timespec="seconds")


def _minutes_of(activity: Activity) -> int:
    """Return how long a session was; 0 where the clock was set back, or its moments are none."""
    try:
        start, last = map(datetime.fromisoformat, (activity.started_at, activity.last_at))
        return max(round((last - start).total_seconds() / 60), 0)
    except (TypeError, ValueError):
        return 0


def _of(reading: Rows, room: Room, session: str) -> Activity | None:
    found: list[Activity] = reading.entries(Activity, of=session)
    return next((it for it in found if room.agent in ("", it.agent)), None)


def _noted(writing: Rows, room: Room, ended: Activity, now: str) -> Fragment:
    """Store what is known of a session that nobody reflected on."""
    content = say(
        "fragments.saving.unreflected",
        agent=ended.agent,
        date=minute_of(ended.started_at),
        minutes=_minutes_of(ended),
        calls=ended.calls,
        written=ended.written,
    )
    known = same_content(writing, ended.agent, hash_of(content))
    if known:
        return known
    row = TYPES["episodic"]
    [made] = writing.add(
        [
            Fragment(
                id=fresh_id(writing),
                content=content,
                topic=TOPIC,
                keywords=(TOPIC, ended.agent),
                kind=row.kind,
                lifetime=row.lifetime,
                importance=row.importance,
                content_hash=hash_of(content),
                source=ended.session_id,
                agent=ended.agent,
                created_at=now,
                updated_at=now,
                verified_at=now,
                checked_at=now,  # two sessions are two facts, however alike their words are
                estimated_tokens=estimate_tokens(content),
                expires_at=after(now, TYPES["working"].hours),
            )
        ]
    )
    writing.count_up({"remembered": 1})
    return made


TRIGGERS = "voluntary", "sampled"


def give_feedback(room: Room, feedback: ToolFeedback) -> None:
    """Note a feedback, of now unless it has a moment. Raises FragmentsError, DatabaseError."""
    trigger = feedback.trigger_type.strip().lower() or TRIGGERS[0]
    if trigger not in TRIGGERS:
        raise SavingError("bad_trigger", known=", ".join(TRIGGERS))
    session = named("session_id", feedback.session_id)
    given = [
        Given("tool_name", feedback.tool_name, NAME_CHARS, may_be_blank=False),
        Given("suggestion", feedback.suggestion, SUGGESTION_CHARS),
        Given("context", feedback.context, SITUATION_CHARS),
    ]
    tool_name, suggestion, context = cleaned(given, strict=room.settings.strict).texts
    done = replace(
        feedback,
        tool_name=tool_name,
        suggestion=suggestion,
        context=context,
        session_id=session,
        trigger_type=trigger,
        created_at=feedback.created_at or room.clock(),
        agent=writer(room, ""),
    )
    with room.engine.writing() as writing:
        writing.note([done])
        note(writing, room, session, "")
