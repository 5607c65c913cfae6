"""Sentences of the server over HTTP, in English and Korean."""

from functools import partial
from pathlib import Path

from core.data import Sentences, beside
from core.messages import sentence

WORDS = Sentences("http.serving", beside(Path(__file__).parents[1]))

say = partial(sentence, WORDS)
