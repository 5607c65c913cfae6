"""Sentences that a model reads around the records of the log, in English and Korean."""

from functools import partial

from core.data import ANSWERS, Sentences
from core.messages import sentence

WORDS = Sentences("answers", ANSWERS)

say = partial(sentence, WORDS)
