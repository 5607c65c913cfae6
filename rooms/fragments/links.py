"""Links fragments, finds similar fragments, follows links, and keeps pairs in contradiction.

Two texts are alike as far as each has the words of the other, and rare words count more. So a short
text is not alike to a long text that holds it.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from core.config import DEFAULT_AGENT
from core.data import word_groups
from core.text.plain import normal_form
from core.text.ranking import Ranking
from core.text.terms import pieces_of
from rooms.fragments import fragment as schema
from rooms.fragments.fragment import Filter, Fragment, FragmentsError, Link, Relation
from rooms.fragments.room import Room, agents_for, find_visible, opened_change, repeats_when_cut
from rooms.fragments.storage.rows import Rows
from rooms.fragments.upkeep.life import is_pinned, moment_before

LIKE, NEARLY_THE_SAME = 0.7, 0.85
FOLLOWED = ("caused_by", "resolved_by", "related")  # where no relation is asked for
_EXPLORED = ("caused_by", "resolved_by", "part_of", "related", "contradicts", "superseded_by")
_BOTH_WAYS = frozenset(("related", "contradicts"))  # they hold in the other direction, too
_TAKEN_OVER = "related", "caused_by", "resolved_by", "part_of"
_SUPERSEDED_IMPORTANCE = 0.3
_MOST_LINKS = 3  # that a fragment gets by itself
_MOST_HOLDING = 1_000  # fragments with one of the rarest words of a text
_MOST_COMPARED = 50  # fragments whose texts are read
_CURING = frozenset(("decision", "error", "fact", "procedure"))
_CURE = re.compile(
    r"\b(?:fix(?:e[sd])?|(?:re)?solv(?:e[sd]?|ing)|solution|cure[sd]?|workaround|worked around"
    r"|repair(?:s|ed)?|mitigat(?:e[sd]?|ion))\b|(?<!미)해결|해소|고쳤|고친|고치|수정했|수정하|우회|복구했",
    re.IGNORECASE,
)


class LinkOutcome(NamedTuple):
    link: Link
    is_new: bool  # the pair had none in its direction
    former: str = ""  # its relation until now, if that is another one


def link(
    room: Room, from_id: str, to_id: str, relation: Relation = "related", *, agent: str = ""
) -> LinkOutcome:
    """Link two fragments; a linked pair gets the new relation.

    `superseded_by` takes the first out of recall; another relation in its place brings it back. The
    pair is no longer suspected of a contradiction.
    """
    agents, now = agents_for(room, agent), room.clock()
    with opened_change(room, from_id) as rows:
        start, end = find_visible(rows, from_id, agents), find_visible(rows, to_id, agents)
        if start.id == end.id:
            raise FragmentsError("own_link", id=start.id)
        if relation == "superseded_by" and not room.owns(start):
            raise FragmentsError("shared", id=start.id, owner=start.agent)
        if not (room.owns(start) or room.owns(end)):
            facts = {"from_id": start.id, "to_id": end.id}
            raise FragmentsError("shared_ends", owner=start.agent, **facts)
        drop_suspicions(rows, [(start.id, end.id)])
        known = {(each.from_id, each.to_id): each for each in rows.links([start.id])}
        there, back = known.get((start.id, end.id)), known.get((end.id, start.id))
        same = there or (back if relation in _BOTH_WAYS else None)
        if same and same.relation == relation:
            return LinkOutcome(same, is_new=False)
        made = Link(from_id=start.id, to_id=end.id, relation=relation, created_at=now)
        if relation == "superseded_by":
            supersede(rows, start, end, now)
        else:
            rows.put_links([made])
            is_lost = bool(start.superseded_at) and not start.promoted
            if is_lost and room.owns(start) and not successors_of(rows, start.id):
                rows.replace([replace(start, superseded_at="", updated_at=now, decayed_at=now)])
        return LinkOutcome(made, is_new=there is None, former=there.relation if there else "")


def supersede(rows: Rows, old: Fragment, new: Fragment, now: str) -> None:
    """Put `new` in the place of `old`, which leaves recall. Raises FragmentsError for a circle.

    `new` gets the links of `old`, by which nothing is found any more; the agent of the rows must
    own an end of each.
    """
    line, ahead = {new.id}, [new.id]  # the new fragment and its successors
    while ahead:
        later = [id_ for id_ in successors_of(rows, ahead.pop()) if id_ not in line]
        line.update(later)
        ahead += later
    if old.id in line:
        raise FragmentsError("circle", from_id=old.id, to_id=new.id)
    known = {new.id, old.id}
    for each in rows.links([new.id]):
        known.update((each.from_id, each.to_id))
    taken = list[Link]()
    for each in rows.links([old.id], _TAKEN_OVER):
        is_from = each.from_id == old.id
        other = each.to_id if is_from else each.from_id
        if other not in known:
            known.add(other)
            ends = (new.id, other) if is_from else (other, new.id)
            taken.append(replace(each, from_id=ends[0], to_id=ends[1], created_at=now))
    if rows.agent not in ("", new.agent):
        own = {each.id for each in rows.by_ids(known) if each.agent == rows.agent}
        taken = [each for each in taken if {each.from_id, each.to_id} & own]
    made = Link(from_id=old.id, to_id=new.id, relation="superseded_by", created_at=now)
    rows.put_links([*taken, made])
    rows.replace([mark_superseded(old, now)])
    rows.count_up({"superseded": int(not old.superseded_at)})


def mark_superseded(fragment: Fragment, now: str) -> Fragment:
    """Return the fragment, out of recall and of little importance."""
    importance = min(fragment.importance, _SUPERSEDED_IMPORTANCE)
    return replace(fragment, importance=importance, superseded_at=fragment.superseded_at or now)


def successors_of(rows: Rows, id_: str) -> list[str]:
    """Return the ids of fragments in its place."""
    return [it.to_id for it in rows.links([id_], ["superseded_by"]) if it.from_id == id_]


def bring_back(rows: Rows, fragment: Fragment, now: str) -> list[Link]:
    """Drop the links of a returning fragment to its successors; count it, if from the bin.

    Return links by which it may supersede own ones of these.
    """
    others = successors_of(rows, fragment.id)
    rows.drop_links(Link(from_id=fragment.id, to_id=other) for other in others)
    if fragment.deleted_at:
        rows.count_up({"restored": 1})
    return [
        Link(from_id=other.id, to_id=fragment.id, relation="superseded_by", created_at=now)
        for other in rows.by_ids(others)
        if other.is_live and rows.agent in ("", other.agent)
    ]


def drop_suspicions(rows: Rows, pairs: Iterable[tuple[str, str]]) -> int:
    """Delete the suspicions of these pairs; return how many."""
    gone, count = {frozenset(it) for it in pairs}, 0
    for first in sorted({id_ for pair in gone for id_ in pair}):
        found: list[schema.Suspicion] = rows.entries(schema.Suspicion, subject=first)
        left = [it for it in found if frozenset((it.first_id, it.second_id)) not in gone]
        if len(left) < len(found):
            rows.drop_entries(schema.Suspicion, subject=first)
            rows.note(left)
            count += len(found) - len(left)
    return count


def find_links(rows: Rows, fragment: Fragment, *, owner: str = "") -> tuple[list[Link], list[Link]]:
    """Return links of a fragment to similar fragments of its topic, and proposals of links.

    A cure is linked with its error; a nearly equal fragment of its kind is proposed as outdated;
    others are `related`. Working memory gets none. owner: whose fragments may be outdated, "" for
    anybody's.
    """
    if fragment.session:
        return [], []
    agents = tuple(dict.fromkeys((fragment.agent, DEFAULT_AGENT)))
    filter_ = Filter(agents=agents, topics=(fragment.topic,))
    links, proposals = list[Link](), list[Link]()
    for other, similarity in find_similar(
        rows, fragment, filter_=filter_, most=_MOST_LINKS, least=LIKE
    ):
        if other.session or similarity <= LIKE:
            continue
        made = Link(from_id=fragment.id, to_id=other.id, created_at=fragment.created_at)
        turned = replace(made, from_id=other.id, to_id=fragment.id)
        is_the_same = similarity > NEARLY_THE_SAME and other.kind == fragment.kind
        if cures(fragment, other):
            links.append(replace(turned, relation="resolved_by"))
        elif cures(other, fragment):
            links.append(replace(made, relation="resolved_by"))
        elif is_the_same and owner in ("", other.agent):
            proposals.append(replace(turned, relation="superseded_by"))
        else:
            links.append(made)
    return links, proposals


def cures(fragment: Fragment, error: Fragment) -> bool:
    """Return whether a fragment, similar to an error, resolves it.

    A procedure does; others need a word for it, such as `fixed`, that the error lacks.
    """
    if error.kind != "error" or fragment.kind not in _CURING or _CURE.search(error.content):
        return False
    return fragment.kind == "procedure" or bool(_CURE.search(fragment.content))


def find_similar(
    rows: Rows, fragment: Fragment, *, filter_: Filter, most: int, least: float
) -> list[tuple[Fragment, float]]:
    """Return the live fragments most similar to one, each with its similarity, 1 for the same.

    fragment: need not be stored. wanted: which count. least: similarity needed, above 0. It is the
    cosine if both have vectors, else the share of words.
    """
    near = dict[int, float]()  # cosines of the nearest, by number
    own = rows.vectors([fragment.number]) if fragment.number else []
    if own:
        near = dict(rows.nearest_cosines(own[0].vector, filter_, most + 1))
        near.pop(fragment.number, None)
    found = [(each, near[each.number]) for each in rows.by_numbers(near)]
    others, text = list[Fragment](), fragment.content
    if rows.has(filter_):  # not for a new topic: there is nothing to look its words up for
        coverage = rows.coverage(text, _MOST_HOLDING)
        parts = coverage.shares(least / 2)
        best = sorted(parts, key=lambda number: (parts[number], number), reverse=True)
        numbers = [number for number in best if number != fragment.number and number not in near]
        if numbers:
            others = rows.find(replace(filter_, numbers=tuple(numbers[:_MOST_COMPARED])))
    if others and near:  # the others with a vector are too far away
        has_vector = {each.number for each in rows.vectors(other.number for other in others)}
        others = [other for other in others if other.number not in has_vector]
    if others:
        texts = [*(other.content for other in others), text]
        shares = Ranking(text, texts, coverage.frequencies()).coverage().shares()
        for at, other in enumerate(others):
            if shares.get(at, 0.0) >= least:
                frequencies = rows.coverage(other.content, _MOST_HOLDING).frequencies()
                back = (
                    Ranking(other.content, [text, other.content], frequencies).coverage().shares()
                )
                found.append((other, min(shares[at], back.get(0, 0.0))))
    enough = [(each, min(share, 1.0)) for each, share in found if share >= least]
    return sorted(enough, key=lambda it: (-it[1], -it[0].number))[:most]


class Step(NamedTuple):
    """A followed link, in either direction, and the fragment at its far end."""

    link: Link
    fragment: Fragment

    @property
    def start_id(self) -> str:
        return self.link.from_id if self.leads_to_fragment else self.link.to_id

    @property
    def leads_to_fragment(self) -> bool:
        """Whether the link leads to `fragment`, else from it."""
        return self.link.to_id == self.fragment.id


class ExploreOutcome(NamedTuple):
    start: Fragment
    steps: list[Step]


@repeats_when_cut
def explore(room: Room, start_id: str, *, agent: str = "") -> ExploreOutcome:
    """Return the links of a fragment in both directions: causes, cures, then others."""
    agents = agents_for(room, agent)
    with room.engine.reading() as rows:
        start = find_visible(rows, start_id, agents, in_bin=True)
        if start.deleted_at:
            raise schema.NoSuchFragmentError(id=start.id)
        return ExploreOutcome(start, steps_from(rows, [start], _EXPLORED, agents))


def steps_from(
    rows: Rows, fragments: Sequence[Fragment], relations: Sequence[str], agents: Sequence[str]
) -> list[Step]:
    """Return the links that lead out of these fragments, in the order of `relations`.

    A fragment in the bin is left out; a superseded one, too, unless the link says so. agents:
    whose, () for all.
    """
    places = {each.id: place for place, each in enumerate(fragments)}
    links = rows.links(places, relations) if places else []
    # Each link with its near end and its far end.
    ends = [(each, each.from_id, each.to_id) for each in links if each.to_id not in places]
    ends += [(each, each.to_id, each.from_id) for each in links if each.from_id not in places]
    ends.sort(
        key=lambda end: (relations.index(end[0].relation), places[end[1]], end[0].to_id == end[1])
    )
    found = rows.by_ids({far: None for *_, far in ends})
    there = [it for it in found if not it.deleted_at and (not agents or it.agent in agents)]
    others = {it.id: it for it in there}
    return [
        Step(each, others[far])
        for each, _, far in ends
        if far in others and (not others[far].superseded_at or each.relation == "superseded_by")
    ]


# Pairs that may contradict each other. Without a model there are only signs: a sign makes a pair
# worth a look, and decides nothing.

# How alike two fragments are that are about the same. The cosine is the specification's. Of 28
# pairs that contradict each other all share half of their words and show a sign; of 18 on one
# matter that agree, 5 do, and none shows one (`tests/data/contradiction_words.json`).
COSINE, WORDS = 0.85, 0.5
PROPOSED_DAYS = 30  # a pair that nobody has settled for so long is no contradiction
MOST_PROPOSED = 10
NEGATION, NUMBERS, OPPOSITES = "negation", "numbers", "opposites"  # the signs
_MOST_ALIKE = 3
_SETTLING: tuple[Relation, ...] = (
    *("contradicts", "superseded_by", "resolved_by", "caused_by", "part_of"),
)
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|cannot|isnt|arent|dont|doesnt|didnt|wont|cant"
    r"|avoid|forbidden|prohibited)\b|n't\b"
    r"|않|없|아니|아닌|아님|못하|못한|못해|못했|(?<![가-힣])(?:안|못) "
    r"|말아야|말 것|말것|마세요|금지|불가"
)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_WIDE = "\u1100"  # from here on words carry endings, and stand joined


class Pair(NamedTuple):
    """Two fragments on the same matter, the earlier first."""

    earlier: Fragment
    later: Fragment
    similarity: float  # from 0 to 1
    signs: tuple[str, ...]  # of a contradiction
    found_at: str
    label: str = ""  # verdict on the later one, if the judge is sure; `unsure`; "" for no answer


def pair_of(one: Fragment, other: Fragment, similarity: float, found_at: str) -> Pair:
    """Return a pair, first the fragment that was said or corrected first."""
    earlier, later = sorted((one, other), key=lambda it: (it.updated_at, it.created_at, it.number))
    return Pair(earlier, later, similarity, signs_of(earlier.content, later.content), found_at)


def find_pairs(rows: Rows, fragment: Fragment, now: str) -> list[Pair]:
    """Return the pairs of a fragment with similar fragments, if not compared yet."""
    filter_ = Filter(agents=(fragment.agent,), topics=(fragment.topic,))
    near = find_similar(rows, fragment, filter_=filter_, most=_MOST_ALIKE, least=min(COSINE, WORDS))
    related = {frozenset((it.from_id, it.to_id)) for it in rows.links([fragment.id], _SETTLING)}
    pairs = []
    for other, similarity in near:
        has_turn = not other.checked_at and other.number > fragment.number  # it comes to this one
        vectors = rows.vectors([fragment.number, other.number])
        if has_turn or similarity < (COSINE if len(vectors) == 2 else WORDS):
            continue
        if frozenset((fragment.id, other.id)) not in related:
            pairs.append(pair_of(fragment, other, similarity, now))
    return pairs


def open_pairs_in(rows: Rows, now: str) -> tuple[list[Pair], list[tuple[str, str]]]:
    """Return the open pairs, the most alike first, and the ids of suspicions that are over.

    A suspicion is over when a fragment left recall or was corrected, when the two got a link other
    than `related`, and after `PROPOSED_DAYS`.
    """
    noted: list[schema.Suspicion] = rows.entries(schema.Suspicion)
    ids = {id_ for it in noted for id_ in (it.first_id, it.second_id)}
    live = {it.id: it for it in rows.by_ids(sorted(ids)) if it.is_live}
    related = {frozenset((it.from_id, it.to_id)) for it in rows.links(sorted(live), _SETTLING)}
    end = moment_before(now, days=PROPOSED_DAYS)
    waiting, over = list[Pair](), list[tuple[str, str]]()
    for suspicion in noted:
        found_at, pair = suspicion.found_at, (suspicion.first_id, suspicion.second_id)
        one, other = map(live.get, pair)
        is_open = frozenset(pair) not in related and found_at >= end
        if one and other and is_open and max(one.updated_at, other.updated_at) <= found_at:
            waiting.append(pair_of(one, other, suspicion.similarity, found_at))
        else:
            over.append(pair)
    return sorted(waiting, key=lambda it: (-it.similarity, it.found_at, it.later.id)), over


def reread(rows: Rows, pair: Pair) -> Pair | None:
    """Return a pair of now; None if one says something else, or is gone."""
    now = rows.by_ids([pair.earlier.id, pair.later.id])
    same = [(it.content_hash, it.is_live) for it in now]
    if same != [(it.content_hash, True) for it in (pair.earlier, pair.later)]:
        return None
    return pair._replace(earlier=now[0], later=now[1])


def settle(rows: Rows, pair: Pair, now: str) -> bool:
    """Link a contradiction, supersede the earlier; False if it is pinned: a person must look."""
    earlier, later = pair.earlier, pair.later
    if is_pinned(earlier):
        return False
    supersede(rows, earlier, later, now)
    link = Link(from_id=later.id, to_id=earlier.id, relation="contradicts", created_at=now)
    rows.put_links([link])
    drop_suspicions(rows, [(earlier.id, later.id)])
    return True


def signs_of(one: str, other: str) -> tuple[str, ...]:
    """Return the signs of a contradiction between two texts, in either order."""
    one, other = (normal_form("NFKC", text).casefold() for text in (one, other))
    signs = list[str]()
    if (len(_NEGATION.findall(one)) - len(_NEGATION.findall(other))) % 2:  # two make none
        signs.append(NEGATION)
    numbers, others = set(_NUMBER.findall(one)), set(_NUMBER.findall(other))
    if numbers and others and numbers != others:
        signs.append(NUMBERS)
    words, other_words = set(pieces_of(one)), set(pieces_of(other))
    for left, right in word_groups("opposites"):
        has = _has(one, words, left, right), _has(other, other_words, left, right)
        has_opposite = _has(one, words, right, left), _has(other, other_words, right, left)
        if has[0] != has[1] and has_opposite == has[::-1]:
            return (*signs, OPPOSITES)
    return tuple(signs)


def _has(text: str, words: set[str], word: str, opposite: str) -> bool:
    """Return whether a text has a word, not only within its opposite."""
    if word[0] < _WIDE:
        return word in words
    return word in (text.replace(opposite, " ") if word in opposite else text)
