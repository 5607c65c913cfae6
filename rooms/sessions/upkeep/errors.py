"""Names the refusals of the upkeep; their sentences stand in `words.py`."""

from typing import ClassVar

from core.messages import Table
from rooms.sessions.errors import SessionsError
from rooms.sessions.upkeep.words import WORDS


class UpkeepError(SessionsError):
    """Something about an archive, a repair or a removal; takes the key of its sentence."""

    words: ClassVar[Table] = WORDS
