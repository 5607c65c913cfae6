"""Names the refusals of the upkeep; their sentences stand in `words.py`."""

from typing import ClassVar

from core.messages import Table
from rooms.fragments.errors import FragmentsError
from rooms.fragments.upkeep.words import WORDS


class UpkeepError(FragmentsError):
    """The upkeep cannot be done now; takes the key of its sentence. Facts: those it names."""

    words: ClassVar[Table] = WORDS


class UpkeepBusyError(UpkeepError, TimeoutError):
    """Another process is at it. Facts: path."""

    key = "busy"
