"""Defines the one error of this room: git lacks a version, or an argument names none."""

from core.errors import SentinelError
from core.messages import say


class HistoryError(SentinelError, LookupError):
    """A version cannot be had from git, or not be named so.

    notes: keys of sentences that say why a version may be missing.
    """

    table = "git"

    def __init__(self, key: str, /, *notes: str, **facts: str | int) -> None:
        self.notes = notes
        super().__init__(key, **facts)

    def sentence(self) -> str:
        """Return the sentence of the error, then those of its notes."""
        return " ".join([super().sentence(), *(say(f"git.{note}") for note in self.notes)])
