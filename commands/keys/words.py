"""Every sentence of the commands for keys, in English and Korean."""

from functools import partial

from core.data import PEOPLE, Sentences
from core.messages import sentence

WORDS = Sentences("keys", PEOPLE)

word = partial(sentence, WORDS)
