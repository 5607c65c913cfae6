"""Holds the sentences that recalling refuses with, in both languages."""

from pathlib import Path

from core.data import Sentences, beside

WORDS = Sentences("fragments.recall", beside(Path(__file__).parents[1]))
