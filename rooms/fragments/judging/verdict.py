"""Defines what a judge says of two texts, and what the scores of a model in both directions say."""

from collections.abc import Mapping
from typing import Literal, NamedTuple, Protocol, get_args

Label = Literal["contradiction", "entailment", "neutral"]
LABELS: tuple[str, ...] = get_args(Label)
SURE = 0.8  # a verdict of this confidence needs no other

_UNSURE = (
    0.79  # the most that is said of texts which a model thinks have nothing to do with another
)
_DOUBT = 0.5

Scores = Mapping[str, float]  # by label, from 0 to 1


class Verdict(NamedTuple):
    """What a later text is to an earlier one, and how sure that is, from 0 to 1."""

    label: Label
    confidence: float

    @property
    def is_sure(self) -> bool:
        """Whether no other judge, and no agent, needs to look at it."""
        return self.confidence >= SURE


class OneJudge(Protocol):
    """One way to judge two texts, without their secrets."""

    def verdict(self, earlier: str, later: str) -> Verdict:
        """Return what it thinks. Raises ServiceError."""


def of_scores(one_way: Scores, other_way: Scores) -> Verdict:
    """Return the verdict on what a model says of two texts in both directions.

    A contradiction holds in both, so the mean counts; that one text follows from the other is
    enough to let both stand. A model alone is never sure that they are neutral: numbers, names and
    the words of a trade often look so to it where they contradict each other.
    """
    contradiction = (one_way["contradiction"] + other_way["contradiction"]) / 2
    entailment = max(one_way["entailment"], other_way["entailment"])
    if contradiction >= SURE:
        return Verdict("contradiction", contradiction)
    if entailment >= SURE and contradiction < _DOUBT:
        return Verdict("entailment", entailment)
    neutral = (one_way["neutral"] + other_way["neutral"]) / 2
    return Verdict("neutral", min(neutral, _UNSURE))
