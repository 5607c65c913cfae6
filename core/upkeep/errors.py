"""Names the refusal of a repair; its sentence stands in `words.py`."""

from typing import ClassVar

from core.errors import SentinelError
from core.messages import Table
from core.upkeep.words import WORDS


class NotMendedError(SentinelError, OSError):
    """A file could not be repaired. Facts: path, reason."""

    key = "not_mended"
    words: ClassVar[Table] = WORDS
