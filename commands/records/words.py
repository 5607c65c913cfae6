"""Every sentence of the commands for records, in English and Korean."""

from functools import partial

from core.data import PEOPLE, Sentences
from core.messages import sentence

WORDS = Sentences("records", PEOPLE)

word = partial(sentence, WORDS)
