"""Holds the sentences that keys are refused with, in both languages."""

from pathlib import Path

from core.data import Sentences, beside

WORDS = Sentences("http.access", beside(Path(__file__).parents[1]))
