"""Recalls fragments, the best first, within a budget of tokens; restores those for a start.

Three layers find candidates, filtered in SQL: keywords, words of the texts, vectors.
`core.text.ranking` orders them.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from core.errors import SentinelError
from core.text.plain import Budget, bound_of
from core.text.ranking import Coverage, Entry, Finds, Gather, Ranking, gather_all, rank_entries
from rooms.fragments import activity
from rooms.fragments import fragment as schema
from rooms.fragments.fragment import Filter, Fragment, Link, Query, ServiceError
from rooms.fragments.links import FOLLOWED, Step, steps_from
from rooms.fragments.models import vectors
from rooms.fragments.room import Config, Room, agents_for, repeats_when_cut
from rooms.fragments.storage.rows import Rows
from rooms.fragments.texts import MOST_KEYWORDS
from rooms.fragments.upkeep.life import moment_before

_LINKED_SHARE = 0.2  # of the budget; its rest is spent on more of the found fragments
_MOST_FOLLOWED = 10  # found fragments whose links are followed
_MOST = 50  # candidates whose texts are ranked
_MOST_ASKED = 200  # keywords of a question, each looked for in the text
_MOST_EQUAL = 150  # if more have an equal share of the question: another order tells them apart
_GREAT_SHARE = 0.5  # of a question: words that are less of it need a vector that agrees
_MOST_LOOKED_AT = 3_000  # fragments with one of the rarest terms of the question
_FEW = 1_000  # wanted fragments, up to which all are looked at
_AT_ONCE = 60  # fragments of one read: mostly all are wanted
_HALF_DAYS = 30  # after so many days a fragment is half as recent
_MOST_LISTED = 100  # of the newest, and of the most important
_WORKING_SHARE = 0.25  # of the budget of a context; its rest goes to the others
_MOST_ANCHORS = 500
_TOLD_DAYS = 7  # a session that ended before is no news
_DAY_S = 86_400

Line = Callable[[Fragment | Link], str]
Worth = Callable[[Fragment], tuple[float, str, int]]  # a greater one comes first


class RecallOutcome(NamedTuple):
    found: list[Entry]  # the best first; `item` is the fragment where `source` is `fragment`
    linked: list[Step]  # to `found`
    left_out: int = 0  # how many more entries answer
    failure: SentinelError | None = None  # why only words were compared
    relations: tuple[Link, ...] = ()  # links between two fragments of `found`

    @property
    def fragments(self) -> list[Fragment]:
        return [it.item for it in self.found if it.source == "fragment"]


def plain_line(row: Fragment | Link) -> str:
    """Return about the line that a model sees."""
    if isinstance(row, Link):
        return f"  {row.relation} {row.to_id}"
    return f"{row.id} {row.created_at[:10]} {row.kind}/{row.topic}: {row.content}"


@repeats_when_cut
def recall(
    room: Room,
    query: Query,
    *,
    embedder: vectors.Embedder | None = None,
    line: Line = plain_line,
    count: activity.Count = activity.count_use,
    gathers: Sequence[Gather] = (),
) -> RecallOutcome:
    """Return the fragments that answer a query; without words, the fragments of most worth.

    embedder: None for the environment's. line: writes an entry as its reader sees it, for the
    budget. count: counts the use; a server passes `count_later`. beside: gather from other rooms,
    asked only if nothing narrows the query.
    """
    search = Search(room, query, line, embedder)
    others = gather_all(gathers, query.question) if query.has_only_words else []
    with room.engine.reading() as rows:
        search.begin(rows)
        if query.question:
            found = rank_entries(query.question, [search.gather(), *others])
        else:
            best = filter(search.is_current, by_worth(rows, search.wanted, search.worth))
            found = [search.entry(it) for it in islice(best, max(_MOST, query.limit))]
        few = found[: query.limit or len(found)]
        linked, relations = search.linked(few) if query.with_links else ([], [])
    budget = Budget(query.tokens, room.settings.budget_chars)
    share = budget.split_off(_LINKED_SHARE) if linked else Budget(0, 0)
    shown, ids = list[Entry](), set[str]()

    def show(entries: Sequence[Entry]) -> None:
        """Show entries that fit whole, with their relations to earlier entries."""
        for entry in entries:
            if entry.item is not None and entry.item.estimated_tokens > budget.tokens:
                continue  # cheaper than to write its line
            texts, there = [entry.labelled_line() if gathers else entry.line()], ids | {entry.id}
            for it in relations:
                if entry.id in (it.from_id, it.to_id) and there >= {it.from_id, it.to_id}:
                    texts.append(line(it))
            if budget.take("\n".join(texts)):
                shown.append(entry)
                ids.add(entry.id)

    show(few)
    near = [it for it in linked if it.start_id in ids and it.fragment.id not in ids]
    linked = [it for it in near if share.take(f"  {it.link.relation} {line(it.fragment)}")]
    budget.add(share)
    told = {it.fragment.id for it in linked} | ids
    show([it for it in few if it.id not in told])
    between = tuple(it for it in relations if {it.from_id, it.to_id} <= ids)
    left_out = len(found) - len(shown)
    done = RecallOutcome(shown, linked, left_out, search.failure, between)
    count(room, [*done.fragments, *(it.fragment for it in linked)], query.session)
    return done


class Search:
    """A query on one state of the room; made outside of the transaction: a model may be asked."""

    rows: Rows
    worth: Worth

    def __init__(
        self, room: Room, query: Query, line: Line, embedder: vectors.Embedder | None = None
    ) -> None:
        self.room, self.query, self.line, self.now = room, query, line, room.clock()
        asked = ("tags", query.tags, MOST_KEYWORDS), ("keywords", query.keywords, _MOST_ASKED)
        for field, given, most in asked:
            if len(given) > most:
                facts = {"count": len(given), "most": most}
                raise schema.FragmentsError("too_many_tags", field=field, **facts)
        since, until = bound_of(query.since), bound_of(query.until)
        for text, bound in ((query.since, since), (query.until, until)):
            if text.strip() and not bound:
                raise schema.FragmentsError("bad_date", field="filters.date")
        if since and until and until < since[: len(until)]:
            raise schema.FragmentsError("reversed", field="filters.date", since=since, until=until)
        self.wanted = Filter(
            agents=agents_for(room, query.agent),
            kinds=(query.type,) if query.type in schema.KINDS else (),
            lifetimes=(query.type,) if query.type in schema.LIFETIMES else (),
            topics=(query.topic,) if query.topic.strip() else (),
            keywords=tuple(tag for tag in query.tags if tag.strip()),
            since=since,
            until=until,
        )
        self.failure: ServiceError | None = None  # why a wanted vector is missing
        self._vector, self._cosines, self._least = b"", vectors.Cosines(), 0.0
        try:
            chosen = embedder or vectors.embedder_of(os.environ)
            if not query.question or chosen is None:
                return
            with room.engine.reading() as rows:
                if not rows.has(Filter(has_vector=True)):
                    return
                if not vectors.is_same_model(rows, chosen):
                    raise ServiceError("other_model")
                cosines = vectors.cosines_of(rows.state())
            self._vector, self._cosines = chosen.embed([query.question])[0], cosines
            chosen_least = (query.threshold, room.config.least_cosine, cosines.answer_cosine)
            self._least = next(it for it in chosen_least if it is not None)
        except ServiceError as error:
            self.failure = error

    def begin(self, rows: Rows) -> None:
        self.rows, config = rows, self.room.config
        every = Filter(agents=self.wanted.agents)
        has_order = rows.has(every, max(config.activation_threshold, 1))
        self.worth = worth_of(config, self.now, has_order=has_order)

    def gather(self) -> Finds:
        """Return candidates in no order; skip a layer if the layers before found enough."""
        query, wanted, rows = self.query, self.wanted, self.rows
        enough, coverage = query.limit or _MOST, rows.coverage(query.question, _MOST_LOOKED_AT)
        found, cosines = dict[int, Fragment](), dict[int, float]()
        if keywords := tuple(filter(str.strip, query.keywords)):
            most = max(_MOST_EQUAL, enough)
            having = rows.count_keywords(keywords, wanted, most)
            having_all = [at for at, count in having if count == len(keywords)]
            found = {it.number: it for it in self._first(having_all, most)}
        if query.text.strip() or len(found) < enough:
            by_terms = {it.number: (it, share) for it, share in self._by_terms(coverage)}
            if self._vector:
                cosines = dict(rows.nearest_cosines(self._vector, wanted, _MOST))
                others = [at for at in found.keys() | by_terms if at not in cosines]
                for it in rows.vectors(others):
                    cosines[it.number] = vectors.cosine_of(self._vector, it.vector)
            doubtful = self._cosines.chance_cosine
            found |= {
                at: it
                for at, (it, share) in by_terms.items()
                if share >= _GREAT_SHARE or cosines.get(at, 1.0) >= doubtful
            }
        near = [at for at, it in cosines.items() if at not in found and it >= self._least]
        every = [*found.values(), *self._first(near, _MOST)]
        entries = [self.entry(it, cosines.get(it.number)) for it in every]
        return Finds(entries, coverage.frequencies())

    def linked(self, found: Sequence[Entry]) -> tuple[list[Step], list[Link]]:
        """Return fragments linked to the best entries, and links between two entries."""
        asked = self.query.relation
        fragments = [it.item for it in found if it.source == "fragment"]
        along, best = (asked,) if asked else FOLLOWED, fragments[:_MOST_FOLLOWED]
        linked = dict[str, Step]()  # each once
        for step in steps_from(self.rows, best, along, self.wanted.agents):
            if self.is_current(step.fragment):
                linked.setdefault(step.fragment.id, step)
        # That both are `related` is left out unless asked for: it only says that both were found.
        between = (asked,) if asked else tuple(it for it in schema.RELATIONS if it != "related")
        ids = {it.id for it in fragments}
        links = self.rows.links(ids, between) if ids else []
        relations = [it for it in links if it.from_id in ids and it.to_id in ids]
        return [*linked.values()][: self.room.config.linked_limit], relations

    def _by_terms(self, coverage: Coverage) -> list[tuple[Fragment, float]]:
        rows, wanted = self.rows, self.wanted
        if wanted != Filter() and not rows.has(wanted, _FEW + 1):
            few = rows.find(wanted, limit=_FEW)
            ranking = Ranking(self.query.question, [it.text for it in few], coverage.frequencies())
            of_few = ranking.coverage()
            coverage = of_few._replace(
                terms=[
                    it._replace(numbers=[few[at].number for at in it.numbers or ()])
                    for it in of_few.terms
                ]
            )
        parts = coverage.good_shares()
        best = list(parts)
        are_equal = len(best) > _MOST and parts[best[0]] == parts[best[_MOST]]
        found = self._first(best, _MOST_EQUAL if are_equal else _MOST)
        is_telling = coverage.may_answer(parts, [it.number for it in found])
        return [(it, parts[it.number]) for it in found] if is_telling else []

    def _first(self, numbers: Sequence[int], most: int) -> list[Fragment]:
        found = list[Fragment]()
        for start in range(0, len(numbers), _AT_ONCE):
            some = tuple(numbers[start : start + _AT_ONCE])
            here = {it.number: it for it in self.rows.find(replace(self.wanted, numbers=some))}
            found += [here[at] for at in some if at in here and self.is_current(here[at])]
            if len(found) >= most:
                break
        return found[:most]

    def is_current(self, fragment: Fragment) -> bool:
        return is_current(fragment, self.room, self.now, self.query.session)

    def entry(self, fragment: Fragment, cosine: float | None = None) -> Entry:
        return Entry(
            source="fragment",
            id=fragment.id,
            text=fragment.text,
            statements=(fragment.content,),
            line=lambda: self.line(fragment),
            worth=self.worth(fragment),
            nearness=None if cosine is None else self._cosines.nearness_of(cosine),
            item=fragment,
        )


def worth_of(config: Config, now: str, *, has_order: bool) -> Worth:
    """Return a sort key, greatest first. has_order: weigh importance and recency, else only age."""
    # Recalls count for nothing: a fragment that was found once would be found for ever.
    now_s = datetime.fromisoformat(now).timestamp()

    def worth(fragment: Fragment) -> tuple[float, str, int]:
        at = max(fragment.updated_at, fragment.created_at)
        if not has_order:
            return 0.0, at, fragment.number
        seconds = datetime.fromisoformat(at).timestamp()
        recency = 0.5 ** (max(now_s - seconds, 0.0) / _DAY_S / _HALF_DAYS)
        weight = config.importance_weight
        return weight * fragment.importance + (1 - weight) * recency, at, fragment.number

    return worth


def by_worth(rows: Rows, wanted: Filter, worth: Worth) -> list[Fragment]:
    """Return fragments by falling worth, of the 100 newest and 100 most important."""
    listed = {
        it.number: it
        for order in ("newest", "worth")
        for it in rows.find(wanted, order=order, limit=_MOST_LISTED)
    }
    return sorted(listed.values(), key=worth, reverse=True)


def is_current(fragment: Fragment, room: Room, now: str, session: str) -> bool:
    """Return whether it is neither expired nor working memory of another session or agent."""
    if fragment.session and (session or fragment.session) != fragment.session:
        return False
    if fragment.session and (room.agent or fragment.agent) != fragment.agent:
        return False
    return fragment.is_anchor or not fragment.expires_at or now < fragment.expires_at


class Context(NamedTuple):
    core: list[Fragment]  # pinned, then of most worth
    working: list[Fragment]  # the newest first
    unreflected: list[schema.Activity]  # past sessions that wrote and never reflected
    left_out: int = 0  # how many fragments did not fit


@repeats_when_cut
def restore_context(
    room: Room,
    *,
    tokens: int = schema.CONTEXT_TOKENS,
    types: Sequence[str] = schema.CONTEXT_TYPES,
    session: str = "",
    agent: str = "",
    line: Line = plain_line,
) -> Context:
    """Return the fragments for a session's start; this counts no use.

    tokens: of the answer. types: of `TYPES`; pinned fragments come anyway. session: whose working
    memory. agent: whose, beside the default agent's. line: see `recall`.
    """
    agents, now = agents_for(room, agent), room.clock()
    worth = worth_of(room.config, now, has_order=True)
    kinds = tuple(word for word in types if word in schema.KINDS)
    lifetimes = tuple(word for word in types if word not in schema.KINDS)
    best = list[Fragment]()
    with room.engine.reading() as rows:
        anchors = rows.find(Filter(agents=agents, is_anchor=True), limit=_MOST_ANCHORS)
        if kinds:
            best += by_worth(rows, Filter(agents=agents, kinds=kinds), worth)
        if lifetimes:
            best += by_worth(rows, Filter(agents=agents, lifetimes=lifetimes), worth)
        working = by_worth(rows, Filter(agents=agents, lifetimes=("working",)), worth)
        since = moment_before(now, days=_TOLD_DAYS)
        silent = activity.find_unreflected(rows, room.own_agents or agents, since=since)
    own = (it for it in working if it.session in ("", session))
    working = [it for it in own if is_current(it, room, now, it.session)]
    working.sort(key=lambda it: (it.created_at, it.number), reverse=True)
    ids = {it.id for it in working}
    ranked = (it for some in (anchors, best) for it in sorted(some, key=worth, reverse=True))
    others = (it for it in ranked if it.id not in ids and not it.session)
    core = {it.id: it for it in others if is_current(it, room, now, "")}
    budget = Budget(tokens, room.settings.budget_chars)
    share = budget.split_off(_WORKING_SHARE) if working else Budget(0, 0)

    def fitting(part: Budget, some: Iterable[Fragment]) -> list[Fragment]:
        return [it for it in some if it.estimated_tokens <= part.tokens and part.take(line(it))]

    shown = fitting(share, working)
    budget.add(share)
    kept = fitting(budget, core.values())
    past = [it for it in silent if it.session_id != session and activity.is_over(it, now)]
    return Context(kept, shown, past, len(core) + len(working) - len(kept) - len(shown))
