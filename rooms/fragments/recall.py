"""Recalls fragments: the best first, within a budget of tokens.

Three layers find candidates, filtered in SQL: keywords, words of the texts, vectors.
`core.room.one_list` orders them.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from core.errors import SentinelError
from core.room.one_list import Entry, Gather, Gathered, gathered_from, in_one_order
from core.text.plain import Budget, bound_of
from core.text.ranking import Holding, Ranking
from rooms.fragments.activity import Count, count_use
from rooms.fragments.config import Config
from rooms.fragments.errors import FragmentsError, ServiceError
from rooms.fragments.fragment import (
    KINDS,
    LIFETIMES,
    MOST_KEYWORDS,
    RECALL_TOKENS,
    RELATIONS,
    WORDS_OF_TYPE,
    Fragment,
    Link,
    Wanted,
    plain_keyword,
)
from rooms.fragments.links import FOLLOWED, Linked, linked_to
from rooms.fragments.models.embedding import Embedder, cosine_of, embedder_of
from rooms.fragments.models.vectors import Cosines, cosines_of, is_of
from rooms.fragments.room import Room, readers, repeats_when_cut
from rooms.fragments.storage.rows import Rows

_LINKED_SHARE = 0.2  # of the budget; its rest is spent on more of the found fragments
_MOST_FOLLOWED = 10  # found fragments whose links are followed
_MOST = 50  # candidates whose texts are ranked
_MOST_EQUAL = 150  # if more have an equal share of the question: another order tells them apart
_GREAT_SHARE = 0.5  # of a question: words that are less of it need a vector that agrees
_MOST_LOOKED_AT = 3_000  # fragments with one of the rarest terms of the question
_FEW = 1_000  # wanted fragments, up to which all are looked at
_AT_ONCE = 60  # fragments of one read: mostly all are wanted
_HALF_DAYS = 30  # after so many days a fragment is half as recent
_MOST_LISTED = 100  # of the newest, and of the most important
_DAY_S = 86_400

Line = Callable[[Fragment], str]
Worth = Callable[[Fragment], tuple[float, str, int]]  # a greater one comes first


class RecallError(FragmentsError):
    """An argument of a query is invalid."""

    table = "fragments.recall"


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question and its filter; an empty field filters nothing.

    type: a word of `TYPES`. tags: a fragment must have all. since, until: days or moments, both
    included. tokens: of the answer. limit: 0 for no limit. with_links: return linked fragments,
    too. relation: follow only such links. threshold: least cosine of a fragment found by its vector
    alone, None for the room's.
    """

    keywords: tuple[str, ...] = ()
    topic: str = ""
    type: str = ""
    text: str = ""
    tags: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    tokens: int = RECALL_TOKENS
    limit: int = 0
    with_links: bool = True
    relation: str = ""
    threshold: float | None = None

    @property
    def is_open(self) -> bool:
        """Whether it has words and no filter, so that other rooms can answer."""
        narrowed = self.topic, self.type, *self.tags, self.since, self.until, self.relation
        return bool(self.question) and not any(map(str.strip, narrowed))

    @property
    def question(self) -> str:
        """The keywords that the text does not hold, then the text."""
        text = plain_keyword(self.text)
        some = [word for word in self.keywords if word.strip() and plain_keyword(word) not in text]
        return " ".join([*some, self.text]).strip()


class Recalled(NamedTuple):
    """Entries, the best first; `what` is the fragment where `source` is `fragment`.

    left_out: how many more entries answer. failure: why only words were compared. is_labelled:
    other rooms were asked, too. relations: links between two fragments of `found`.
    """

    found: list[Entry]
    linked: list[Linked]
    left_out: int = 0
    failure: SentinelError | None = None
    is_labelled: bool = False
    relations: tuple[Link, ...] = ()

    @property
    def fragments(self) -> list[Fragment]:
        return _fragments_in(self.found)


class Meaning(NamedTuple):
    """The vector of a question, b"" for none. failure: why, if one was wanted.

    least: cosine that a fragment needs to be found by its vector alone.
    """

    vector: bytes = b""
    cosines: Cosines = Cosines()
    least: float = 0.0
    failure: SentinelError | None = None


def plain_line(fragment: Fragment) -> str:
    """Return about the line that a model sees."""
    day = fragment.created_at[:10]
    return f"{fragment.id} {day} {fragment.kind}/{fragment.topic}: {fragment.content}"


def plain_relation(link: Link) -> str:
    return f"  {link.relation} {link.to_id}"


