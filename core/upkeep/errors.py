"""Names the refusal of a repair; its sentence stands in `words.py`."""

from core.errors import SentinelError


class NotMendedError(SentinelError, OSError):
    """A file could not be repaired. Facts: path, reason."""

    key = "not_mended"
    table = "upkeep"
