"""Every refusal of the server, with its facts; their sentences stand in `words.py`."""

from typing import ClassVar

from core.errors import SentinelError
from core.messages import Table
from http_server.access.words import WORDS


class HttpServerError(SentinelError, ValueError):
    """Nobody new can be let in this way; takes the key of its sentence, its facts."""

    words: ClassVar[Table] = WORDS