# Worth. Recalls count for nothing: a fragment that was found once would be found for ever.


def worth_of(config: Config, now: str, *, has_order: bool) -> Worth:
    """Return a sort key, greatest first. has_order: weigh importance and recency, else only age."""
    now_s = datetime.fromisoformat(now).timestamp()

    def worth(fragment: Fragment) -> tuple[float, str, int]:
        at = max(fragment.updated_at, fragment.created_at)
        if not has_order:
            return 0.0, at, fragment.number
        seconds = 0.0
        with suppress(ValueError):  # a hand or an import can write anything there
            seconds = datetime.fromisoformat(at).timestamp()
        recency = 0.5 ** (max(now_s - seconds, 0.0) / _DAY_S / _HALF_DAYS)
        worth = config.importance_weight * fragment.importance + config.recency_weight * recency
        return worth, at, fragment.number

    return worth


def by_worth(rows: Rows, wanted: Wanted, worth: Worth) -> list[Fragment]:
    """Return fragments by falling worth, of the 100 newest and 100 most important."""
    listed = {
        it.number: it
        for order in ("newest", "worth")
        for it in rows.find(wanted, order=order, limit=_MOST_LISTED)
    }
    return sorted(listed.values(), key=worth, reverse=True)


def is_current(fragment: Fragment, room: Room, now: str, session: str) -> bool:
    """Return whether a fragment is neither expired nor working memory of another session or agent.

    session: "" for any.
    """
    if fragment.session and (session or fragment.session) != fragment.session:
        return False
    if fragment.session and (room.agent or fragment.agent) != fragment.agent:
        return False
    return fragment.is_anchor or not fragment.expires_at or now < fragment.expires_at


def taken(budget: Budget, fragments: Sequence[Fragment], line: Line) -> Iterator[Fragment]:
    """Yield the fragments whose lines fit into the budget."""
    yield from (it for it in fragments if _may_fit(it, budget) and budget.take(line(it)))


def _may_fit(fragment: Fragment, budget: Budget) -> bool:
    """Return whether its text fits: cheaper than to write its line."""
    return fragment.estimated_tokens <= budget.tokens


@repeats_when_cut
def recall(
    room: Room,
    query: Query,
    *,
    agent: str = "",
    session: str = "",
    embedder: Embedder | None = None,
    line: Line = plain_line,
    relation_line: Callable[[Link], str] = plain_relation,
    count: Count = count_use,
    beside: Sequence[Gather] = (),
) -> Recalled:
    """Return the fragments that answer a query; without words, the fragments of most worth.

    agent: whose, beside the default agent's; "" for all. session: whose working memory, "" for any.
    embedder: None for the environment's. line, relation_line: write an entry as its reader sees it,
    for the budget. count: counts the use; a server passes `count_later`. beside: gather from other
    rooms, asked only if nothing narrows the query. Raises FragmentsError, DatabaseError.
    """
    wanted, meaning = _wanted_of(room, query, agent), _meaning_of(room, query, embedder)
    others = gathered_from(beside, query.question) if query.is_open and not agent.strip() else []
    with room.engine.reading() as rows:
        search = _Search(rows, room, query, wanted, meaning, session, line)
        if query.question:
            found = in_one_order(query.question, [search.gathered(), *others])
        else:
            found = search.listed()
        few = found[: query.limit or len(found)]
        linked, relations = search.linked(few) if query.with_links else ([], [])
    budget = Budget(query.tokens, room.settings.budget_chars)
    share = budget.split_off(_LINKED_SHARE) if linked else Budget(0, 0)
    shown = _Shown(relations, relation_line, is_labelled=bool(beside))
    shown.take(few, budget)
    near = [it for it in linked if it.to_id in shown.ids and it.fragment.id not in shown.ids]
    linked = [it for it in near if share.take(f"  {it.relation} {line(it.fragment)}")]
    budget.add(share)
    told = {it.fragment.id for it in linked} | shown.ids
    shown.take([it for it in few if it.id not in told], budget)
    count(room, [*_fragments_in(shown.entries), *(it.fragment for it in linked)], session)
    return Recalled(
        shown.entries,
        linked,
        len(found) - len(shown.entries),
        meaning.failure,
        bool(beside),
        tuple(it for it in relations if {it.from_id, it.to_id} <= shown.ids),
    )


