"""Holds the sentences of the statistics about fragments, in English and Korean."""

from functools import partial

from core.data import PEOPLE, Sentences
from core.messages import sentence

WORDS = Sentences("stats_fragments", PEOPLE)

word = partial(sentence, WORDS)
