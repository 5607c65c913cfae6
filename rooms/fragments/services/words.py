"""Holds the sentences on services and models that the settings name, in both languages."""

from pathlib import Path

from core.data import Sentences, beside

WORDS = Sentences("fragments.services", beside(Path(__file__).parents[1]))
