"""Holds what `add` says of a fragment, in both languages."""

from functools import partial

from core.data import PEOPLE, Sentences
from core.messages import sentence

WORDS = Sentences("add", PEOPLE)
word = partial(sentence, WORDS)
