"""Links fragments, finds those that are alike, and follows links from one to others.

Two texts are alike as far as each has the words of the other, where a rare word is more of a text
than a common one. So a short text is not alike to a long one that happens to hold it.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from core.config import DEFAULT_AGENT
from core.text.ranking import Holding, Ranking
from rooms.fragments.errors import NoSuchFragmentError, SavingError
from rooms.fragments.fragment import RELATIONS, Fragment, Link, Relation, Suspicion, Wanted
from rooms.fragments.room import Room, readers, repeats_when_cut
from rooms.fragments.standing import changing, kept, successors, superseded, visible
from rooms.fragments.storage.rows import Rows

LIKE, NEARLY_THE_SAME = 0.7, 0.85
_MOST_LINKS = 3
_BOTH_WAYS = frozenset(("related", "contradicts"))  # what they say holds in the other direction
_TAKEN_OVER = "related", "caused_by", "resolved_by", "part_of"
_CURING = frozenset(("decision", "error", "fact", "procedure"))
_CURE = re.compile(
    r"\b(?:fix(?:e[sd])?|(?:re)?solv(?:e[sd]?|ing)|solution|cure[sd]?|workaround|worked around"
    r"|repair(?:s|ed)?|mitigat(?:e[sd]?|ion))\b|(?<!미)해결|해소|고쳤|고친|고치|수정했|수정하|우회|복구했",
    re.IGNORECASE,
)


class MadeLink(NamedTuple):
    """A link, whether it is new, and which relation it had before where that was another."""

    link: Link
    is_new: bool
    before: str = ""


class LinkedByItself(NamedTuple):
    """The links of a new fragment with those that it is like, and those that are but proposed."""

    links: tuple[Link, ...] = ()
    proposals: tuple[Link, ...] = ()


def link(
    room: Room, from_id: str, to_id: str, relation: str = "related", *, agent: str = ""
) -> MadeLink:
    """Link two fragments; a pair that is linked gets the new relation.

    `superseded_by` takes the first out of recall; another relation in its place brings it back.
    What is linked is suspected of no contradiction any more. Raises FragmentsError, DatabaseError.
    """
    word, agents = relation_word(relation), readers(room, agent)
    with changing(room, from_id) as writing:
        start, end = kept(writing, from_id, agents), kept(writing, to_id, agents)
        if start.id == end.id:
            raise SavingError("own_link", id=start.id)
        _check_own(room, start, end, word)
        settled(writing, start.id, end.id)
        return _put(writing, room, start, end, word)


def _check_own(room: Room, start: Fragment, end: Fragment, relation: Relation) -> None:
    """Raise SavingError unless one end may be changed here, the first where it is superseded."""
    if relation == "superseded_by" and not room.owns(start):
        raise SavingError("shared", id=start.id, owner=start.agent)
    if not (room.owns(start) or room.owns(end)):
        facts = {"from_id": start.id, "to_id": end.id}
        raise SavingError("shared_ends", owner=start.agent, **facts)


def relation_word(given: str) -> Relation:
    """Return the relation that is meant, the first for none. Raises SavingError."""
    word = "_".join(given.lower().replace("-", " ").replace("_", " ").split()) or RELATIONS[0]
    if word not in RELATIONS:
        raise SavingError("bad_relation", known=", ".join(RELATIONS))
    return word  # type: ignore[return-value]


def supersede(writing: Rows, old: Fragment, new: Fragment, now: str, *, owner: str = "") -> Link:
    """Put a fragment in the place of another, which leaves recall. Raises SavingError.

    The new one gets the links of the old one, too: what is linked to that is found no more by it.
    owner: of whom each link must have an end, "" for anybody.
    """
    if old.id in _line_of(writing, new.id):
        raise SavingError("circle", from_id=old.id, to_id=new.id)
    _take_over(writing, old.id, new, now, "" if owner == new.agent else owner)
    made = Link(from_id=old.id, to_id=new.id, relation="superseded_by", created_at=now)
    writing.put_links([made])
    writing.replace([superseded(old, now)])
    writing.count_up({"superseded": int(not old.superseded_at)})
    return made


def _take_over(writing: Rows, old: str, to: Fragment, now: str, owner: str) -> None:
    """Link a fragment with what another is linked with, but for what it is linked with already.

    In as many steps as there are links: a fragment may have very many. owner: of what is linked,
    "" for anybody.
    """
    new = to.id
    known, taken = {new, old}, list[Link]()
    for it in writing.links([new]):
        known.update((it.from_id, it.to_id))
    for it in writing.links([old], _TAKEN_OVER):
        is_from = it.from_id == old
        other = it.to_id if is_from else it.from_id
        if other not in known:
            known.add(other)
            ends = (new, other) if is_from else (other, new)
            taken.append(replace(it, from_id=ends[0], to_id=ends[1], created_at=now))
    if owner:
        known = {it.id for it in writing.by_ids(known) if it.agent == owner}
    writing.put_links(it for it in taken if not owner or {it.from_id, it.to_id} & known)


def put_related(writing: Rows, id_: str, others: Iterable[str], now: str) -> None:
    """Link a fragment with others, but for those that it is linked with in any way."""
    links = writing.links([id_])
    known = {id_, *(it.from_id for it in links), *(it.to_id for it in links)}
    writing.put_links(
        Link(from_id=id_, to_id=it, created_at=now) for it in others if it not in known
    )


def settled(writing: Rows, one: str, other: str) -> None:
    """Take two fragments out of what is suspected of a contradiction."""
    for first, second in ((one, other), (other, one)):
        found: list[Suspicion] = writing.entries(Suspicion, of=first)
        if any(it.second_id == second for it in found):
            writing.forget_entries(Suspicion, of=first)
            writing.note(it for it in found if it.second_id != second)


def linked_by_itself(writing: Rows, fragment: Fragment, *, owner: str = "") -> LinkedByItself:
    """Return the links of a fragment that is about to be stored with those of its topic.

    A cure is linked with its error, what is nearly the same and of the same kind is proposed as
    outdated, the others are related. What lives as long as its session is linked with nothing.
    owner: whose fragments may be outdated by it, "" for anybody's.
    """
    if fragment.session:
        return LinkedByItself()
    agents = tuple(dict.fromkeys((fragment.agent, DEFAULT_AGENT)))
    wanted = Wanted(agents=agents, topics=(fragment.topic,))
    links, proposals = list[Link](), list[Link]()
    for other, similarity in alike(writing, fragment, wanted=wanted, most=_MOST_LINKS, least=LIKE):
        made = Link(from_id=fragment.id, to_id=other.id, created_at=fragment.created_at)
        if other.session or similarity <= LIKE:
            continue
        if cures(fragment, other):
            links.append(_turned(made, "resolved_by"))
        elif cures(other, fragment):
            links.append(replace(made, relation="resolved_by"))
        elif _is_outdated(fragment, other, similarity) and owner in ("", other.agent):
            proposals.append(_turned(made, "superseded_by"))
        else:
            links.append(made)
    return LinkedByItself(tuple(links), tuple(proposals))


def _is_outdated(fragment: Fragment, other: Fragment, similarity: float) -> bool:
    return similarity > NEARLY_THE_SAME and other.kind == fragment.kind


def cures(fragment: Fragment, error: Fragment) -> bool:
    """Return whether a fragment, much like an error, tells how it is resolved.

    A procedure does; a decision, a fact or another error does with a word for it, which the error
    itself has not.
    """
    if error.kind != "error" or fragment.kind not in _CURING or _CURE.search(error.content):
        return False
    return fragment.kind == "procedure" or bool(_CURE.search(fragment.content))


def _put(writing: Rows, room: Room, start: Fragment, end: Fragment, word: Relation) -> MadeLink:
    now = room.clock()
    made = Link(from_id=start.id, to_id=end.id, relation=word, created_at=now)
    known = {(it.from_id, it.to_id): it for it in writing.links([start.id])}
    before, back = known.get((start.id, end.id)), known.get((end.id, start.id))
    if back and back.relation == word and word in _BOTH_WAYS and not before:
        return MadeLink(back, is_new=False)
    if before and before.relation == word:
        return MadeLink(before, is_new=False)
    if word == "superseded_by":
        supersede(writing, start, end, now, owner=room.agent)
    else:
        writing.put_links([made])
        is_lost = bool(start.superseded_at) and not start.promoted
        if is_lost and room.owns(start) and not successors(writing, start.id):
            writing.replace([replace(start, superseded_at="", updated_at=now, decayed_at=now)])
    return MadeLink(made, is_new=before is None, before=before.relation if before else "")


def _line_of(reading: Rows, id_: str) -> set[str]:
    """Return a fragment and all that have its place, one after the other."""
    line, ahead = {id_}, [id_]
    while ahead:
        found = [it for it in successors(reading, ahead.pop()) if it not in line]
        line.update(found)
        ahead += found
    return line


def _turned(made: Link, relation: Relation) -> Link:
    """Return the link in the other direction."""
    return replace(made, from_id=made.to_id, to_id=made.from_id, relation=relation)


FOLLOWED = ("caused_by", "resolved_by", "related")  # where no relation is asked for

_RELATIONS = ("caused_by", "resolved_by", "part_of", "related", "contradicts", "superseded_by")


class Step(NamedTuple):
    """A link that was followed, in whichever direction, and the fragment at its other end."""

    link: Link
    fragment: Fragment


class Linked(NamedTuple):
    """A fragment that is linked to another: over which relation, to which.

    leads_here: the link leads to this fragment; else it leads from this one to the other.
    """

    fragment: Fragment
    relation: str
    to_id: str
    leads_here: bool = True


def steps_from(
    reading: Rows, fragments: Sequence[Fragment], relations: Sequence[str], agents: Sequence[str]
) -> list[Step]:
    """Return the links of fragments that lead elsewhere, those of the first relation first.

    What is in the bin is left out, and what has a successor, unless the link says just that.
    agents: whose fragments count, () for all.
    """
    places = {it.id: place for place, it in enumerate(fragments)}
    links = reading.links(places, relations) if places else []
    ends = sorted(
        _ends(links, places),
        key=lambda it: (relations.index(it[0].relation), places[it[1]], it[0].to_id == it[1]),
    )
    others = {it.id: it for it in reading.by_ids({far: None for *_, far in ends})}
    return [
        Step(link, others[far])
        for link, _, far in ends
        if far in others and _counts(others[far], link, agents)
    ]


def linked_to(
    reading: Rows, fragments: Sequence[Fragment], relations: Sequence[str], agents: Sequence[str]
) -> list[Linked]:
    """Return what is linked to these fragments, each once; the arguments are those above."""
    found = dict[str, Linked]()
    for link, other in steps_from(reading, fragments, relations, agents):
        is_end = link.to_id == other.id
        near = link.from_id if is_end else link.to_id
        found.setdefault(other.id, Linked(other, link.relation, near, is_end))
    return list(found.values())


def _ends(links: Sequence[Link], places: Mapping[str, int]) -> Iterator[tuple[Link, str, str]]:
    """Yield each link that leads elsewhere, with its end that is known and the other one."""
    for link in links:
        if link.to_id not in places:
            yield link, link.from_id, link.to_id
        elif link.from_id not in places:
            yield link, link.to_id, link.from_id


def _counts(other: Fragment, link: Link, agents: Sequence[str]) -> bool:
    if other.deleted_at or (agents and other.agent not in agents):
        return False
    return not other.superseded_at or link.relation == "superseded_by"


class Explored(NamedTuple):
    """A fragment, and the links from and to it with what is at their other ends."""

    start: Fragment
    steps: list[Step]


@repeats_when_cut
def explore(room: Room, start_id: str, *, agent: str = "") -> Explored:
    """Return what a fragment is linked to: causes, cures, then the rest, in both directions.

    agent: whose fragments, beside those of the default; "" for all. Raises NoSuchFragmentError,
    FragmentsError, DatabaseError.
    """
    agents = readers(room, agent)
    with room.engine.reading() as reading:
        start = visible(reading, start_id, agents)
        if start.deleted_at:
            raise NoSuchFragmentError(id=start.id)
        return Explored(start, steps_from(reading, [start], _RELATIONS, agents))


_MOST_HOLDING = 1_000  # that have one of the rarest words of the text
_MOST_COMPARED = 50  # whose texts are read


class Alike(NamedTuple):
    """A fragment that is alike to another, and how much: from 0 to 1, the same text."""

    fragment: Fragment
    similarity: float


def alike(
    reading: Rows, fragment: Fragment, *, wanted: Wanted, most: int, least: float
) -> list[Alike]:
    """Return the live fragments most alike to one, which need not be stored; itself is left out.

    wanted: which of them count. most: how many at most. least: how alike each must be, above 0. It
    is the cosine of the two vectors where both have one, else the share of their words.
    """
    near = _near(reading, fragment, wanted, most)
    found = [(it, near[it.number]) for it in reading.by_numbers(near)]
    found += _sharing(reading, fragment, wanted, near, least)
    enough = [Alike(it, min(share, 1.0)) for it, share in found if share >= least]
    return sorted(enough, key=lambda it: (-it.similarity, -it.fragment.number))[:most]


def _near(reading: Rows, fragment: Fragment, wanted: Wanted, most: int) -> dict[int, float]:
    """Return the cosines of the nearest by their numbers; none where it has no vector."""
    own = reading.vectors([fragment.number]) if fragment.number else []
    if not own:
        return {}
    nearest = reading.near(own[0].vector, wanted, most + 1)
    return {number: cosine for number, cosine in nearest if number != fragment.number}


def _sharing(
    reading: Rows, fragment: Fragment, wanted: Wanted, near: Collection[int], least: float
) -> Iterable[tuple[Fragment, float]]:
    """Yield fragments that have the words of this one, and how much of them both share."""
    if not reading.has(wanted):
        return  # a new topic: nothing to look its words up for
    holding = reading.holding(fragment.content, _MOST_HOLDING)
    shares = holding.shares(least / 2)
    best = sorted(shares, key=lambda it: (shares[it], it), reverse=True)
    numbers = [it for it in best if it != fragment.number and it not in near][:_MOST_COMPARED]
    others = reading.find(replace(wanted, numbers=tuple(numbers)))
    has_vector = bool(near) and {it.number for it in reading.vectors(it.number for it in others)}
    others = [it for it in others if not has_vector or it.number not in has_vector]
    if not others:
        return
    texts = [it.content for it in others]
    there = _shares(fragment.content, texts, holding)
    for at, other in enumerate(others):
        share = there.get(at, 0.0)
        if share >= least:
            back = reading.holding(other.content, _MOST_HOLDING)
            yield other, min(share, _shares(other.content, [fragment.content], back).get(0, 0.0))


def _shares(text: str, others: list[str], holding: Holding) -> dict[int, float]:
    """Return by place how much of a text each of the others has."""
    return Ranking(text, [*others, text], holding.frequencies()).holding().shares()
