"""Holds the sentences of the import, in English and Korean."""

from functools import partial

from core.data import PEOPLE, Sentences
from core.messages import sentence

WORDS = Sentences("import", PEOPLE)

word = partial(sentence, WORDS)
