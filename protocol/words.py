"""Sentences for wrong arguments and unexpected failures of a call, in English and Korean."""

from functools import partial

from core.data import ANSWERS, Sentences
from core.messages import sentence

WORDS = Sentences("protocol", ANSWERS)

say = partial(sentence, WORDS)
