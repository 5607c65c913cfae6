"""Defines the one error of this room: git lacks a version, or an argument names none."""

from core.errors import SentinelError
from core.lessons.git.words import WORDS, word
from core.messages import Language


class HistoryError(SentinelError, LookupError):
    """A version cannot be had from git, or not be named so.

    notes: keys of sentences that say why a version may be missing.
    """

    words = WORDS

    def __init__(self, key: str, /, *notes: str, **facts: str | int) -> None:
        self.notes = notes
        super().__init__(key, **facts)

    def text(self, lang: Language) -> str:
        """Return the sentence of the error, then those of its notes."""
        return " ".join([super().text(lang), *(word(lang, note) for note in self.notes)])
