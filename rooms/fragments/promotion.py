"""Hands a fragment over to the memory log of a project.

The caller writes the log first. Then the fragment leaves recall and names its record; it stays in
the database, so that nothing is lost or told twice.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from rooms.fragments.errors import SavingError
from rooms.fragments.fragment import Fragment, Wanted
from rooms.fragments.room import Room, readers
from rooms.fragments.standing import changeable, changing
from rooms.fragments.storage.rows import Rows

IMPORTANCE, SESSIONS = 0.8, 3  # that earn a place: so important, recalled in so many sessions
KINDS = ("error", "procedure")
TEAM = "team"  # the privacy of a fragment whose author wants it to be promoted
_AT_ONCE = 300


class Said(NamedTuple):
    """The texts of a record; "" where the fragments say none."""

    gap: str
    lesson: str


def said_by(room: Room, id_: str) -> tuple[Fragment, Said]:
    """Return a fragment, and the gap and lesson of its record.

    An error is the gap, its cure the lesson. Another fragment is the lesson, the error that it
    resolves the gap. Raises FragmentsError, DatabaseError.
    """
    with room.engine.reading() as rows:
        fragment = changeable(rows, room, id_, readers(room, ""))
        if fragment.superseded_at and not fragment.promoted:
            raise SavingError("is_superseded", id=fragment.id)
        is_error = fragment.kind == "error"
        links = rows.links([fragment.id], ["resolved_by"])
        ends = [link.to_id if is_error else link.from_id for link in links]
        found = rows.by_ids(end for end in ends if end != fragment.id)
        others = [each for each in found if each.is_live or (each.promoted and not each.deleted_at)]
        beside = others[-1].content if others else ""
    said = Said(fragment.content, beside) if is_error else Said(beside, fragment.content)
    return fragment, said


def promote(room: Room, id_: str, record: str) -> Fragment:
    """Take a fragment out of recall. record: its id in the log.

    Raises FragmentsError, DatabaseError.
    """
    now = room.clock()
    with changing(room, id_) as rows:
        found = changeable(rows, room, id_, readers(room, ""))
        done = replace(found, superseded_at=found.superseded_at or now, promoted=record)
        rows.replace([done])
    return done


def has_earned_it(fragment: Fragment) -> bool:
    """Return whether a live fragment belongs into a log, by its privacy or use."""
    is_used = fragment.importance >= IMPORTANCE and fragment.sessions_count >= SESSIONS
    return fragment.privacy == TEAM or (fragment.kind in KINDS and is_used)


def for_the_log(rows: Rows, agents: Sequence[str], most: int) -> list[Fragment]:
    """Return fragments for the log, first if their authors ask for it.

    agents: whose, () for all. An error and its cure are one record: if it is there, both are left
    out.
    """
    asked = Wanted(agents=tuple(agents), privacy=TEAM)
    used = Wanted(agents=tuple(agents), kinds=KINDS)
    found = list[Fragment]()
    # Pinned fragments are listed apart, so that the most important come first in each list.
    for wanted in (asked, replace(used, is_anchor=True), replace(used, is_anchor=False)):
        by_worth = most_important(rows, wanted, 0.0 if wanted.privacy else IMPORTANCE)
        other = (it for it in by_worth if wanted.privacy or it.privacy != TEAM)
        earned = filter(has_earned_it, other)
        while len(found) < most and (some := [*islice(earned, _AT_ONCE)]):
            found += _untold(rows, some)
    return found[:most]


def most_important(rows: Rows, wanted: Wanted, least: float = 0.0) -> Iterator[Fragment]:
    """Yield pinned fragments, then the most important, until one is below `least`.

    wanted: only pinned fragments, or only others, if there is a `least`.
    """
    at = 0
    while page := rows.find(wanted, order="worth", limit=_AT_ONCE, offset=at):
        for fragment in page:
            if fragment.importance < least:
                return
            yield fragment
        at += len(page)


def _untold(rows: Rows, fragments: Sequence[Fragment]) -> list[Fragment]:
    links = rows.links([each.id for each in fragments], ["resolved_by"])
    pairs = [{link.from_id, link.to_id} for link in links]
    ends = rows.by_ids(set[str]().union(*pairs))
    promoted = {each.id for each in ends if each.promoted and not each.deleted_at}
    told = {end for pair in pairs if pair & promoted for end in pair}
    return [each for each in fragments if each.id not in told]
