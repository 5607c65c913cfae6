"""Notes the calls of each session and feedback on tools, and counts recalls."""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from core.config import DEFAULT_AGENT, NAME_CHARS
from core.room.database import DatabaseError
from rooms.fragments import texts
from rooms.fragments.fragment import Activity, Fragment, ToolFeedback, hash_of
from rooms.fragments.room import Room, named, writer
from rooms.fragments.storage.rows import Rows
from rooms.fragments.upkeep.life import before

IDLE_HOURS = 4  # a client that kills its server ends no session
Count = Callable[[Room, Sequence[Fragment], str], None]  # counts one use of each, in a session
_ANSWER_S = 0.1  # for an answer to be written by this process, before its use is counted
_WAIT_S = 0.05  # for others who write: nobody waits longer for a count
_LOCK = threading.Lock()
_WAITING: dict[tuple[Room, str], list[Fragment]] = {}  # by room and session


def note(
    rows: Rows, room: Room, session: str, agent: str, *, wrote: int = 0, has_reflected: bool = False
) -> None:
    """Count one call of a session, which reopens it; "" is no session. wrote: new fragments."""
    key, now = named("sessionId", session), room.clock()
    if not key:
        return
    known = activity_of(rows, room, key)
    known = known or Activity(session_id=key, agent=writer(room, agent), started_at=now)
    changed = replace(
        known,
        last_at=now,
        calls=known.calls + 1,
        written=known.written + wrote,
        reflected_at=now if has_reflected else known.reflected_at,
        ended_at="",
    )
    rows.note([changed])


def give_feedback(room: Room, feedback: ToolFeedback) -> None:
    """Store a feedback, of now unless it has a moment."""
    session = named("session_id", feedback.session_id)
    given = [
        texts.Text("tool_name", feedback.tool_name, NAME_CHARS, may_be_blank=False),
        texts.Text("suggestion", feedback.suggestion, texts.SUGGESTION_CHARS),
        texts.Text("context", feedback.context, texts.SITUATION_CHARS),
    ]
    clean, _ = texts.cleaned(given, strict=room.settings.strict)
    fields: dict[str, Any] = {it.field: text for it, text in zip(given, clean, strict=True)}
    done = replace(
        feedback,
        **fields,
        session_id=session,
        created_at=feedback.created_at or room.clock(),
        agent=writer(room, ""),
    )
    with room.engine.writing() as rows:
        rows.note([done])
        note(rows, room, session, "")


def unreflected(rows: Rows, agents: Sequence[str], *, since: str = "") -> list[Activity]:
    """Return sessions of these agents, () for all, that wrote and never reflected, since then."""
    found: list[Activity] = rows.entries(Activity, since=since)
    own = [each for each in found if not agents or each.agent in agents]
    return [each for each in own if each.written and not each.reflected_at]


def is_over(activity: Activity, now: str) -> bool:
    """Return whether a session ended, or was idle for `IDLE_HOURS`."""
    return bool(activity.ended_at) or activity.last_at < before(now, hours=IDLE_HOURS)


def activity_of(rows: Rows, room: Room, session: str) -> Activity | None:
    """Return what is known of a session; two agents may have sessions of one name."""
    found: list[Activity] = rows.entries(Activity, of=session)
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
        try:
            with owner.engine.writing(wait_s=_WAIT_S) as rows:
                for it in rows.by_numbers(times):
                    sessions = it.sessions_count + (name not in ("", it.last_session))
                    values = {"accessed_at": now, "sessions_count": sessions}
                    values |= {"access_count": it.access_count + times[it.number]}
                    values |= {"last_session": name} if name else {}
                    values |= {} if it.tier == "permanent" else {"tier": "hot"}
                    rows.touch([it.number], values)
        except DatabaseError:
            continue
