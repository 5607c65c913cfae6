"""Puts fragments in order: what answers a question best comes first, of equals what is worth most.

How often a fragment was recalled counts for nothing: what was found once would be found for ever.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime

from core.text.ranking import Ranking
from rooms.fragments.config import Config
from rooms.fragments.engine import Reading, Wanted
from rooms.fragments.fragment import Fragment
from rooms.fragments.recall.candidates import Candidates

_STEPS = 50  # of relevance: two fragments of one step are equally relevant
_HALF_DAYS = 30  # after so many days a fragment is half as recent
_MOST_LISTED = 100  # of the newest and of the most important: those are listed first
_DAY_S = 86_400


class Worth:
    """What orders fragments where no question does. has_order: else only the newest come first."""

    def __init__(self, config: Config, now: str, *, has_order: bool) -> None:
        self._config, self._has_order = config, has_order
        self._now = datetime.fromisoformat(now).timestamp()

    def __call__(self, fragment: Fragment) -> tuple[float, str, int]:
        """Return what is greater for a fragment that comes before."""
        at = max(fragment.updated_at, fragment.created_at)
        if not self._has_order:
            return 0.0, at, fragment.number
        age_days = max(self._now - _seconds(at), 0.0) / _DAY_S
        recency = 0.5 ** (age_days / _HALF_DAYS)
        config = self._config
        worth = config.importance_weight * fragment.importance + config.recency_weight * recency
        return worth, at, fragment.number


def worth_in(reading: Reading, agents: tuple[str, ...], config: Config, now: str) -> Worth:
    """Return what orders fragments in a room of so many."""
    has_order = reading.has(Wanted(agents=agents), max(config.activation_threshold, 1))
    return Worth(config, now, has_order=has_order)


def by_relevance(question: str, found: Candidates, worth: Worth) -> list[Fragment]:
    """Return the candidates of a question, the most relevant first."""
    relevance = _relevance(question, found)
    best = max(relevance.values(), default=0.0) or 1.0

    def key(fragment: Fragment) -> tuple[int, tuple[float, str, int]]:
        return round(relevance[fragment.number] / best * _STEPS), worth(fragment)

    return sorted(found.fragments, key=key, reverse=True)


def by_worth(reading: Reading, wanted: Wanted, worth: Worth) -> list[Fragment]:
    """Return fragments without a question: those worth most first."""
    listed = {
        it.number: it
        for order in ("newest", "worth")
        for it in reading.find(wanted, order=order, limit=_MOST_LISTED)
    }
    return sorted(listed.values(), key=worth, reverse=True)


def _relevance(question: str, found: Candidates) -> Mapping[int, float]:
    """Return what each candidate is worth for the question, from 0 to 1.

    The words of a text count as the ranker weighs them, times the share of the question that it
    has. Its vector counts for half, where the question has one; a fragment that has none yet is
    taken to be as near as its words say.
    """
    lexical = _lexical(question, found.fragments, found)
    if not found.cosines:
        return lexical
    nearest = max(found.cosines.values())
    return {
        number: 0.5 * words + 0.5 * found.cosines.get(number, words * nearest)
        for number, words in lexical.items()
    }


def _lexical(
    question: str, fragments: Sequence[Fragment], found: Candidates
) -> Mapping[int, float]:
    ranking = Ranking(question, [it.text for it in fragments], found.frequencies)
    scores, shares = ranking.scores(), ranking.shares()
    worths = [scores.get(at, 0.0) * shares.get(at, 0.0) for at in range(len(fragments))]
    best = max(worths, default=0.0) or 1.0
    return {it.number: its / best for it, its in zip(fragments, worths, strict=True)}


def _seconds(moment: str) -> float:
    with suppress(ValueError):  # a hand or an import can write anything there
        return datetime.fromisoformat(moment).timestamp()
    return 0.0
