"""Says how much of a question some texts have, by what an index or a scan tells of its terms."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from math import log
from typing import NamedTuple

from core.text.terms import FIRST_WIDE, Term

# One pair of characters of a word that has several: the beginning may be all but an ending, any
# other pair is mostly the middle of another word.
_BEGINNING_WEIGHT, _MIDDLE_WEIGHT = 0.5, 0.2
# So many more texts, none of which has the word, count for its share of a question: a few texts do
# not tell which words are common.
_OTHER_TEXTS = 50
# What has a smaller share of a question is no candidate. And nothing is found unless one text has
# two words of the question, or one that is so much of it. Worked out on half of the questions of
# dialogues and on lessons, among 8 to 700 texts: benchmarks/README.md.
_LEAST_SHARE, _ALONE_SHARE = 0.15, 0.3


class Frequencies(NamedTuple):
    """How common the words of a question are in all texts, where only some of these are ranked.

    texts: how many there are in all. having: in how many of them a strong term of `words_of` is
    found, by that term; one that is missing is taken to be as common as among those ranked.
    """

    texts: int
    having: Mapping[Term, int]


class Found(NamedTuple):
    """A strong term of a question: how much it is worth, and the texts that have it."""

    term: Term
    rarity: float
    places: Sequence[int]


class Held(NamedTuple):
    """A strong term of a question, and how many texts have it.

    numbers: those of the texts that were looked at; None where the term is too common to tell.
    """

    term: Term
    having: int
    numbers: Sequence[int] | None


class Holding(NamedTuple):
    """Which texts have which terms of a question, in its order. total: how many texts there are."""

    total: int
    terms: Sequence[Held]

    def frequencies(self) -> Frequencies:
        """Return how common the terms are in all texts, for the ranker."""
        return Frequencies(self.total, {it.term: it.having for it in self.terms})

    def shares(self, least: float, *, any_word: bool = False) -> dict[int, float]:
        """Return by text the share of the question that it has, where that is not too little.

        least: the share that a text must have. any_word: words that no text has keep none from
        being found: who searches may try some.
        """
        found = self.found()
        whole = shares(found)
        judged = shares(of_known_words(found)) if any_word else whole
        return {number: whole[number] for number, share in judged.items() if share >= least}

    def found(self) -> list[Found]:
        """Return the terms that tell which texts have them, each with those texts."""
        return [
            Found(it.term, share_of(min(it.having, self.total), self.total), it.numbers)
            for it in self.terms  # as in the question: the first pair of a word counts for more
            if it.numbers is not None
        ]


def rarity_of(having: int, total: int) -> float:
    """Return how much a term is worth that so many of all texts have."""
    return log(1 + (total - having + 0.5) / (having + 0.5))


def share_of(having: int, total: int) -> float:
    """Return how much of a question a term is that so many of all texts have."""
    return rarity_of(having, total + _OTHER_TEXTS)


def shares(found: Iterable[Found]) -> dict[int, float]:
    """Return by text how much of a question it has, above 0 and at most 1.

    A rare word of the question is more of it than a common one. Of a word in pairs of characters
    those count that any text has: the others are where two words meet, or an ending. One pair of
    several counts little: it may be the middle of another word.
    """
    words: dict[str, list[Found]] = {}
    for it in found:
        if not it.term.spare or it.term.needle[0] < FIRST_WIDE:
            words.setdefault(it.term.run, []).append(it)
    worths = {run: _worths(terms) for run, terms in words.items()}
    most: dict[str, float] = {}
    sums: dict[int, float] = {}
    for run, terms in words.items():
        if not all(it.term.spare for it in terms):
            most[run] = max(it.rarity for it in [it for it in terms if it.places] or terms)
            for at, worth in worths[run].items():
                sums[at] = sums.get(at, 0.0) + worth
    for run in (it for it in words if it not in most):  # another form: it adds what they lack
        same = [it for it in most if it in run or run in it]
        for at, worth in worths[run].items():
            lacking = sum(most[it] - worths[it].get(at, 0.0) for it in same)
            sums[at] = sums.get(at, 0.0) + min(worth, lacking)
    whole = sum(most.values())
    return {at: its / whole if whole else 1.0 for at, its in sums.items() if its}


def _worths(terms: Sequence[Found]) -> dict[int, float]:
    """Return by text what it has of one word, in its forms or in its pairs of characters."""
    most = max((it.rarity for it in terms if it.places), default=0.0)
    if len(terms) == 1 or terms[0].term.needle[0] < FIRST_WIDE:
        return dict.fromkeys(chain.from_iterable(it.places for it in terms), most)
    pairs: dict[int, list[int]] = {}
    for number, it in enumerate(terms):
        for at in it.places:
            pairs.setdefault(at, []).append(number)
    known = sum(it.rarity for it in terms if it.places)
    worths: dict[int, float] = {}
    for at, numbers in pairs.items():
        weight = 1.0
        if len(numbers) == 1:
            weight = _MIDDLE_WEIGHT if numbers[0] else _BEGINNING_WEIGHT
        worths[at] = weight * most * sum(terms[number].rarity for number in numbers) / known
    return worths


def of_known_words(found: Sequence[Found]) -> list[Found]:
    """Return the terms of those words of which something is found in any text."""
    known = {it.term.run for it in found if it.places}
    return [it for it in found if it.term.run in known]


def good_parts(found: Sequence[Found]) -> dict[int, float]:
    """Return by text the share of a question that it has, where it may be an answer.

    The greatest share comes first, of equals the later text. In a few texts a word is missing by
    chance: one that no text has is worth no more than the rarest that any has.
    """
    most = max((it.rarity for it in found if it.places), default=0.0)
    modest = [it if it.places else it._replace(rarity=min(it.rarity, most)) for it in found]
    enough = [(share, at) for at, share in shares(modest).items() if share >= _LEAST_SHARE]
    return {at: share for share, at in sorted(enough, reverse=True)}


def is_telling(found: Sequence[Found], parts: Mapping[int, float], places: Iterable[int]) -> bool:
    """Return whether one of these texts has enough of a question for any of them to be an answer.

    parts: `good_parts` of them.
    """
    runs: dict[str, set[int]] = {}  # the texts that have something of each word
    for it in found:
        if not it.term.spare:
            runs.setdefault(it.term.run, set()).update(it.places)
    words = Counter(chain.from_iterable(runs.values()))
    return any(parts[at] >= _ALONE_SHARE or words[at] > 1 for at in places)
