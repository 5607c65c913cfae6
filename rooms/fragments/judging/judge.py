"""Asks the judges that the settings name, one after the other, until one is sure."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from core.sanitizer import redact
from rooms.fragments.errors import ServiceError
from rooms.fragments.judging.question import OneJudge, Verdict
from rooms.fragments.judging.settings import CHAT, ONNX, JudgeSettings, read
from rooms.fragments.models.services import Pause


class Judge:
    """Judges in order: each gets what those before it were unsure of, or failed at.

    failure: that of the last one that failed, None where none did. failures: how many there were.
    """

    def __init__(self, judges: Sequence[OneJudge]) -> None:
        self._judges = [(judge, Pause()) for judge in judges]
        self.failure: ServiceError | None = None
        self.failures = 0

    def verdict(self, earlier: str, later: str) -> Verdict:
        """Return what a later text is to an earlier one.

        The last that answered counts where none is sure. Secrets are taken out of both texts before
        anything sees them. A judge that fails is left alone for a while. Raises ServiceError where
        all of them failed.
        """
        texts = redact(earlier)[0], redact(later)[0]
        given: Verdict | None = None
        failures = list[ServiceError]()
        for judge, pausing in self._judges:
            try:
                with pausing.asking():
                    given = judge.verdict(*texts)
            except ServiceError as error:
                self.failure, self.failures = error, self.failures + 1
                failures.append(error)
                continue
            if given.is_sure:
                break
        if given is None:
            raise failures[-1]
        return given


def judge_of(environment: Mapping[str, str]) -> Judge | None:
    """Return who judges by these settings; None where nobody does.

    Nothing is asked, started or loaded before the first pair. Raises ServiceError for settings that
    `check` names.
    """
    settings = read(environment)
    return _judge(settings) if settings else None


@lru_cache(maxsize=8)  # keeps the pause of a service, and a model that is loaded
def _judge(settings: Sequence[JudgeSettings]) -> Judge:
    return Judge([_one(it) for it in settings])


def _one(settings: JudgeSettings) -> OneJudge:
    if settings.kind == CHAT:
        from rooms.fragments.judging.chat import ChatJudge

        return ChatJudge(settings)
    if settings.kind == ONNX:
        from rooms.fragments.judging.onnx_model import OnnxJudge

        return OnnxJudge(settings)
    from rooms.fragments.judging.gemini import GeminiJudge

    return GeminiJudge(settings)