@repeats_when_cut
def gathered(room: Room, question: str, *, session: str = "", line: Line = plain_line) -> Gathered:
    """Return candidates, to be ordered with other rooms' entries. session, line: see `recall`.

    Raises FragmentsError, DatabaseError.
    """
    query = Query(text=question)
    wanted, meaning = _wanted_of(room, query, ""), _meaning_of(room, query, None)
    with room.engine.reading() as rows:
        return _Search(rows, room, query, wanted, meaning, session, line).gathered()


def check_type(field: str, word: str) -> None:
    """Raise RecallError unless `word` is a word of `TYPES` or ""."""
    if word and word not in WORDS_OF_TYPE:
        raise RecallError("bad_type", field=field, known=", ".join(WORDS_OF_TYPE))


def _wanted_of(room: Room, query: Query, agent: str) -> Wanted:
    if len(query.tags) > MOST_KEYWORDS:  # no fragment has more
        facts = {"count": len(query.tags), "most": MOST_KEYWORDS}
        raise RecallError("too_many_tags", field="tags", **facts)
    since, until = bound_of(query.since), bound_of(query.until)
    for text, bound in ((query.since, since), (query.until, until)):
        if text.strip() and not bound:
            raise RecallError("bad_date", field="filters.date")
    if since and until and until < since[: len(until)]:
        raise RecallError("reversed", field="filters.date", since=since, until=until)
    check_type("type", query.type)
    if query.relation and query.relation not in RELATIONS:
        raise RecallError("bad_type", field="linkRelationType", known=", ".join(RELATIONS))
    if query.tokens < 1:
        raise RecallError("bad_tokens")
    if query.threshold is not None and not 0 <= query.threshold <= 1:
        raise RecallError("bad_threshold")
    return Wanted(
        agents=readers(room, agent),
        kinds=(query.type,) if query.type in KINDS else (),
        lifetimes=(query.type,) if query.type in LIFETIMES else (),
        topics=(query.topic,) if query.topic.strip() else (),
        keywords=tuple(tag for tag in query.tags if tag.strip()),
        since=since,
        until=until,
    )


def _meaning_of(room: Room, query: Query, embedder: Embedder | None) -> Meaning:
    """Embed the question, outside of every transaction, and only if vectors are stored."""
    try:
        chosen = embedder or embedder_of(os.environ)
        if not query.question or chosen is None:
            return Meaning()
        with room.engine.reading() as rows:
            if not rows.has(Wanted(has_vector=True)):
                return Meaning()
            if not is_of(rows, chosen):
                raise ServiceError("other_model")
            cosines = cosines_of(rows.state())
        chosen_least = (query.threshold, room.config.least_cosine, cosines.least)
        least = next(it for it in chosen_least if it is not None)
        return Meaning(chosen.embed([query.question])[0], cosines, least)
    except ServiceError as error:
        return Meaning(failure=error)


