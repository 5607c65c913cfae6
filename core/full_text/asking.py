"""Says which texts have which terms of a question, whatever keeps the index that knows them.

The rarest terms tell which texts are looked at; how common a term is that many have is worked out
from the newest of them, so that the time hardly grows with their number.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Generic, NamedTuple, Protocol, TypeVar

from core.text.shares import Held, Holding
from core.text.terms import FIRST_WIDE, Term, words_of

_MOST_TERMS = 32
_MOST_KNOWN = 8  # of the terms that any text has, the rarest tell what is near
_MOST_SPELLED = 4  # words of a question that is short enough to be typed
# Of a misspelled word: a shorter one is near to too many others; near ones begin as it does.
_LEAST_CHARS, _SAME_CHARS = 5, 3
_MOST_WORDS, _LEAST_RATIO = 3, 0.8
_COUNTED = 100  # how common a term is that more texts have is worked out from the newest

Match = TypeVar("Match")
Numbers = Sequence[int]


class Extent(NamedTuple):
    """The least and the greatest number of the texts, and how many there are, or about so many."""

    first: int
    newest: int
    texts: int


class Terms(Protocol[Match]):
    """An index of texts by the pieces that `indexed` makes of them; a text is known by a number.

    Match: how the index is asked for the texts that have a term.
    """

    def extent(self) -> Extent:
        """Return which texts there are."""

    def match(self, term: Term) -> Match:
        """Return what finds the texts that have a term."""

    def any_of(self, words: Sequence[str]) -> Match:
        """Return what finds the texts that have one of these words."""

    def words(self, begins: str, most: int) -> Sequence[str]:
        """Return words of the texts that begin so, in their order."""

    def newest(
        self, matches: Sequence[Match], most: int, within: Sequence[Match] = ()
    ) -> Sequence[Numbers]:
        """Return the newest texts of each match, the newest first.

        most: how many of each. within: they also have one of these, () for all.
        """


class _Sought(NamedTuple, Generic[Match]):
    """A term of the question, what finds it, and how many texts have it.

    newest: their numbers, all of them where they are fewer than _COUNTED.
    """

    term: Term
    match: Match
    having: int
    newest: Numbers


def holding_of(index: Terms[Match], query: str, most: int) -> Holding:
    """Return which texts have which strong terms of a question.

    most: how many that have one of the rarest terms are looked at.
    """
    extent = index.extent()
    sought = _sought(index, query, extent)
    known = sorted((it for it in sought if it.having), key=lambda it: it.having)[:_MOST_KNOWN]
    places = _places(index, known, most)
    held = [Held(it.term, it.having, places.get(it.term) if it.having else ()) for it in sought]
    return Holding(extent.texts, held)


def _sought(index: Terms[Match], query: str, extent: Extent) -> list[_Sought[Match]]:
    """Return the strong terms of a question; an unknown word with those that are spelled so."""
    words = words_of(query)[:_MOST_TERMS]
    matches = {strong: index.match(strong) for strong, *_ in words}
    sought = _counted(index, matches, extent)
    unknown = [it.term for it in sought if not it.having and not it.term.spare]
    if len(words) <= _MOST_SPELLED:
        meant = {it: near for it in unknown if (near := _spelled(index, it)) is not None}
        others = {it.term: it for it in _counted(index, meant, extent)}
        sought = [others.get(it.term, it) for it in sought]
    return sought


def _spelled(index: Terms[Match], term: Term) -> Match | None:
    """Return what finds the words that are spelled almost as a term; None for none."""
    begins = _begins_of(term)
    near = _near_words(term, index.words(begins, 20_000)) if begins else []
    return index.any_of(near) if near else None


def _counted(
    index: Terms[Match], matches: dict[Term, Match], extent: Extent
) -> list[_Sought[Match]]:
    """Return how many texts have each term: counted where it is rare, else by the newest."""
    if not matches:
        return []
    found = index.newest([*matches.values()], _COUNTED)
    return [
        _Sought(term, match, _having(numbers, extent), numbers)
        for (term, match), numbers in zip(matches.items(), found, strict=True)
    ]


def _having(newest: Numbers, extent: Extent) -> int:
    having = len(newest)
    if having < _COUNTED:
        return having
    share = max(extent.newest - newest[-1] + 1, 1)
    return max(having, having * (extent.newest - extent.first + 1) // share)


def _places(index: Terms[Match], known: Sequence[_Sought[Match]], most: int) -> dict[Term, Numbers]:
    """Return which candidates have a term: the texts that have one of the rarest terms."""
    sums = list(accumulate(it.having for it in known))
    # Where even the rarest is common, the newest that have it.
    rarest = max(1, bisect_right(sums, most))
    places = {it.term: it.newest for it in known if len(it.newest) < _COUNTED}
    for some, within in ((known[:rarest], known[:0]), (known[rarest:], known[:rarest])):
        common = [it for it in some if it.term not in places]
        if common:
            matches = [it.match for it in common]
            found = index.newest(matches, most, [it.match for it in within])
            places |= {it.term: numbers for it, numbers in zip(common, found, strict=True)}
    return places


def _begins_of(term: Term) -> str:
    """Return what words begin with that are near to one; "" for scripts without blanks."""
    needle = term.needle
    if len(needle) < _LEAST_CHARS or not needle.isalpha() or needle[0] >= FIRST_WIDE:
        return ""
    return needle[:_SAME_CHARS]


def _near_words(term: Term, words: Sequence[str]) -> list[str]:
    """Return those of some words that are spelled almost as a term."""
    from difflib import get_close_matches  # few questions need it

    return get_close_matches(term.needle, words, _MOST_WORDS, _LEAST_RATIO)
