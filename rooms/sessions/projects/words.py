"""Holds the sentences on projects that share their sessions, in both languages."""

from pathlib import Path

from core.data import Sentences, beside

WORDS = Sentences("sessions.projects", beside(Path(__file__).parents[1]))
