"""Every refusal of the export and the import, with its facts."""

from typing import ClassVar

from core.messages import Table
from rooms.sessions.errors import SessionsError
from rooms.sessions.exchange.words import WORDS


class ExchangeError(SessionsError):
    """A document cannot be written or read as asked; takes the key of its sentence."""

    words: ClassVar[Table] = WORDS
