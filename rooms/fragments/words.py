"""Holds the sentences that the fragments refuse with, in both languages."""

from pathlib import Path

from core.data import Sentences, beside

WORDS = Sentences("fragments.room", beside(Path(__file__).parent))
