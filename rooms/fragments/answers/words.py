"""Holds what the tools of the fragments answer, in both languages."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from core.data import Sentences, beside
from core.messages import sentence

WORDS = Sentences("fragments.answers", beside(Path(__file__).parents[1]))
say: Callable[..., str] = partial(sentence, WORDS)
