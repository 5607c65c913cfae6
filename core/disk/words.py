"""Holds the sentences on databases, in both languages."""

from core.data import ANSWERS, Sentences

WORDS = Sentences("disk", ANSWERS)
