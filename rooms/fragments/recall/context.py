"""Restores what is to be known before any work: what holds everywhere, and what a session keeps."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from core.text.plain import Budget
from rooms.fragments.activity import is_over, unreflected
from rooms.fragments.fragment import KINDS, Activity, Fragment, Wanted
from rooms.fragments.recall.asked import check_type
from rooms.fragments.recall.fitting import Fitting
from rooms.fragments.recall.ordering import Worth, by_worth
from rooms.fragments.recall.recalling import Line, plain_line, taken
from rooms.fragments.room import Room, readers, repeats_when_cut
from rooms.fragments.storage.rows import Rows

DEFAULT_TOKENS = 2_000
DEFAULT_TYPES = ("preference", "error", "procedure")
_WORKING_SHARE = 0.25  # of the budget; what it leaves goes to the rest
_MOST_ANCHORS = 500
_TOLD_DAYS = 7  # a session that ended before is no news


class Context(NamedTuple):
    """What is restored.

    core: what is pinned, then what is worth most of the types that were asked for. working: of the
    session, the newest first. unreflected: sessions that are over, wrote something and never
    reflected. left_out: how many fragments did not fit.
    """

    core: list[Fragment]
    working: list[Fragment]
    unreflected: list[Activity]
    left_out: int = 0


@repeats_when_cut
def restore_context(
    room: Room,
    *,
    tokens: int = DEFAULT_TOKENS,
    types: Sequence[str] = DEFAULT_TYPES,
    session: str = "",
    agent: str = "",
    line: Line = plain_line,
) -> Context:
    """Return what a session should know at its start. It counts as no use of anything.

    tokens: of the whole answer. types: of `TYPES`; what is pinned comes whatever it is. session:
    whose working memory. agent, line: see `recall`. Raises FragmentsError, DatabaseError.
    """
    for word in types:
        check_type("types", word)
    agents, now = readers(room, agent), room.clock()
    fits = Fitting(Wanted(agents=agents), now=now, working_by=room.agent)
    worth = Worth(room.config, now, has_order=True)
    with room.engine.reading() as reading:
        anchors = reading.find(Wanted(agents=agents, is_anchor=True), limit=_MOST_ANCHORS)
        core = [*sorted(anchors, key=worth, reverse=True), *_typed(reading, types, agents, worth)]
        working = by_worth(reading, Wanted(agents=agents, lifetimes=("working",)), worth)
        since = datetime.fromisoformat(now) - timedelta(days=_TOLD_DAYS)
        told = unreflected(reading, room.own or agents, since=since.isoformat(timespec="seconds"))
    working = [it for it in working if it.session in ("", session) and fits(it)]
    working.sort(key=lambda it: (it.created_at, it.number), reverse=True)
    ids = {it.id for it in working}
    core = [it for it in core if it.id not in ids and not it.session and fits(it)]
    core = list({it.id: it for it in core}.values())
    budget = Budget(tokens, room.settings.budget_chars)
    beside = budget.split_off(_WORKING_SHARE) if working else Budget(0, 0)
    own = list(taken(beside, working, line))
    budget.add(beside)
    kept = list(taken(budget, core, line))
    others = [it for it in told if it.session_id != session and is_over(it, now)]
    return Context(kept, own, others, len(core) + len(working) - len(kept) - len(own))


def _typed(
    reading: Rows, types: Sequence[str], agents: tuple[str, ...], worth: Worth
) -> Iterator[Fragment]:
    kinds = tuple(it for it in types if it in KINDS)
    lifetimes = tuple(it for it in types if it not in KINDS)
    found = list[Fragment]()
    if kinds:
        found += by_worth(reading, Wanted(agents=agents, kinds=kinds), worth)
    if lifetimes:
        found += by_worth(reading, Wanted(agents=agents, lifetimes=lifetimes), worth)
    yield from sorted(found, key=worth, reverse=True)
