"""Asks a language model behind a chat endpoint of OpenAI's form."""

from typing import Any

from rooms.fragments.errors import ServiceError
from rooms.fragments.judging.question import RULE, Verdict, answered, asked
from rooms.fragments.judging.settings import CHAT_VARIABLE, JudgeSettings
from rooms.fragments.models.services import Service, post

TIMEOUT_S = 60.0


class ChatJudge:
    """See `OneJudge`."""

    def __init__(self, settings: JudgeSettings) -> None:
        self._service = Service(settings.place, CHAT_VARIABLE, settings.key)
        self._model = settings.model

    def verdict(self, earlier: str, later: str) -> Verdict:
        """See `OneJudge`."""
        # Nothing optional: some servers refuse a temperature, some a form of the answer.
        body = {
            "model": self._model,
            "messages": [
                {"role": "system", "content": RULE},
                {"role": "user", "content": asked(earlier, later)},
            ],
        }
        answer = post(self._service, body, timeout_s=TIMEOUT_S)
        try:
            return answered(_content(answer["choices"][0]["message"]["content"]))
        except (TypeError, ValueError, LookupError, AttributeError):
            raise ServiceError("bad_answer", variable=CHAT_VARIABLE) from None


def _content(given: Any) -> str:
    """Return the text of a message, which some servers give in parts."""
    if isinstance(given, str):
        return given
    return "".join(part["text"] for part in given if part.get("type") == "text")
