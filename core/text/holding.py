"""Says which share of a question some texts have, by what an index tells of its terms."""

from collections.abc import Sequence
from typing import NamedTuple

from core.text.ranking import Found, Frequencies, of_known_words, share_of, shares
from core.text.terms import Term


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
        told = [
            Found(it.term, share_of(min(it.having, self.total), self.total), it.numbers)
            for it in self.terms  # as in the question: the first pair of a word counts for more
            if it.numbers is not None
        ]
        found = shares(told)
        sure = of_known_words(told) if any_word else told
        having = found if len(sure) == len(told) else shares(sure)
        return {number: found[number] for number, share in having.items() if share >= least}
