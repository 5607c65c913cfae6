"""Every refusal of the server, with its facts; their sentences stand in `words.py`."""

from core.errors import SentinelError


class HttpServerError(SentinelError, ValueError):
    """Nobody new can be let in this way; takes the key of its sentence, its facts."""

    table = "http.access"
