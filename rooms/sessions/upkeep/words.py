"""Holds the sentences that the upkeep refuses with, in both languages."""

from pathlib import Path

from core.data import Sentences, beside

WORDS = Sentences("sessions.upkeep", beside(Path(__file__).parents[1]))
