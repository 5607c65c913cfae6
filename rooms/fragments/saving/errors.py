"""Names the refusals of saving; their sentences stand in `words.py`."""

from typing import ClassVar

from core.messages import Table
from rooms.fragments.errors import FragmentsError
from rooms.fragments.saving.words import WORDS


class SavingError(FragmentsError):
    """A fragment cannot be saved, corrected, linked or removed; takes the key of its sentence."""

    words: ClassVar[Table] = WORDS
