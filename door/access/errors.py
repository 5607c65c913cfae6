"""Every refusal of the door, with its facts; their sentences stand in `words.py`."""

from typing import ClassVar

from core.errors import SentinelError
from core.messages import Table
from door.access.words import WORDS


class DoorError(SentinelError, ValueError):
    """Nobody new can be let in this way; takes the key of its sentence, its facts."""

    words: ClassVar[Table] = WORDS
