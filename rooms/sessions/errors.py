"""Every refusal of the sessions, with its facts; their sentences stand in `words.py`."""

from typing import ClassVar

from core.errors import SentinelError
from core.messages import Language, Table, sentence
from rooms.sessions.words import WORDS


class SessionsError(SentinelError, ValueError):
    """A call on the sessions cannot be carried out; takes the key of its sentence and its facts."""

    words: ClassVar[Table] = WORDS


class NoSuchSessionError(SessionsError):
    """No session has this number or id. Facts: name."""

    key = "no_such_session"


class ConfigError(SessionsError):
    """A value of `config.json` is of another kind. Facts: path, name (its key), expected."""

    key = "bad_config"

    def text(self, lang: Language) -> str:
        """Say what the key must hold, in the reader's language."""
        expected = sentence(self.words, lang, str(self.facts["expected"]))
        return sentence(self.words, lang, self.key, **{**self.facts, "expected": expected})
