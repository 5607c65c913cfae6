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
from rooms.fragments.room import Room, agents_for, find_visible, open_change, repeats_when_cut
from rooms.fragments.storage.rows import Rows
from rooms.fragments.upkeep.life import is_pinned, moment_before

LIKENESS, EQUALITY = 0.7, 0.85
FOLLOWED = ("caused_by", "resolved_by", "related")  # where no relation is asked for
_RELATIONS = ("caused_by", "resolved_by", "part_of", "related", "contradicts", "superseded_by")
_SYMMETRIC = frozenset(("related", "contradicts"))  # they hold in the other direction, too
_INHERITED_RELATIONS = "related", "caused_by", "resolved_by", "part_of"
_SUPERSEDED_IMPORTANCE = 0.3
_MOST_LINKS = 3  # that a fragment gets by itself
_MOST_COVERED = 1_000  # fragments with one of the rarest words of a text
_MOST_COMPARED = 50  # fragments whose texts are read
_CURE_KINDS = frozenset(("decision", "error", "fact", "procedure"))
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
    with open_change(room, from_id) as rows:
        start, end = find_visible(rows, from_id, agents), find_visible(rows, to_id, agents)
        if start.id == end.id:
            raise FragmentsError("own_link", id=start.id)
        if relation == "superseded_by" and not room.owns(start):
            raise FragmentsError("shared", id=start.id, owner=start.agent)
        if not (room.owns(start) or room.owns(end)):
            raise FragmentsError("shared_ends", owner=start.agent, from_id=start.id, to_id=end.id)
        drop_suspicions(rows, [(start.id, end.id)])
        links = {(row.from_id, row.to_id): row for row in rows.links([start.id])}
        old_link, reverse_link = links.get((start.id, end.id)), links.get((end.id, start.id))
        equal_link = old_link or (reverse_link if relation in _SYMMETRIC else None)
        if equal_link and equal_link.relation == relation:
            return LinkOutcome(equal_link, is_new=False)
        new_link = Link(from_id=start.id, to_id=end.id, relation=relation, created_at=now)
        if relation == "superseded_by":
            supersede(rows, start, end, now)
        else:
            rows.put_links([new_link])
            is_lost = bool(start.superseded_at) and not start.promoted
            if is_lost and room.owns(start) and not successors_of(rows, start.id):
                rows.replace([replace(start, superseded_at="", updated_at=now, decayed_at=now)])
        return LinkOutcome(new_link, old_link is None, old_link.relation if old_link else "")


def supersede(rows: Rows, old: Fragment, new: Fragment, now: str) -> None:
    """Put `new` in the place of `old`, which leaves recall. Raises FragmentsError for a circle.

    `new` gets the links of `old`, by which nothing is found any more; the agent of the rows must
    own an end of each.
    """
    heirs, queue = {new.id}, [new.id]  # the new fragment and its successors
    while queue:
        next_ids = [id_ for id_ in successors_of(rows, queue.pop()) if id_ not in heirs]
        heirs.update(next_ids)
        queue += next_ids
    if old.id in heirs:
        raise FragmentsError("circle", from_id=old.id, to_id=new.id)
    linked_ids = {new.id, old.id}
    for row in rows.links([new.id]):
        linked_ids.update((row.from_id, row.to_id))
    new_links = list[Link]()
    for row in rows.links([old.id], _INHERITED_RELATIONS):
        is_outgoing = row.from_id == old.id
        other = row.to_id if is_outgoing else row.from_id
        if other not in linked_ids:
            linked_ids.add(other)
            ends = (new.id, other) if is_outgoing else (other, new.id)
            new_links.append(replace(row, from_id=ends[0], to_id=ends[1], created_at=now))
    if rows.agent not in ("", new.agent):
        own_ids = {end.id for end in rows.by_ids(linked_ids) if end.agent == rows.agent}
        new_links = [row for row in new_links if {row.from_id, row.to_id} & own_ids]
    succession = Link(from_id=old.id, to_id=new.id, relation="superseded_by", created_at=now)
    rows.put_links([*new_links, succession])
    rows.replace([mark_superseded(old, now)])
    rows.count_up({"superseded": int(not old.superseded_at)})


