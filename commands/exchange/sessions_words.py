"""Holds the sentences of the import of sessions, in English and Korean."""

from functools import partial

from core.data import PEOPLE, Sentences
from core.messages import sentence

WORDS = Sentences("import_sessions", PEOPLE)

word = partial(sentence, WORDS)
