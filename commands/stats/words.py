"""Holds the sentences of the statistics, in English and Korean."""

from functools import partial

from core.data import PEOPLE, Sentences
from core.messages import sentence

WORDS = Sentences("stats", PEOPLE)

word = partial(sentence, WORDS)
