"""Every sentence of setup, in English and Korean, by name."""

from functools import partial

from core.data import PEOPLE, Sentences
from core.messages import sentence

WORDS = Sentences("setup", PEOPLE)

word = partial(sentence, WORDS)
