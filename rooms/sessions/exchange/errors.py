"""Every refusal of the export and the import, with its facts."""

from typing import ClassVar

from core.messages import Table
from core.text.printable import one_line
from rooms.sessions.errors import SessionsError
from rooms.sessions.exchange.words import WORDS

_PATH_CHARS = 200


class ExchangeError(SessionsError):
    """A document cannot be written or read as asked; takes the key of its sentence."""

    words: ClassVar[Table] = WORDS


def shown_path(path: object) -> str:
    """Return a path that somebody else may have written, as one line of moderate length."""
    text = one_line(str(path))
    return text if len(text) <= _PATH_CHARS else f"{text[:_PATH_CHARS]}…"
