"""Every sentence that is about several rooms, in English and Korean."""

from functools import partial

from core.data import PEOPLE, Sentences
from core.messages import sentence

WORDS = Sentences("rooms", PEOPLE)

word = partial(sentence, WORDS)
