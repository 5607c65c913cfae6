"""Keeps the pairs of fragments that may contradict each other until somebody settles them.

Without a model there are only signs: a sign makes a pair worth a look, and decides nothing.
"""

import re
from typing import NamedTuple

from core.data import word_groups
from core.text.plain import normal_form
from core.text.terms import pieces_of
from rooms.fragments.fragment import Fragment, Link, Relation, Suspicion, Wanted
from rooms.fragments.links import alike, settled, supersede
from rooms.fragments.storage.rows import Rows
from rooms.fragments.upkeep import life

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
    signs = signs_of(earlier.content, later.content)
    return Pair(earlier, later, similarity, signs, found_at)


def pairs_with(rows: Rows, fragment: Fragment, now: str) -> list[Pair]:
    """Return the pairs of a fragment with similar fragments, if not compared yet."""
    wanted = Wanted(agents=(fragment.agent,), topics=(fragment.topic,))
    near = alike(rows, fragment, wanted=wanted, most=_MOST_ALIKE, least=min(COSINE, WORDS))
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


def pending(rows: Rows, now: str) -> tuple[list[Pair], list[tuple[str, str]]]:
    """Return the open pairs, the most alike first, and the ids of suspicions that are over.

    A suspicion is over when a fragment left recall or was corrected, when the two got a link other
    than `related`, and after `PROPOSED_DAYS`.
    """
    noted: list[Suspicion] = rows.entries(Suspicion)
    ids = {id_ for it in noted for id_ in (it.first_id, it.second_id)}
    live = {it.id: it for it in rows.by_ids(sorted(ids)) if it.is_live}
    related = {frozenset((it.from_id, it.to_id)) for it in rows.links(sorted(live), _SETTLING)}
    end = life.before(now, days=PROPOSED_DAYS)
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


def still(rows: Rows, pair: Pair) -> Pair | None:
    """Return a pair of now; None if one says something else, or is gone."""
    now = rows.by_ids([pair.earlier.id, pair.later.id])
    same = [(it.content_hash, it.is_live) for it in now]
    if same != [(it.content_hash, True) for it in (pair.earlier, pair.later)]:
        return None
    return pair._replace(earlier=now[0], later=now[1])


def settle(rows: Rows, pair: Pair, now: str) -> bool:
    """Link a contradiction, supersede the earlier; False if it is pinned: a person must look."""
    earlier, later = pair.earlier, pair.later
    if life.is_pinned(earlier):
        return False
    supersede(rows, earlier, later, now)
    link = Link(from_id=later.id, to_id=earlier.id, relation="contradicts", created_at=now)
    rows.put_links([link])
    settled(rows, [(earlier.id, later.id)])
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
