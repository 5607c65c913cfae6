"""Holds the sentence on a file that could not be repaired, in both languages."""

from core.data import ANSWERS, Sentences

WORDS = Sentences("upkeep", ANSWERS)