def mark_superseded(fragment: Fragment, now: str) -> Fragment:
    """Return the fragment, out of recall and of little importance."""
    importance = min(fragment.importance, _SUPERSEDED_IMPORTANCE)
    return replace(fragment, importance=importance, superseded_at=fragment.superseded_at or now)


def successors_of(rows: Rows, id_: str) -> list[str]:
    """Return the ids of the fragments that took its place."""
    return [row.to_id for row in rows.links([id_], ["superseded_by"]) if row.from_id == id_]


def bring_back(rows: Rows, fragment: Fragment, now: str) -> list[Link]:
    """Drop the links of a returning fragment to its successors; count it, if from the bin.

    Return links by which it may supersede own ones of these.
    """
    ids = successors_of(rows, fragment.id)
    rows.drop_links(Link(from_id=fragment.id, to_id=id_) for id_ in ids)
    if fragment.deleted_at:
        rows.count_up({"restored": 1})
    return [
        Link(from_id=other.id, to_id=fragment.id, relation="superseded_by", created_at=now)
        for other in rows.by_ids(ids)
        if other.is_live and rows.agent in ("", other.agent)
    ]


def drop_suspicions(rows: Rows, pairs: Iterable[tuple[str, str]]) -> int:
    """Delete the suspicions of these pairs; return how many."""
    ends, count = {frozenset(pair) for pair in pairs}, 0
    for first in sorted({id_ for pair in ends for id_ in pair}):
        entries: list[schema.Suspicion] = rows.entries(schema.Suspicion, subject=first)
        rest = [row for row in entries if frozenset((row.first_id, row.second_id)) not in ends]
        if len(rest) < len(entries):
            rows.drop_entries(schema.Suspicion, subject=first)
            rows.put_entries(rest)
            count += len(entries) - len(rest)
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
    for other, score in find_similar(rows, fragment, filter_, most=_MOST_LINKS, least=LIKENESS):
        if other.session or score <= LIKENESS:
            continue
        new_link = Link(from_id=fragment.id, to_id=other.id, created_at=fragment.created_at)
        reverse_link = replace(new_link, from_id=other.id, to_id=fragment.id)
        is_equal = score > EQUALITY and other.kind == fragment.kind
        if cures(fragment, other):
            links.append(replace(reverse_link, relation="resolved_by"))
        elif cures(other, fragment):
            links.append(replace(new_link, relation="resolved_by"))
        elif is_equal and owner in ("", other.agent):
            proposals.append(replace(reverse_link, relation="superseded_by"))
        else:
            links.append(new_link)
    return links, proposals


def cures(fragment: Fragment, error: Fragment) -> bool:
    """Return whether a fragment, similar to an error, resolves it.

    A procedure does; others need a word for it, such as `fixed`, that the error lacks.
    """
    if error.kind != "error" or fragment.kind not in _CURE_KINDS or _CURE.search(error.content):
        return False
    return fragment.kind == "procedure" or bool(_CURE.search(fragment.content))


