"""Holds what a command line says of its arguments, in English and Korean."""

from functools import partial

from core.data import PEOPLE, Sentences
from core.messages import sentence

WORDS = Sentences("parser", PEOPLE)

word = partial(sentence, WORDS)
