"""Finds the fragments that say nearly the same as another: by their vectors, else by their words.

Two texts are alike as far as each has the words of the other, where a rare word is more of a text
than a common one. So a short text is not alike to a long one that happens to hold it.
"""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from core.text.ranking import Holding, Ranking
from rooms.fragments.fragment import Fragment, Wanted
from rooms.fragments.recall.fitting import Fitting
from rooms.fragments.storage.rows import Rows

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
    others = list(filter(Fitting(wanted), reading.by_numbers(numbers)))
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
