"""Every refusal of the export and the import of fragments, with its facts."""

from typing import ClassVar

from core.messages import Table
from rooms.fragments.errors import FragmentsError
from rooms.fragments.exchange.words import WORDS


class ExchangeError(FragmentsError):
    """A document cannot be written or read as asked; takes the key of its sentence."""

    words: ClassVar[Table] = WORDS
