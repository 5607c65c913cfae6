"""Recalls fragments, the best first, within a budget of tokens; restores a context for a start.

Three layers find candidates, filtered in SQL: keywords, words of the texts, vectors.
`core.text.ranking` orders them.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import islice
from typing import NamedTuple

from core.errors import SentinelError
from core.text.plain import Budget, bound_of
from core.text.ranking import Coverage, Entries, Entry, Gather, Ranking, gather_all, rank_entries
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
_MOST_RANKED = 50  # candidates whose texts are ranked
_MOST_WORDS = 200  # keywords of a question, each looked for in the text
_MOST_EQUAL = 150  # if more have an equal share of the question: another order tells them apart
_GREAT_SHARE = 0.5  # of a question: words that are less of it need a vector that agrees
_MOST_COVERED = 3_000  # fragments with one of the rarest terms of the question
_MOST_SCANNED = 1_000  # wanted fragments, up to which all are read
_PAGE_SIZE = 60  # fragments of one read: mostly all are wanted
_HALF_DAYS = 30  # after so many days a fragment is half as recent
_MOST_LISTED = 100  # of the newest, and of the most important
_WORKING_SHARE = 0.25  # of the budget of a context; its rest goes to the others
_MOST_ANCHORS = 500
_NEWS_DAYS = 7  # a session that ended before is no news
_DAY_S = 86_400

Line = Callable[[Fragment | Link], str]
Worth = Callable[[Fragment], tuple[float, str, int]]  # a greater one comes first


class RecallOutcome(NamedTuple):
    entries: list[Entry]  # the best first; `item` is the fragment where `source` is `fragment`
    linked: list[Step]  # to `entries`
    left_out: int = 0  # how many more entries answer
    failure: SentinelError | None = None  # why only words were compared
    relations: tuple[Link, ...] = ()  # links between two fragments of `entries`

    @property
    def fragments(self) -> list[Fragment]:
        return [entry.item for entry in self.entries if entry.source == "fragment"]


def line_of(row: Fragment | Link) -> str:
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
    line: Line = line_of,
    count: activity.Count = activity.count_use,
    gathers: Sequence[Gather] = (),
) -> RecallOutcome:
    """Return the fragments that answer a query; without words, the fragments of most worth.

    embedder: None for the environment's. line: writes an entry as its reader sees it, for the
    budget. count: counts the use; a server passes `count_later`. gathers: of other rooms, asked
    only if nothing narrows the query.
    """
    search = Search(room, query, line, embedder)
    others = gather_all(gathers, query.question) if query.has_only_words else []
    with room.engine.reading() as rows:
        search.begin(rows)
        if query.question:
            entries = rank_entries(query.question, [search.gather(), *others])
        else:
            best = filter(search.is_current, find_best(rows, search.filter_, search.worth))
            entries = [search.entry_of(row) for row in islice(best, max(_MOST_RANKED, query.limit))]
        first_entries = entries[: query.limit or len(entries)]
        steps, relations = search.find_linked(first_entries) if query.with_links else ([], [])
    budget = Budget(query.tokens, room.settings.budget_chars)
    share = budget.split_off(_LINKED_SHARE) if steps else Budget(0, 0)
    shown_entries, ids = list[Entry](), set[str]()

    def show(candidates: Sequence[Entry]) -> None:
        """Show entries that fit whole, with their relations to earlier entries."""
        for entry in candidates:
            if entry.item is not None and entry.item.estimated_tokens > budget.tokens:
                continue  # cheaper than to write its line
            texts, ids_now = [entry.labelled_line() if gathers else entry.line()], ids | {entry.id}
            for link in relations:
                if entry.id in (link.from_id, link.to_id) and ids_now >= {link.from_id, link.to_id}:
                    texts.append(line(link))
            if budget.take("\n".join(texts)):
                shown_entries.append(entry)
                ids.add(entry.id)

    show(first_entries)
    steps = [step for step in steps if step.start_id in ids and step.fragment.id not in ids]
    steps = [step for step in steps if share.take(f"  {step.link.relation} {line(step.fragment)}")]
    budget.add(share)
    known_ids = {step.fragment.id for step in steps} | ids
    show([entry for entry in first_entries if entry.id not in known_ids])
    links = tuple(link for link in relations if {link.from_id, link.to_id} <= ids)
    left_out = len(entries) - len(shown_entries)
    result = RecallOutcome(shown_entries, steps, left_out, search.failure, links)
    count(room, [*result.fragments, *(step.fragment for step in steps)], query.session)
    return result


class Search:
    """A query on one state of the room; made outside of the transaction: a model may be asked."""

    rows: Rows
    worth: Worth

    def __init__(
        self, room: Room, query: Query, line: Line, embedder: vectors.Embedder | None = None
    ) -> None:
        self.room, self.query, self.line, self.now = room, query, line, room.clock()
        self.is_current = partial(is_current, room=room, now=self.now, session=query.session)
        limits = ("tags", query.tags, MOST_KEYWORDS), ("keywords", query.keywords, _MOST_WORDS)
        for field, words, most in limits:
            if len(words) > most:
                facts = {"count": len(words), "most": most}
                raise schema.FragmentsError("too_many_tags", field=field, **facts)
        since, until = bound_of(query.since), bound_of(query.until)
        for text, bound in ((query.since, since), (query.until, until)):
            if text.strip() and not bound:
                raise schema.FragmentsError("bad_date", field="filters.date")
        if since and until and until < since[: len(until)]:
            raise schema.FragmentsError("reversed", field="filters.date", since=since, until=until)
        self.filter_ = Filter(
            agents=agents_for(room, query.agent),
            kinds=(query.type,) if query.type in schema.KINDS else (),
            lifetimes=(query.type,) if query.type in schema.LIFETIMES else (),
            topics=(query.topic,) if query.topic.strip() else (),
            keywords=tuple(tag for tag in query.tags if tag.strip()),
            since=since,
            until=until,
            changed_since=query.changed_since,
        )
        self.failure: ServiceError | None = None  # why a wanted vector is missing
        self._vector, self._cosines, self._floor = b"", vectors.Cosines(), 0.0
        try:
            model = embedder or vectors.embedder_of(os.environ)
            if not query.question or model is None:
                return
            with room.engine.reading() as rows:
                if not rows.has(Filter(has_vector=True)):
                    return
                if not vectors.is_same_model(rows, model):
                    raise ServiceError("other_model")
                cosines = vectors.cosines_of(rows.state())
            self._vector, self._cosines = model.embed([query.question])[0], cosines
            bounds = query.threshold, room.config.least_cosine, cosines.answer_cosine
            self._floor = next(bound for bound in bounds if bound is not None)
        except ServiceError as error:
            self.failure = error

    def begin(self, rows: Rows) -> None:
        self.rows, config = rows, self.room.config
        filter_ = Filter(agents=self.filter_.agents)
        has_order = rows.has(filter_, max(config.activation_threshold, 1))
        self.worth = worth_of(config, self.now, has_order=has_order)

    def gather(self) -> Entries:
        """Return candidates in no order; skip a layer if the layers before found enough."""
        query, filter_, rows = self.query, self.filter_, self.rows
        limit, coverage = query.limit or _MOST_RANKED, rows.coverage(query.question, _MOST_COVERED)
        matches, cosines = dict[int, Fragment](), dict[int, float]()
        if keywords := tuple(filter(str.strip, query.keywords)):
            most = max(_MOST_EQUAL, limit)
            counts = rows.count_keywords(keywords, filter_, most)
            numbers = [number for number, count in counts if count == len(keywords)]
            matches = {row.number: row for row in self._read_current(numbers, most)}
        if query.text.strip() or len(matches) < limit:
            term_hits = {row.number: (row, share) for row, share in self._find_by_terms(coverage)}
            if self._vector:
                cosines = dict(rows.nearest_cosines(self._vector, filter_, _MOST_RANKED))
                others = [n for n in matches.keys() | term_hits if n not in cosines]
                for embedding in rows.vectors(others):
                    cosines[embedding.number] = vectors.cosine_of(self._vector, embedding.vector)
            doubtful = self._cosines.chance_cosine
            matches |= {
                number: row
                for number, (row, share) in term_hits.items()
                if share >= _GREAT_SHARE or cosines.get(number, 1.0) >= doubtful
            }
        numbers = [n for n, cosine in cosines.items() if n not in matches and cosine >= self._floor]
        fragments = [*matches.values(), *self._read_current(numbers, _MOST_RANKED)]
        entries = [self.entry_of(row, cosines.get(row.number)) for row in fragments]
        return Entries(entries, coverage.frequencies())

    def find_linked(self, entries: Sequence[Entry]) -> tuple[list[Step], list[Link]]:
        """Return fragments linked to the best entries, and links between two entries."""
        relation = self.query.relation
        fragments = [entry.item for entry in entries if entry.source == "fragment"]
        relations, best = (relation,) if relation else FOLLOWED, fragments[:_MOST_FOLLOWED]
        steps = dict[str, Step]()  # each fragment once
        for step in steps_from(self.rows, best, relations, self.filter_.agents):
            if self.is_current(step.fragment):
                steps.setdefault(step.fragment.id, step)
        # That both are `related` is left out unless asked for: it only says that both were found.
        words = tuple(word for word in schema.RELATIONS if word != "related")
        ids = {fragment.id for fragment in fragments}
        links = self.rows.links(ids, (relation,) if relation else words) if ids else []
        inner_links = [link for link in links if link.from_id in ids and link.to_id in ids]
        return [*steps.values()][: self.room.config.linked_limit], inner_links

    def _find_by_terms(self, coverage: Coverage) -> list[tuple[Fragment, float]]:
        rows, filter_ = self.rows, self.filter_
        if filter_ != Filter() and not rows.has(filter_, _MOST_SCANNED + 1):
            pool = rows.find(filter_, limit=_MOST_SCANNED)
            texts = [row.text for row in pool]
            coverage = Ranking(self.query.question, texts, coverage.frequencies()).coverage()
            coverage = coverage._replace(
                terms=[
                    term._replace(numbers=[pool[i].number for i in term.numbers or ()])
                    for term in coverage.terms
                ]
            )
        shares = coverage.good_shares()
        numbers = list(shares)
        is_tie = len(numbers) > _MOST_RANKED and shares[numbers[0]] == shares[numbers[_MOST_RANKED]]
        fragments = self._read_current(numbers, _MOST_EQUAL if is_tie else _MOST_RANKED)
        may_answer = coverage.may_answer(shares, [row.number for row in fragments])
        return [(row, shares[row.number]) for row in fragments] if may_answer else []

    def _read_current(self, numbers: Sequence[int], most: int) -> list[Fragment]:
        fragments = list[Fragment]()
        for start in range(0, len(numbers), _PAGE_SIZE):
            page = tuple(numbers[start : start + _PAGE_SIZE])
            rows = {row.number: row for row in self.rows.find(replace(self.filter_, numbers=page))}
            fragments += [rows[n] for n in page if n in rows and self.is_current(rows[n])]
            if len(fragments) >= most:
                break
        return fragments[:most]

    def entry_of(self, fragment: Fragment, cosine: float | None = None) -> Entry:
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
        moment = max(fragment.updated_at, fragment.created_at)
        if not has_order:
            return 0.0, moment, fragment.number
        seconds = datetime.fromisoformat(moment).timestamp()
        recency = 0.5 ** (max(now_s - seconds, 0.0) / _DAY_S / _HALF_DAYS)
        weight = config.importance_weight
        return weight * fragment.importance + (1 - weight) * recency, moment, fragment.number

    return worth


def find_best(rows: Rows, filter_: Filter, worth: Worth) -> list[Fragment]:
    """Return fragments by falling worth, of the 100 newest and 100 most important."""
    fragments = {
        fragment.number: fragment
        for order in ("newest", "worth")
        for fragment in rows.find(filter_, order=order, limit=_MOST_LISTED)
    }
    return sorted(fragments.values(), key=worth, reverse=True)


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
    line: Line = line_of,
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
            best += find_best(rows, Filter(agents=agents, kinds=kinds), worth)
        if lifetimes:
            best += find_best(rows, Filter(agents=agents, lifetimes=lifetimes), worth)
        memories = find_best(rows, Filter(agents=agents, lifetimes=("working",)), worth)
        since = moment_before(now, days=_NEWS_DAYS)
        entries = activity.find_unreflected(rows, room.own_agents or agents, since=since)
    memories = [row for row in memories if row.session in ("", session)]
    memories = [row for row in memories if is_current(row, room, now, row.session)]
    memories.sort(key=lambda row: (row.created_at, row.number), reverse=True)
    ids = {row.id for row in memories}
    ranked = (row for group in (anchors, best) for row in sorted(group, key=worth, reverse=True))
    others = (row for row in ranked if row.id not in ids and not row.session)
    core = {row.id: row for row in others if is_current(row, room, now, "")}
    budget = Budget(tokens, room.settings.budget_chars)
    share = budget.split_off(_WORKING_SHARE) if memories else Budget(0, 0)

    def take(part: Budget, pool: Iterable[Fragment]) -> list[Fragment]:
        return [row for row in pool if row.estimated_tokens <= part.tokens and part.take(line(row))]

    working_rows = take(share, memories)
    budget.add(share)
    core_rows = take(budget, core.values())
    sessions = [row for row in entries if row.session_id != session and activity.is_over(row, now)]
    left_out = len(core) + len(memories) - len(core_rows) - len(working_rows)
    return Context(core_rows, working_rows, sessions, left_out)