def find_similar(
    rows: Rows, fragment: Fragment, filter_: Filter, *, most: int, least: float
) -> list[tuple[Fragment, float]]:
    """Return the live fragments most similar to one, each with its similarity, 1 for the same.

    fragment: need not be stored. filter_: of the others. least: similarity needed, above 0: the
    cosine if both have vectors, else the share of words.
    """
    cosines = dict[int, float]()  # of the nearest, by number
    embeddings = rows.vectors([fragment.number]) if fragment.number else []
    if embeddings:
        cosines = dict(rows.nearest_cosines(embeddings[0].vector, filter_, most + 1))
        cosines.pop(fragment.number, None)
    pairs = [(other, cosines[other.number]) for other in rows.by_numbers(cosines)]
    others, text = list[Fragment](), fragment.content
    if rows.has(filter_):  # not for a new topic: there is nothing to look its words up for
        coverage = rows.coverage(text, _MOST_COVERED)
        shares = coverage.shares(least / 2)
        ranked_numbers = sorted(shares, key=lambda number: (shares[number], number), reverse=True)
        numbers = [n for n in ranked_numbers if n != fragment.number and n not in cosines]
        if numbers:
            others = rows.find(replace(filter_, numbers=tuple(numbers[:_MOST_COMPARED])))
    if others and cosines:  # the others with a vector are too far away
        vector_numbers = {row.number for row in rows.vectors(other.number for other in others)}
        others = [other for other in others if other.number not in vector_numbers]
    if others:
        texts = [*(other.content for other in others), text]
        shares = Ranking(text, texts, coverage.frequencies()).coverage().shares()
        for i, other in enumerate(others):
            if shares.get(i, 0.0) >= least:
                frequencies = rows.coverage(other.content, _MOST_COVERED).frequencies()
                ranking = Ranking(other.content, [text, other.content], frequencies)
                reverse_share = ranking.coverage().shares().get(0, 0.0)
                pairs.append((other, min(shares[i], reverse_share)))
    similar = [(other, min(share, 1.0)) for other, share in pairs if share >= least]
    return sorted(similar, key=lambda pair: (-pair[1], -pair[0].number))[:most]


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
        return ExploreOutcome(start, steps_from(rows, [start], _RELATIONS, agents))


def steps_from(
    rows: Rows, fragments: Sequence[Fragment], relations: Sequence[str], agents: Sequence[str]
) -> list[Step]:
    """Return the links that lead out of these fragments, in the order of `relations`.

    A fragment in the bin is left out; a superseded one, too, unless the link says so. agents:
    whose, () for all.
    """
    places = {fragment.id: place for place, fragment in enumerate(fragments)}
    links = rows.links(places, relations) if places else []
    # Each link with the id of its start and its end, as it is followed.
    ends = [(link, link.from_id, link.to_id) for link in links if link.to_id not in places]
    ends += [(link, link.to_id, link.from_id) for link in links if link.from_id not in places]
    ends.sort(
        key=lambda end: (relations.index(end[0].relation), places[end[1]], end[0].to_id == end[1])
    )
    peers = rows.by_ids({end: None for *_, end in ends})
    peers = [row for row in peers if not row.deleted_at and (not agents or row.agent in agents)]
    others = {row.id: row for row in peers}
    return [
        Step(link, others[end])
        for link, _, end in ends
        if end in others and (not others[end].superseded_at or link.relation == "superseded_by")
    ]


# Pairs that may contradict each other. Without a model there are only signs: a sign makes a pair
# worth a look, and decides nothing.

