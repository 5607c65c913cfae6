"""Hands a fragment over to the memory log of a project.

The log is written first, by whoever calls: then the fragment leaves recall and names its record. It
stays in the database, so that nothing is lost and nothing is told twice.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from rooms.fragments.errors import SavingError
from rooms.fragments.fragment import Fragment, Wanted
from rooms.fragments.room import Room, readers
from rooms.fragments.standing import changeable, changing, kept
from rooms.fragments.storage.rows import Rows

IMPORTANCE, SESSIONS = 0.8, 3  # of what has earned it: so important, recalled in so many sessions
KINDS = ("error", "procedure")
TEAM = "team"  # the privacy of what its author wants to be promoted
_AT_ONCE = 300


class Said(NamedTuple):
    """What a fragment says to a log: what was missing, and the lesson; "" for what it does not."""

    gap: str
    lesson: str


def said_by(room: Room, id_: str) -> tuple[Fragment, Said]:
    """Return a fragment, and what it says to a log.

    An error is what was missing and its cure the lesson; a procedure is the lesson, and the error
    that it resolves what was missing. Raises FragmentsError, DatabaseError.
    """
    with room.engine.reading() as reading:
        fragment = kept(reading, id_, readers(room, ""))
        if not room.owns(fragment):
            raise SavingError("shared", id=fragment.id, owner=fragment.agent)
        if fragment.superseded_at and not fragment.promoted:
            raise SavingError("is_superseded", id=fragment.id)
        if fragment.kind == "error":
            return fragment, Said(fragment.content, _beside(reading, fragment, is_error=True))
        return fragment, Said(_beside(reading, fragment, is_error=False), fragment.content)


def promote(room: Room, id_: str, record: str) -> Fragment:
    """Take a fragment out of recall, for a log has it now. Raises FragmentsError, DatabaseError.

    record: its id there.
    """
    now = room.clock()
    with changing(room, id_) as writing:
        found = changeable(writing, room, id_, readers(room, ""))
        done = replace(found, superseded_at=found.superseded_at or now, promoted=record)
        writing.replace([done])
    return done


def has_earned_it(fragment: Fragment) -> bool:
    """Return whether a live fragment is worth a place in the log of a project."""
    is_used = fragment.importance >= IMPORTANCE and fragment.sessions_count >= SESSIONS
    return fragment.privacy == TEAM or (fragment.kind in KINDS and is_used)


def for_the_log(reading: Rows, agents: Sequence[str], most: int) -> list[Fragment]:
    """Return what has earned a place in the log of a project, what its author asks for first.

    An error whose cure is a lesson by now is not among it, and neither is the cure of such an
    error. agents: whose, () for all. most: how many at most.
    """
    found = list[Fragment]()
    wanted = [Wanted(agents=tuple(agents), privacy=TEAM)]
    for is_anchor in (True, False):  # each of them the most important first
        wanted.append(Wanted(agents=tuple(agents), kinds=KINDS, is_anchor=is_anchor))
    for at, of in enumerate(wanted):
        offset = 0
        while page := reading.find(of, order="worth", limit=_AT_ONCE, offset=offset):
            earned = [it for it in page if has_earned_it(it) and (not at or it.privacy != TEAM)]
            found += _untold(reading, earned)
            offset += len(page)
            if len(found) >= most:
                return found[:most]
            if at and page[-1].importance < IMPORTANCE:
                break
    return found


def _untold(reading: Rows, fragments: Sequence[Fragment]) -> list[Fragment]:
    """Return those that no lesson says: an error and its cure are one lesson."""
    links = reading.links([it.id for it in fragments], ["resolved_by"])
    ends = {end for it in links for end in (it.from_id, it.to_id)}
    promoted = {it.id for it in reading.by_ids(ends) if it.promoted and not it.deleted_at}
    pairs = [{it.from_id, it.to_id} for it in links]
    told = {end for pair in pairs if pair & promoted for end in pair}
    return [it for it in fragments if it.id not in told]


def _beside(reading: Rows, fragment: Fragment, *, is_error: bool) -> str:
    """Return what cured an error, or the error that this one cured; "" where nothing says it."""
    links = reading.links([fragment.id], ["resolved_by"])
    ends = [it.to_id if is_error else it.from_id for it in links]
    found = reading.by_ids(it for it in ends if it != fragment.id)
    others = [it for it in found if it.is_live or (it.promoted and not it.deleted_at)]
    return others[-1].content if others else ""
