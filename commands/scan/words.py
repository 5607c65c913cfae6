"""Every sentence of the scan, in English and Korean, by name."""

from functools import partial

from core.data import PEOPLE, Sentences
from core.messages import sentence

WORDS = Sentences("scan", PEOPLE)

word = partial(sentence, WORDS)
