"""Holds the sentences that the sessions refuse with, in both languages."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from core.data import Sentences, beside
from core.messages import sentence

WORDS = Sentences("sessions.room", beside(Path(__file__).parent))
say: Callable[..., str] = partial(sentence, WORDS)
