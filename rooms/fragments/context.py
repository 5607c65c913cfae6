"""Restores the fragments to know before any work: of everywhere, and of a session."""

from collections.abc import Sequence
from typing import NamedTuple

from core.text.plain import Budget
from rooms.fragments.activity import is_over, unreflected
from rooms.fragments.fragment import (
    CONTEXT_TOKENS,
    CONTEXT_TYPES,
    KINDS,
    Activity,
    Fragment,
    Wanted,
)
from rooms.fragments.recall import (
    Line,
    by_worth,
    check_type,
    is_current,
    plain_line,
    taken,
    worth_of,
)
from rooms.fragments.room import Room, readers, repeats_when_cut
from rooms.fragments.upkeep.life import before

_WORKING_SHARE = 0.25  # of the budget; its rest goes to the others
_MOST_ANCHORS = 500
_TOLD_DAYS = 7  # a session that ended before is no news


class Context(NamedTuple):
    """The restored fragments. core: pinned, then of most worth. working: the newest first.

    unreflected: past sessions that wrote and never reflected. left_out: how many fragments did not
    fit.
    """

    core: list[Fragment]
    working: list[Fragment]
    unreflected: list[Activity]
    left_out: int = 0


@repeats_when_cut
def restore_context(
    room: Room,
    *,
    tokens: int = CONTEXT_TOKENS,
    types: Sequence[str] = CONTEXT_TYPES,
    session: str = "",
    agent: str = "",
    line: Line = plain_line,
) -> Context:
    """Return the fragments for a session's start; this counts no use.

    tokens: of the answer. types: of `TYPES`; pinned fragments come anyway. session: whose working
    memory. agent, line: see `recall`. Raises FragmentsError, DatabaseError.
    """
    for word in types:
        check_type("types", word)
    agents, now = readers(room, agent), room.clock()
    worth = worth_of(room.config, now, has_order=True)
    since = before(now, days=_TOLD_DAYS)
    kinds = tuple(word for word in types if word in KINDS)
    lifetimes = tuple(word for word in types if word not in KINDS)
    typed = list[Fragment]()
    with room.engine.reading() as rows:
        anchors = rows.find(Wanted(agents=agents, is_anchor=True), limit=_MOST_ANCHORS)
        if kinds:
            typed += by_worth(rows, Wanted(agents=agents, kinds=kinds), worth)
        if lifetimes:
            typed += by_worth(rows, Wanted(agents=agents, lifetimes=lifetimes), worth)
        working = by_worth(rows, Wanted(agents=agents, lifetimes=("working",)), worth)
        silent = unreflected(rows, room.own or agents, since=since)
    working = [
        it
        for it in working
        if it.session in ("", session) and is_current(it, room, now, it.session)
    ]
    working.sort(key=lambda it: (it.created_at, it.number), reverse=True)
    ids = {it.id for it in working}
    best = [*sorted(anchors, key=worth, reverse=True), *sorted(typed, key=worth, reverse=True)]
    core = {
        it.id: it
        for it in best
        if it.id not in ids and not it.session and is_current(it, room, now, "")
    }
    budget = Budget(tokens, room.settings.budget_chars)
    share = budget.split_off(_WORKING_SHARE) if working else Budget(0, 0)
    own = list(taken(share, working, line))
    budget.add(share)
    kept = list(taken(budget, [*core.values()], line))
    others = [it for it in silent if it.session_id != session and is_over(it, now)]
    return Context(kept, own, others, len(core) + len(working) - len(kept) - len(own))
