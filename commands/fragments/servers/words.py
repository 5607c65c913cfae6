"""Holds the sentences on the tables of a server, in both languages."""

from core.data import PEOPLE, Sentences
from core.messages import Language, sentence

WORDS = Sentences("migrate", PEOPLE)


def word(lang: Language, key: str, /, **facts: str | int) -> str:
    """Return a sentence of this table, facts filled in."""
    return sentence(WORDS, lang, key, **facts)
