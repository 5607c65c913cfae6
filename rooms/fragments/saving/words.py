"""Holds the sentences that saving, correcting, linking and removing refuse with."""

from functools import partial
from pathlib import Path

from core.data import Sentences, beside
from core.messages import sentence

WORDS = Sentences("fragments.saving", beside(Path(__file__).parents[1]))
word = partial(sentence, WORDS)
