"""Keeps the pairs of fragments that may contradict each other until somebody settles them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rooms.fragments.fragment import Fragment, Link, Relation, Suspicion, Wanted
from rooms.fragments.recall.likeness import alike
from rooms.fragments.saving.linking import supersede
from rooms.fragments.storage.rows import Rows
from rooms.fragments.upkeep import life
from rooms.fragments.upkeep.signs import signs_of

# How alike two fragments are that are about the same. The cosine is the specification's. Of 28
# pairs that contradict each other all share half of their words and show a sign; of 18 on one
# matter that agree, 5 do, and none shows one (`tests/support/contradiction_words.py`).
COSINE, WORDS = 0.85, 0.5
PROPOSED_DAYS = 30  # a pair that nobody has settled for so long is no contradiction
MOST_PROPOSED = 10
_MOST_ALIKE = 3
_AT_ONCE = 300  # ids in one question
_SETTLING: tuple[Relation, ...] = (
    *("contradicts", "superseded_by", "resolved_by", "caused_by", "part_of"),
)


class Pair(NamedTuple):
    """Two fragments that are about the same, the earlier one first.

    similarity: from 0 to 1. signs: by which they may contradict each other, see `signs`. found_at:
    when they were found.
    """

    earlier: Fragment
    later: Fragment
    similarity: float
    signs: tuple[str, ...]
    found_at: str

    @property
    def suspicion(self) -> Suspicion:
        """What is stored of it."""
        return Suspicion(
            first_id=self.earlier.id,
            second_id=self.later.id,
            similarity=self.similarity,
            found_at=self.found_at,
        )


def pairs_with(reading: Rows, fragment: Fragment, now: str) -> list[Pair]:
    """Return the pairs of a fragment and those about the same that it was not yet compared with."""
    wanted = Wanted(agents=(fragment.agent,), topics=(fragment.topic,))
    near = alike(reading, fragment, wanted=wanted, most=_MOST_ALIKE, least=min(COSINE, WORDS))
    settled = _settled(reading, [fragment.id])
    pairs = []
    for other, similarity in near:
        turn = not other.checked_at and other.number > fragment.number  # it comes to this one
        both = reading.vectors([fragment.number, other.number])
        if turn or similarity < (COSINE if len(both) == 2 else WORDS):
            continue
        if frozenset((fragment.id, other.id)) not in settled:
            pairs.append(pair_of(fragment, other, similarity, now))
    return pairs


def pair_of(one: Fragment, other: Fragment, similarity: float, found_at: str) -> Pair:
    """Return a pair, the fragment that was said or corrected first in the first place."""
    earlier, later = sorted((one, other), key=lambda it: (it.updated_at, it.created_at, it.number))
    signs = signs_of(earlier.content, later.content)
    return Pair(earlier, later, similarity, signs, found_at)


def pending(reading: Rows, now: str) -> tuple[list[Pair], list[Suspicion]]:
    """Return the pairs that wait, the most alike first, and the suspicions that are none any more.

    One is over when a fragment has left recall or was corrected, when the two were linked by more
    than `related`, and after `PROPOSED_DAYS`.
    """
    noted: list[Suspicion] = reading.entries(Suspicion)
    ids = {id_ for it in noted for id_ in (it.first_id, it.second_id)}
    there = {it.id: it for it in reading.by_ids(sorted(ids)) if it.is_live}
    settled = _settled(reading, sorted(there))
    end = life.before(now, days=PROPOSED_DAYS)
    waiting, over = list[Pair](), list[Suspicion]()
    for it in noted:
        one, other = there.get(it.first_id), there.get(it.second_id)
        is_open = frozenset((it.first_id, it.second_id)) not in settled and it.found_at >= end
        if one and other and is_open and max(one.updated_at, other.updated_at) <= it.found_at:
            waiting.append(pair_of(one, other, it.similarity, it.found_at))
        else:
            over.append(it)
    return sorted(waiting, key=lambda it: (-it.similarity, it.found_at, it.later.id)), over


def drop(writing: Rows, over: Iterable[Suspicion]) -> int:
    """Forget suspicions by their two ends; return how many."""
    gone = {(it.first_id, it.second_id) for it in over}
    for first in sorted({it for it, _ in gone}):
        noted: list[Suspicion] = writing.entries(Suspicion, of=first)
        others = [it for it in noted if (it.first_id, it.second_id) not in gone]
        writing.forget_entries(Suspicion, of=first)
        writing.note(others)
    return len(gone)


def settle(writing: Rows, pair: Pair, now: str) -> bool:
    """Link the two as a contradiction, and let the later one have the place of the earlier.

    Return False, and change nothing, where the earlier one is pinned: a person has to look.
    """
    earlier, later = pair.earlier, pair.later
    if life.is_pinned(earlier):
        return False
    supersede(writing, earlier, later, now)
    writing.put_links(
        [Link(from_id=later.id, to_id=earlier.id, relation="contradicts", created_at=now)]
    )
    drop(writing, [pair.suspicion])
    return True


def still(writing: Rows, pair: Pair) -> Pair | None:
    """Return a pair as it is now; None where one of them says something else, or is gone."""
    now = writing.by_ids([pair.earlier.id, pair.later.id])
    same = [(it.content_hash, it.is_live) for it in now]
    if same != [(it.content_hash, True) for it in (pair.earlier, pair.later)]:
        return None
    return pair._replace(earlier=now[0], later=now[1])


def _settled(reading: Rows, ids: Sequence[str]) -> set[frozenset[str]]:
    """Return the pairs of fragments that somebody has set in relation."""
    links = list[Link]()
    for at in range(0, len(ids), _AT_ONCE):
        links += reading.links(ids[at : at + _AT_ONCE], _SETTLING)
    return {frozenset((it.from_id, it.to_id)) for it in links}
