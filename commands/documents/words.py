"""Holds the sentences of documents and of the files they go to, in English and Korean."""

from functools import partial

from core.data import PEOPLE, Sentences
from core.messages import sentence

WORDS = Sentences("documents", PEOPLE)

word = partial(sentence, WORDS)
