"""Recalls fragments: those that answer a question, the best first, within a budget of tokens."""

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from core.errors import SentinelError
from core.room.one_list import Entry, Gather, Gathered, gathered_from, in_one_order
from core.text.plain import Budget
from rooms.fragments.embeddings.embedder import Embedder, embedder_of
from rooms.fragments.embeddings.filling import is_of
from rooms.fragments.errors import OtherModelError
from rooms.fragments.fragment import Fragment, Wanted
from rooms.fragments.links import FOLLOWED, Linked, linked_to
from rooms.fragments.recall.asked import DEFAULT_TOKENS, Query, wanted_of
from rooms.fragments.recall.candidates import LEAST_COSINE, MOST, Sought, candidates
from rooms.fragments.recall.fitting import Fitting
from rooms.fragments.recall.ordering import Worth, by_worth, worth_in
from rooms.fragments.recall.using import Count, count_use
from rooms.fragments.room import Room, repeats_when_cut
from rooms.fragments.storage.rows import Rows

__all__ = ["DEFAULT_TOKENS", "Linked", "Query", "Recalled", "plain_line", "recall"]

_LINKED_SHARE = 0.2  # of the budget: what nothing linked takes is spent on more of those found
_MOST_FOLLOWED = 10  # of those found: what is linked to the best

Line = Callable[[Fragment], str]


class Recalled(NamedTuple):
    """What was found, the best first; how many more of both kinds there are that did not fit.

    found: entries, of which `what` is the fragment if their source is `fragment`. failure: why the
    question could not be embedded, so that only words were compared. is_labelled: each is shown
    behind its source, since other rooms were asked, too.
    """

    found: list[Entry]
    linked: list[Linked]
    left_out: int = 0
    failure: SentinelError | None = None
    is_labelled: bool = False

    @property
    def fragments(self) -> list[Fragment]:
        """The fragments among what was found."""
        return _fragments_in(self.found)


class Asked(NamedTuple):
    """What a query means here: which fragments, and the vector of its question, b"" for none."""

    wanted: Wanted
    fits: Fitting
    vector: bytes


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
    beside: Sequence[Gather] = (),
) -> Recalled:
    """Return the fragments that answer a query; without words, those that are worth most.

    agent: whose fragments, beside those of the default; "" for all. session: whose working memory
    is looked at, too; "" for that of all. embedder: None for that of the environment. line: what a
    fragment looks like to its reader, whole: that is what counts for the budget. count: how their
    use is counted; a server answers first (`count_later`). beside: what gathers from other rooms;
    a query that narrows fragments down is none for them. Raises FragmentsError, DatabaseError.
    """
    asked, failure = _asked(room, query, agent, session, embedder)
    others = gathered_from(beside, query.question) if query.is_open and not agent.strip() else []
    with room.engine.reading() as reading:
        found = _found(reading, room, query, asked, others, line)
        most = query.limit or len(found)
        relations = (query.relation,) if query.relation else FOLLOWED
        best = _fragments_in(found[:most])[:_MOST_FOLLOWED] if query.with_links else []
        linked = linked_to(reading, best, relations, asked.wanted.agents)
    linked = [it for it in linked if asked.fits.is_current(it.fragment)][: room.config.linked_limit]
    budget = Budget(query.tokens, room.settings.budget_chars)
    shown, linked = _within(budget, found[:most], linked, line, is_labelled=bool(beside))
    used = [*_fragments_in(shown), *(it.fragment for it in linked)]
    count(room, used, session)
    return Recalled(shown, linked, len(found) - len(shown), failure, bool(beside))


@repeats_when_cut
def gathered(room: Room, question: str, *, session: str = "", line: Line = plain_line) -> Gathered:
    """Return the fragments that may answer a question, to stand beside what other rooms have.

    session, line: see `recall`. Raises FragmentsError, DatabaseError.
    """
    query = Query(text=question)
    asked, _ = _asked(room, query, "", session, None)
    with room.engine.reading() as reading:
        return _gathered(reading, room, query, asked, line)


def _asked(
    room: Room, query: Query, agent: str, session: str, embedder: Embedder | None
) -> tuple[Asked, SentinelError | None]:
    """Return what a query means here, and why its question could not be embedded."""
    wanted = wanted_of(room, query, agent)
    fits = Fitting(wanted, now=room.clock(), working_of=session, working_by=room.agent)
    vector, failure = _vector_of(room, query, embedder)
    return Asked(wanted, fits, vector), failure


def _found(
    reading: Rows,
    room: Room,
    query: Query,
    asked: Asked,
    others: Sequence[Gathered],
    line: Line,
) -> list[Entry]:
    """Return all that answers a query, in its order. others: of other rooms."""
    if query.question:
        own = _gathered(reading, room, query, asked, line)
        return in_one_order(query.question, [own, *others])
    worth = worth_in(reading, asked.wanted.agents, room.config, room.clock())
    listed = by_worth(reading, asked.wanted, worth)
    fitting = islice(filter(asked.fits, listed), max(MOST, query.limit))
    return [_entry(it, worth, line) for it in fitting]


def _gathered(reading: Rows, room: Room, query: Query, asked: Asked, line: Line) -> Gathered:
    """Return the fragments that may answer the question of a query, in no order."""
    worth = worth_in(reading, asked.wanted.agents, room.config, room.clock())
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
    found = candidates(reading, sought)
    entries = [_entry(it, worth, line, found.cosines.get(it.number)) for it in found.fragments]
    return Gathered(entries, found.frequencies)


def _entry(fragment: Fragment, worth: Worth, line: Line, cosine: float | None = None) -> Entry:
    return Entry(
        source="fragment",
        id=fragment.id,
        text=fragment.text,
        says=(fragment.content,),
        line=lambda: line(fragment),
        worth=worth(fragment),
        cosine=cosine,
        what=fragment,
    )


def _fragments_in(entries: Sequence[Entry]) -> list[Fragment]:
    return [it.what for it in entries if it.source == "fragment"]


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
    budget: Budget,
    found: Sequence[Entry],
    linked: Sequence[Linked],
    line: Line,
    *,
    is_labelled: bool,
) -> tuple[list[Entry], list[Linked]]:
    """Return what fits into a budget whole: the best, what is linked to them, then others."""
    beside = budget.split_off(_LINKED_SHARE) if linked else Budget(0, 0)
    shown = list(_taken(budget, found, is_labelled=is_labelled))
    ids = {it.id for it in shown}
    near = [it for it in linked if it.to_id in ids and it.fragment.id not in ids]
    kept = [it for it in near if beside.take(f"  {it.relation} {line(it.fragment)}")]
    budget.add(beside)
    more = {it.fragment.id for it in kept} | ids
    rest = [it for it in found if it.id not in more]
    shown += _taken(budget, rest, is_labelled=is_labelled)
    return shown, kept


def taken(budget: Budget, fragments: Sequence[Fragment], line: Line) -> Iterator[Fragment]:
    """Yield those of the fragments that fit into what is left of a budget."""
    yield from (it for it in fragments if _may_fit(it, budget) and budget.take(line(it)))


def _may_fit(fragment: Fragment, budget: Budget) -> bool:
    """Return whether its text alone would fit: to write its line takes longer than to see that."""
    return fragment.estimated_tokens <= budget.tokens


def _taken(budget: Budget, entries: Sequence[Entry], *, is_labelled: bool) -> Iterator[Entry]:
    for it in entries:
        may_fit = it.what is None or _may_fit(it.what, budget)
        if may_fit and budget.take(it.labelled() if is_labelled else it.line()):
            yield it
