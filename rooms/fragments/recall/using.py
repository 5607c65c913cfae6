"""Counts that fragments were recalled: what is used stays, and is not recalled the more for it."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import groupby
from threading import Timer

from core.disk.database import DatabaseError
from rooms.fragments.engine import Writing
from rooms.fragments.fragment import Fragment
from rooms.fragments.room import Room

After = Callable[[Callable[[], object]], object]  # says when an action is done

_ANSWER_S = 0.1  # for an answer to be written by this process
_WAIT_S = 0.05  # for others who write: nobody waits longer for a count


def at_once(action: Callable[[], object]) -> None:
    """Do it now."""
    action()


def in_background(action: Callable[[], object]) -> None:
    """Do it once the answer is out, in a thread that may end with the process."""
    timer = Timer(_ANSWER_S, action)
    timer.daemon, timer.name = True, "fragments-use"
    timer.start()


def count_use(room: Room, fragments: Sequence[Fragment], session: str) -> bool:
    """Count one more use of each of these; return False where the database is busy or read-only.

    Recalled again, a fragment is hot again. session: that of the recall, "" for none.
    """
    if not fragments:
        return True
    with suppress(DatabaseError), room.engine.writing(wait_s=_WAIT_S) as writing:
        _count(writing, [it.number for it in fragments], session, room.clock())
        return True
    return False


def _count(writing: Writing, numbers: Sequence[int], session: str, now: str) -> None:
    def counts(fragment: Fragment) -> tuple[int, int, bool]:
        is_other = bool(session) and fragment.last_session != session
        sessions = fragment.sessions_count + is_other
        return fragment.access_count + 1, sessions, fragment.tier == "permanent"

    now_there = sorted(writing.by_numbers(numbers), key=counts)
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
        writing.touch([it.number for it in some], values)
