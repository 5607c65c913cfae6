"""Every sentence about git and the versions that it holds or lacks, in English and Korean."""

from functools import partial

from core.data import ANSWERS, Sentences
from core.messages import sentence

WORDS = Sentences("git", ANSWERS)

word = partial(sentence, WORDS)
