"""Recalls fragments: those that answer a question, the best first, within a budget of tokens."""

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from core.errors import SentinelError
from core.postgres.repeating import repeats_when_cut
from core.text.budget import Budget
from rooms.fragments.engine import Reading, Wanted
from rooms.fragments.fragment import Fragment
from rooms.fragments.meaning.embedder import Embedder, embedder_of
from rooms.fragments.meaning.filling import is_of
from rooms.fragments.recall.asked import DEFAULT_TOKENS, Query, wanted_of
from rooms.fragments.recall.candidates import LEAST_COSINE, MOST, Sought, candidates
from rooms.fragments.recall.fitting import Fitting
from rooms.fragments.recall.links import FOLLOWED, Linked, linked_to
from rooms.fragments.recall.ordering import by_relevance, by_worth, worth_in
from rooms.fragments.recall.using import Count, count_use
from rooms.fragments.room import Room
from rooms.fragments.services.errors import OtherModelError

__all__ = ["DEFAULT_TOKENS", "Linked", "Query", "Recalled", "plain_line", "recall"]

_LINKED_SHARE = 0.2  # of the budget: what nothing linked takes is spent on more of those found
_MOST_FOLLOWED = 10  # of those found: what is linked to the best

Line = Callable[[Fragment], str]


class Recalled(NamedTuple):
    """What was found, the best first; how many more of both kinds there are that did not fit.

    failure: why the question could not be embedded, so that only words were compared.
    """

    fragments: list[Fragment]
    linked: list[Linked]
    left_out: int = 0
    failure: SentinelError | None = None


def plain_line(fragment: Fragment) -> str:
    """Return a fragment about as long as it is shown."""
    day = fragment.created_at[:10]
    return f"{fragment.id} {day} {fragment.kind}/{fragment.topic}: {fragment.content}"


@repeats_when_cut
def recall(
    room: Room,
    query: Query,
    *,
    agent: str = "",
    session: str = "",
    embedder: Embedder | None = None,
    line: Line = plain_line,
    count: Count = count_use,
) -> Recalled:
    """Return the fragments that answer a query; without words, those that are worth most.

    agent: whose fragments, beside those of the default; "" for all. session: whose working memory
    is looked at, too; "" for that of all. embedder: None for that of the environment. line: what a
    fragment looks like to its reader, whole: that is what counts for the budget. count: how their
    use is counted; a server answers first (`count_later`). Raises FragmentsError, DatabaseError.
    """
    wanted = wanted_of(room, query, agent)
    now = room.clock()
    fits = Fitting(wanted, now=now, working_of=session, working_by=room.agent)
    vector, failure = _vector_of(room, query, embedder)
    with room.engine.reading() as reading:
        found = _found(reading, room, query, Asked(wanted, fits, vector))
        most = query.limit or len(found)
        relations = (query.relation,) if query.relation else FOLLOWED
        best = found[: min(most, _MOST_FOLLOWED)] if query.with_links else []
        linked = linked_to(reading, best, relations, wanted.agents)
    linked = [it for it in linked if fits.is_current(it.fragment)][: room.config.linked_limit]
    budget = Budget(query.tokens, room.settings.budget_chars)
    shown, linked = _within(budget, found[:most], linked, line)
    used = [*shown, *(it.fragment for it in linked)]
    count(room, used, session)
    return Recalled(shown, linked, len(found) - len(shown), failure)


class Asked(NamedTuple):
    """What a query means here: which fragments, and the vector of its question, b"" for none."""

    wanted: Wanted
    fits: Fitting
    vector: bytes


def _found(reading: Reading, room: Room, query: Query, asked: Asked) -> list[Fragment]:
    """Return all fragments that answer a query, in their order."""
    worth = worth_in(reading, asked.wanted.agents, room.config, room.clock())
    if not query.question:
        listed = by_worth(reading, asked.wanted, worth)
        return list(islice(filter(asked.fits, listed), max(MOST, query.limit)))
    sought = Sought(
        question=query.question,
        keywords=tuple(it for it in query.keywords if it.strip()),
        has_text=bool(query.text.strip()),
        wanted=asked.wanted,
        fits=asked.fits,
        enough=query.limit or MOST,
        vector=asked.vector,
        least_cosine=LEAST_COSINE if query.threshold is None else query.threshold,
    )
    return by_relevance(query.question, candidates(reading, sought), worth)


def _vector_of(
    room: Room, query: Query, embedder: Embedder | None
) -> tuple[bytes, SentinelError | None]:
    """Return the vector of a question, b"" where there is none, and why that is.

    The service is asked outside of every transaction, and only where there is something to compare.
    """
    if not query.question:
        return b"", None
    try:
        chosen = embedder or embedder_of(os.environ)
        if chosen is None:
            return b"", None
        if not _has_vectors(room, chosen):
            return b"", None
        return chosen.embed([query.question])[0], None
    except SentinelError as error:
        return b"", error


@repeats_when_cut
def _has_vectors(room: Room, embedder: Embedder) -> bool:
    """Return whether there is any vector. Raises OtherModelError for those of another model."""
    with room.engine.reading() as reading:
        if not reading.has(Wanted(has_vector=True)):
            return False
        if not is_of(reading, embedder):
            raise OtherModelError
        return True


def _within(
    budget: Budget, found: Sequence[Fragment], linked: Sequence[Linked], line: Line
) -> tuple[list[Fragment], list[Linked]]:
    """Return what fits into a budget whole: the best, what is linked to them, then others."""
    beside = budget.split_off(_LINKED_SHARE) if linked else Budget(0, 0)
    shown = list(taken(budget, found, line))
    ids = {it.id for it in shown}
    near = [it for it in linked if it.to_id in ids and it.fragment.id not in ids]
    kept = [it for it in near if beside.take(f"  {it.relation} {line(it.fragment)}")]
    budget.add(beside)
    more = {it.fragment.id for it in kept} | ids
    shown += taken(budget, [it for it in found if it.id not in more], line)
    return shown, kept


def taken(budget: Budget, fragments: Sequence[Fragment], line: Line) -> Iterator[Fragment]:
    """Yield those of the fragments that fit into what is left of a budget."""
    for it in fragments:
        # To write a line takes longer than to see that its text alone is too long.
        if it.estimated_tokens <= budget.tokens and budget.take(line(it)):
            yield it
