"""Holds what `--help` says of each command and option, in English and Korean."""

from functools import partial

from core.data import PEOPLE, Sentences
from core.messages import sentence

WORDS = Sentences("help", PEOPLE)

said = partial(sentence, WORDS)
