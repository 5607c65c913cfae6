"""Counts recalls: a used fragment stays, but is not recalled the more for it."""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import groupby

from core.config import DEFAULT_AGENT
from core.room.database import DatabaseError
from rooms.fragments.fragment import Fragment, hash_of
from rooms.fragments.room import Room
from rooms.fragments.storage.rows import Rows

Count = Callable[[Room, Sequence[Fragment], str], object]  # counts one use of each, in a session

_ANSWER_S = 0.1  # for an answer to be written by this process, before its use is counted
_WAIT_S = 0.05  # for others who write: nobody waits longer for a count

_LOCK = threading.Lock()
_WAITING: dict[tuple[Room, str], list[Fragment]] = {}  # by room and session


def count_later(room: Room, fragments: Sequence[Fragment], session: str) -> None:
    """Count as `count_use` after the answer, in a thread that may end with the process.

    Later recalls share its transaction.
    """
    with _LOCK:
        is_first = not _WAITING
        _WAITING.setdefault((room, session), []).extend(fragments)
    if is_first:
        timer = threading.Timer(_ANSWER_S, _count_waiting)
        timer.daemon, timer.name = True, "fragments-use"
        timer.start()


def _count_waiting() -> None:
    with _LOCK:
        waiting = dict(_WAITING)
        _WAITING.clear()
    for (room, session), fragments in waiting.items():
        count_use(room, fragments, session)


def count_use(room: Room, fragments: Sequence[Fragment], session: str) -> bool:
    """Count a use of each fragment; return False where the database is busy or read-only.

    fragments: twice if recalled twice. A used fragment becomes hot. session: "" for none. A shared
    fragment is counted as its owner, by numbers alone: else it would age though everybody uses it.
    """
    # Whose session it was is nobody else's business, and two agents may have one of this name.
    theirs = hash_of(f"{room.agent} {session}") if session else ""
    shares = (
        (room, session, [it for it in fragments if room.owns(it)]),
        (room.for_agent(DEFAULT_AGENT), theirs, [it for it in fragments if not room.owns(it)]),
    )
    is_done = True
    for writer, name, some in shares:
        try:
            if some:
                with writer.engine.writing(wait_s=_WAIT_S) as rows:
                    _count(rows, Counter(it.number for it in some), name, room.clock())
        except DatabaseError:
            is_done = False
    return is_done


def _count(rows: Rows, times: Counter[int], session: str, now: str) -> None:
    def counts(fragment: Fragment) -> tuple[int, int, bool]:
        is_other = bool(session) and fragment.last_session != session
        uses = fragment.access_count + times[fragment.number]
        return uses, fragment.sessions_count + is_other, fragment.tier == "permanent"

    now_there = sorted(rows.by_numbers(times), key=counts)
    for (uses, sessions, is_permanent), some in groupby(now_there, counts):
        values: dict[str, object] = {
            "access_count": uses,
            "accessed_at": now,
            "sessions_count": sessions,
        }
        if session:
            values["last_session"] = session
        if not is_permanent:
            values["tier"] = "hot"
        rows.touch([it.number for it in some], values)
