"""Collects the fragments that may answer a question: by keywords, by terms, by vectors.

The layers only collect; one order over all that they bring stands in `ordering.py`. A layer is not
asked where those before it have found enough.
"""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import mul
from typing import NamedTuple

from core.text.ranking import Frequencies, Holding, Ranking
from rooms.fragments.fragment import Fragment, Wanted
from rooms.fragments.recall.fitting import Fitting
from rooms.fragments.storage.rows import Rows

MOST = 50  # candidates whose texts are ranked
_MOST_EQUAL = 150  # where more have the same share of the question: another order tells them apart
LEAST_COSINE = 0.5  # of what is found by its vector alone, where the caller names none
_MOST_LOOKED_AT = 3_000  # that have one of the rarest terms of the question
_FEW = 1_000  # fragments that are wanted: all of them are looked at
_AT_ONCE = 60  # fragments that are read: mostly all of them are wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """What is looked for. enough: so many with all keywords need no further layer.

    keywords: of which a fragment has all, or its text is like the question. vector: of the
    question, b"" for none. least_cosine: of what is found by that alone.
    """

    question: str
    keywords: tuple[str, ...]
    has_text: bool
    wanted: Wanted
    fits: Fitting
    enough: int = MOST
    vector: bytes = b""
    least_cosine: float = LEAST_COSINE


class Candidates(NamedTuple):
    """Fragments that may answer. frequencies: of the question's terms in all fragments.

    cosines: by number, of those that have a vector where the question has one.
    """

    fragments: Sequence[Fragment]
    frequencies: Frequencies
    cosines: Mapping[int, float]


def candidates(reading: Rows, sought: Sought) -> Candidates:
    """Return the fragments that may answer a question, in no order."""
    holding = reading.holding(sought.question, _MOST_LOOKED_AT)
    found = {it.number: it for it in _having_all(reading, sought)}
    if sought.has_text or len(found) < sought.enough:
        found |= {it.number: it for it in _by_terms(reading, sought, holding)}
        cosines = dict(_near(reading, sought, found))
    else:
        cosines = {}
    fresh = [number for number in cosines if number not in found]
    others = (it for it in reading.by_numbers(fresh) if sought.fits(it))
    return Candidates([*found.values(), *others], holding.frequencies(), cosines)


def _having_all(reading: Rows, sought: Sought) -> list[Fragment]:
    """Return fragments that have all keywords, the newest first."""
    keywords = sought.keywords
    if not keywords:
        return []
    most = max(_MOST_EQUAL, sought.enough)
    having = reading.with_keywords(keywords, sought.wanted, most)
    numbers = [at for at, count in having if count == len(keywords)]
    return _fitting(reading, numbers, sought.fits, most)


def _by_terms(reading: Rows, sought: Sought, holding: Holding) -> list[Fragment]:
    """Return fragments that have a good part of the question, the best part first."""
    is_filtered = sought.wanted != Wanted()
    if is_filtered and not reading.has(sought.wanted, _FEW + 1):
        few = reading.find(sought.wanted, limit=_FEW)
        numbers = [it.number for it in few]
        ranking = Ranking(sought.question, [it.text for it in few], holding.frequencies())
        of_few = ranking.holding()
        terms = [
            it._replace(numbers=[numbers[at] for at in it.numbers or ()]) for it in of_few.terms
        ]
        holding = Holding(of_few.total, terms)
    parts = holding.good_parts()
    best = list(parts)
    are_equal = len(best) > MOST and parts[best[0]] == parts[best[MOST]]
    found = _fitting(reading, best, sought.fits, _MOST_EQUAL if are_equal else MOST)
    return found if holding.is_telling(parts, [it.number for it in found]) else []


def _near(
    reading: Rows, sought: Sought, found: Mapping[int, Fragment]
) -> Iterable[tuple[int, float]]:
    """Yield cosines: of the fragments that were found, and of those that are near enough."""
    if not sought.vector:
        return
    near = dict(reading.near(sought.vector, sought.wanted, MOST))
    yield from ((at, it) for at, it in near.items() if at in found or it >= sought.least_cosine)
    rest = [at for at in found if at not in near]
    yield from ((it.number, _cosine(sought.vector, it.vector)) for it in reading.vectors(rest))


def _fitting(
    reading: Rows, numbers: Sequence[int], fits: Fitting, most: int = MOST
) -> list[Fragment]:
    """Return the first of these fragments that are wanted, so many at most."""

    def fitting() -> Iterable[Fragment]:
        for start in range(0, len(numbers), _AT_ONCE):
            yield from filter(fits, reading.by_numbers(numbers[start : start + _AT_ONCE]))

    return list(islice(fitting(), most))


def _cosine(one: bytes, other: bytes) -> float:
    """Return the cosine of two vectors of length 1; 0 where another model made one of them."""
    if len(one) != len(other):
        return 0.0
    product: float = sum(map(mul, array("f", one), array("f", other)))
    return product
