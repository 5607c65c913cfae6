"""Holds the sentences on PostgreSQL servers, in both languages."""

from core.data import PEOPLE, Sentences

WORDS = Sentences("postgres", PEOPLE)
