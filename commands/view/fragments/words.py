"""Holds the sentences of the fragments on the page, in English and Korean."""

from functools import partial

from core.data import PEOPLE, Sentences
from core.messages import sentence
from core.program import NAME

WORDS = Sentences("view_fragments", PEOPLE)

word = partial(sentence, WORDS, cli=NAME)
