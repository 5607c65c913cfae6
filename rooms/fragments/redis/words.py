"""Holds the sentences on the settings of Redis, in both languages."""

from pathlib import Path

from core.data import Sentences, beside

WORDS = Sentences("fragments.redis", beside(Path(__file__).parents[1]))