@dataclass(slots=True)
class _Search:
    rows: Rows
    room: Room
    query: Query
    wanted: Wanted
    meaning: Meaning
    session: str
    line: Line
    now: str = field(init=False)
    worth: Worth = field(init=False)

    def __post_init__(self) -> None:
        config, agents, self.now = self.room.config, self.wanted.agents, self.room.clock()
        has_order = self.rows.has(Wanted(agents=agents), max(config.activation_threshold, 1))
        self.worth = worth_of(config, self.now, has_order=has_order)

    def listed(self) -> list[Entry]:
        every = by_worth(self.rows, self.wanted, self.worth)
        some = islice(filter(self._is_current, every), max(_MOST, self.query.limit))
        return list(map(self._entry, some))

    def gathered(self) -> Gathered:
        """Return candidates in no order; skip a layer if the layers before found enough."""
        query, enough = self.query, self.query.limit or _MOST
        holding = self.rows.holding(query.question, _MOST_LOOKED_AT)
        found = {it.number: it for it in self._having_all(enough)}
        cosines = dict[int, float]()
        if query.text.strip() or len(found) < enough:
            by_terms = {it.number: (it, share) for it, share in self._by_terms(holding)}
            cosines = self._cosines(found.keys() | by_terms)
            doubtful = self.meaning.cosines.doubtful
            found |= {
                at: it
                for at, (it, share) in by_terms.items()
                if share >= _GREAT_SHARE or cosines.get(at, 1.0) >= doubtful
            }
        near = [at for at, it in cosines.items() if at not in found and it >= self.meaning.least]
        entries = [
            self._entry(it, cosines.get(it.number))
            for it in [*found.values(), *self._first(near, _MOST)]
        ]
        return Gathered(entries, holding.frequencies())

    def linked(self, found: Sequence[Entry]) -> tuple[list[Linked], list[Link]]:
        """Return fragments linked to the best entries, and links between two entries.

        `related` only says that both were found: it is left out unless asked for.
        """
        asked, fragments = self.query.relation, _fragments_in(found)
        along = (asked,) if asked else FOLLOWED
        best = fragments[:_MOST_FOLLOWED]
        linked = linked_to(self.rows, best, along, self.wanted.agents)
        current = [it for it in linked if self._is_current(it.fragment)]
        between = (asked,) if asked else tuple(it for it in RELATIONS if it != "related")
        ids = {it.id for it in fragments}
        links = self.rows.links(ids, between) if ids else []
        relations = [it for it in links if it.from_id in ids and it.to_id in ids]
        return current[: self.room.config.linked_limit], relations

    def _having_all(self, enough: int) -> list[Fragment]:
        keywords = tuple(filter(str.strip, self.query.keywords))
        if not keywords:
            return []
        most = max(_MOST_EQUAL, enough)
        having = self.rows.with_keywords(keywords, self.wanted, most)
        return self._first([at for at, count in having if count == len(keywords)], most)

    def _by_terms(self, holding: Holding) -> list[tuple[Fragment, float]]:
        rows, wanted = self.rows, self.wanted
        if wanted != Wanted() and not rows.has(wanted, _FEW + 1):
            few = rows.find(wanted, limit=_FEW)
            ranking = Ranking(self.query.question, [it.text for it in few], holding.frequencies())
            of_few = ranking.holding()
            holding = of_few._replace(
                terms=[
                    it._replace(numbers=[few[at].number for at in it.numbers or ()])
                    for it in of_few.terms
                ]
            )
        parts = holding.good_parts()
        best = list(parts)
        are_equal = len(best) > _MOST and parts[best[0]] == parts[best[_MOST]]
        found = self._first(best, _MOST_EQUAL if are_equal else _MOST)
        is_telling = holding.is_telling(parts, [it.number for it in found])
        return [(it, parts[it.number]) for it in found] if is_telling else []

    def _cosines(self, found: Iterable[int]) -> dict[int, float]:
        vector = self.meaning.vector
        if not vector:
            return {}
        cosines = dict(self.rows.near(vector, self.wanted, _MOST))
        rest = [at for at in found if at not in cosines]
        return cosines | {it.number: cosine_of(vector, it.vector) for it in self.rows.vectors(rest)}

    def _first(self, numbers: Sequence[int], most: int) -> list[Fragment]:
        found = list[Fragment]()
        for start in range(0, len(numbers), _AT_ONCE):
            some = tuple(numbers[start : start + _AT_ONCE])
            here = {it.number: it for it in self.rows.find(replace(self.wanted, numbers=some))}
            found += [here[at] for at in some if at in here and self._is_current(here[at])]
            if len(found) >= most:
                break
        return found[:most]

    def _is_current(self, fragment: Fragment) -> bool:
        return is_current(fragment, self.room, self.now, self.session)

    def _entry(self, fragment: Fragment, cosine: float | None = None) -> Entry:
        return Entry(
            source="fragment",
            id=fragment.id,
            text=fragment.text,
            says=(fragment.content,),
            line=lambda: self.line(fragment),
            worth=self.worth(fragment),
            nearness=None if cosine is None else self.meaning.cosines.nearness(cosine),
            what=fragment,
        )


class _Shown:
    def __init__(
        self, relations: Sequence[Link], line: Callable[[Link], str], *, is_labelled: bool
    ) -> None:
        self.entries, self.ids = list[Entry](), set[str]()
        self._relations, self._relation_line, self._is_labelled = relations, line, is_labelled

    def take(self, entries: Sequence[Entry], budget: Budget) -> None:
        """Add entries that fit whole, with their relations to earlier entries."""
        for entry in entries:
            if entry.what is not None and not _may_fit(entry.what, budget):
                continue
            text = entry.labelled() if self._is_labelled else entry.line()
            both = self.ids | {entry.id}
            for it in self._relations:
                if entry.id in (it.from_id, it.to_id) and both >= {it.from_id, it.to_id}:
                    text += f"\n{self._relation_line(it)}"
            if budget.take(text):
                self.entries.append(entry)
                self.ids.add(entry.id)


def _fragments_in(entries: Sequence[Entry]) -> list[Fragment]:
    return [it.what for it in entries if it.source == "fragment"]
