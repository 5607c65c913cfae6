"""Holds the sentences that several commands print, in English and Korean."""

from functools import partial

from core.data import PEOPLE, Sentences
from core.messages import sentence

WORDS = Sentences("terminal", PEOPLE)

word = partial(sentence, WORDS)
