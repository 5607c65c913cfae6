"""Asks a service for natural language inference: a premise and a hypothesis, three scores.

It gets `{"premise": "…", "hypothesis": "…"}` and answers `{"entailment": 0.02, "neutral": 0.03,
"contradiction": 0.95}`, or a list of `{"label": "…", "score": …}`, either of them below `scores`
as well.
"""

from typing import Any

from rooms.fragments.judging.settings import NLI_VARIABLE, JudgeSettings
from rooms.fragments.judging.verdict import LABELS, Scores, Verdict, of_scores
from rooms.fragments.services.errors import ServiceError
from rooms.fragments.services.numbers import finite
from rooms.fragments.services.posting import Service, post

TIMEOUT_S = 30.0
_ROUNDED = 0.05  # as far as the sum of three scores may be from 1


class NliService:
    """See `OneJudge`."""

    def __init__(self, settings: JudgeSettings, timeout_s: float = TIMEOUT_S) -> None:
        self._service = Service(settings.place, NLI_VARIABLE)
        self._timeout_s = timeout_s

    def verdict(self, earlier: str, later: str) -> Verdict:
        """See `OneJudge`."""
        return of_scores(self._scores(earlier, later), self._scores(later, earlier))

    def _scores(self, premise: str, hypothesis: str) -> Scores:
        body = {"premise": premise, "hypothesis": hypothesis}
        answer = post(self._service, body, timeout_s=self._timeout_s)
        try:
            return _scores_of(answer)
        except (TypeError, ValueError, LookupError, AttributeError):
            raise ServiceError("bad_answer", variable=NLI_VARIABLE) from None


def _scores_of(answer: Any) -> Scores:
    """Return the scores by label. Raises what a wrong form leads to."""
    if isinstance(answer, dict) and "scores" in answer:
        answer = answer["scores"]
    if isinstance(answer, list):
        rows = answer[0] if isinstance(answer[0], list) else answer
        answer = {row["label"]: row["score"] for row in rows}
    given = {str(label).lower(): score for label, score in answer.items()}
    scores = {label: finite(given[label]) for label in LABELS}
    if min(scores.values()) < 0 or abs(sum(scores.values()) - 1) > _ROUNDED:
        raise ValueError("no probabilities")
    return scores
