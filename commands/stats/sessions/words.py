"""Holds the sentences of the statistics about sessions, and of several rooms, in both languages."""

from functools import partial

from core.data import PEOPLE, Sentences
from core.messages import sentence

WORDS = Sentences("stats_sessions", PEOPLE)

word = partial(sentence, WORDS)