# How alike two fragments are that are about the same. The cosine is the specification's. Of 28
# pairs that contradict each other all share half of their words and show a sign; of 18 on one
# matter that agree, 5 do, and none shows one (`tests/data/contradiction_words.json`).
COSINE, SHARE = 0.85, 0.5
PROPOSED_DAYS = 30  # a pair that nobody has settled for so long is no contradiction
MOST_PROPOSED = 10
NEGATION, NUMBERS, OPPOSITES = "negation", "numbers", "opposites"  # the signs
_MOST_ALIKE = 3
_VERDICTS: tuple[Relation, ...] = (
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


def pair_of(first: Fragment, second: Fragment, similarity: float, found_at: str) -> Pair:
    """Return a pair, first the fragment that was said or corrected first."""
    ends = sorted((first, second), key=lambda row: (row.updated_at, row.created_at, row.number))
    signs = signs_of(ends[0].content, ends[1].content)
    return Pair(ends[0], ends[1], similarity, signs, found_at)


def find_pairs(rows: Rows, fragment: Fragment, now: str) -> list[Pair]:
    """Return the pairs of a fragment with similar fragments, if not compared yet."""
    filter_ = Filter(agents=(fragment.agent,), topics=(fragment.topic,))
    similar = find_similar(rows, fragment, filter_, most=_MOST_ALIKE, least=min(COSINE, SHARE))
    related = {frozenset((row.from_id, row.to_id)) for row in rows.links([fragment.id], _VERDICTS)}
    pairs = []
    for other, similarity in similar:
        has_turn = not other.checked_at and other.number > fragment.number  # it comes to this one
        vectors = rows.vectors([fragment.number, other.number])
        if has_turn or similarity < (COSINE if len(vectors) == 2 else SHARE):
            continue
        if frozenset((fragment.id, other.id)) not in related:
            pairs.append(pair_of(fragment, other, similarity, now))
    return pairs


def open_pairs_in(rows: Rows, now: str) -> tuple[list[Pair], list[tuple[str, str]]]:
    """Return the open pairs, the most alike first, and the ids of suspicions that are over.

    A suspicion is over when a fragment left recall or was corrected, when the two got a link other
    than `related`, and after `PROPOSED_DAYS`.
    """
    suspicions: list[schema.Suspicion] = rows.entries(schema.Suspicion)
    ids = {id_ for row in suspicions for id_ in (row.first_id, row.second_id)}
    ends = {row.id: row for row in rows.by_ids(sorted(ids)) if row.is_live}
    related = {frozenset((row.from_id, row.to_id)) for row in rows.links(sorted(ends), _VERDICTS)}
    end = moment_before(now, days=PROPOSED_DAYS)
    pairs, past_ids = list[Pair](), list[tuple[str, str]]()
    for suspicion in suspicions:
        found_at, pair_ids = suspicion.found_at, (suspicion.first_id, suspicion.second_id)
        first, second = map(ends.get, pair_ids)
        is_open = frozenset(pair_ids) not in related and found_at >= end
        if first and second and is_open and max(first.updated_at, second.updated_at) <= found_at:
            pairs.append(pair_of(first, second, suspicion.similarity, found_at))
        else:
            past_ids.append(pair_ids)
    return sorted(pairs, key=lambda row: (-row.similarity, row.found_at, row.later.id)), past_ids


def reread(rows: Rows, pair: Pair) -> Pair | None:
    """Return a pair of now; None if one says something else, or is gone."""
    fragments = rows.by_ids([pair.earlier.id, pair.later.id])
    states = [(row.content_hash, row.is_live) for row in fragments]
    if states != [(row.content_hash, True) for row in (pair.earlier, pair.later)]:
        return None
    return pair._replace(earlier=fragments[0], later=fragments[1])


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


def signs_of(first: str, second: str) -> tuple[str, ...]:
    """Return the signs of a contradiction between two texts, in either order."""
    first, second = (normal_form("NFKC", text).casefold() for text in (first, second))
    signs = list[str]()
    if (len(_NEGATION.findall(first)) - len(_NEGATION.findall(second))) % 2:  # two make none
        signs.append(NEGATION)
    numbers, other_numbers = set(_NUMBER.findall(first)), set(_NUMBER.findall(second))
    if numbers and other_numbers and numbers != other_numbers:
        signs.append(NUMBERS)
    sides = (first, set(pieces_of(first))), (second, set(pieces_of(second)))
    for word, opposite in word_groups("opposites"):
        has_word = [_has_word(text, words, word, opposite) for text, words in sides]
        has_opposite = [_has_word(text, words, opposite, word) for text, words in sides]
        if has_word[0] != has_word[1] and has_opposite == has_word[::-1]:
            return (*signs, OPPOSITES)
    return tuple(signs)


def _has_word(text: str, words: set[str], word: str, opposite: str) -> bool:
    """Return whether a text has a word, not only within its opposite."""
    if word[0] < _WIDE:
        return word in words
    return word in (text.replace(opposite, " ") if word in opposite else text)
