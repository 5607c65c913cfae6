"""Holds the sentences of the export, in English and Korean."""

from functools import partial

from core.data import PEOPLE, Sentences
from core.messages import sentence

WORDS = Sentences("export", PEOPLE)

word = partial(sentence, WORDS)
