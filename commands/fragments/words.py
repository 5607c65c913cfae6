"""Every sentence of the commands for fragments, in English and Korean."""

from functools import partial

from core.data import PEOPLE, Sentences
from core.messages import sentence

WORDS = Sentences("fragment_commands", PEOPLE)

word = partial(sentence, WORDS)
