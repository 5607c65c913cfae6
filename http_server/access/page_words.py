"""Holds what the page of consent says, in both languages."""

from functools import partial
from pathlib import Path

from core.data import Sentences, beside
from core.messages import sentence

WORDS = Sentences("http.page", beside(Path(__file__).parents[1]))

word = partial(sentence, WORDS)
