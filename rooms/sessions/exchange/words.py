"""Holds what exported documents say, and the sentences of the export and the import."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from core.data import Sentences, beside
from core.messages import sentence

WORDS = Sentences("sessions.exchange", beside(Path(__file__).parents[1]))
say: Callable[..., str] = partial(sentence, WORDS)
