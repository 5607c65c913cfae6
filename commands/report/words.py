"""Every sentence of the report, in English and Korean, by name."""

from functools import partial

from core.data import PEOPLE, Sentences
from core.messages import Language, sentence
from core.program import NAME

WORDS = Sentences("report", PEOPLE)

word = partial(sentence, WORDS, cli=NAME)


def counted(lang: Language, key: str, count: int) -> str:
    """Say how many there are of a kind."""
    return word(lang, f"{key}_1") if count == 1 else word(lang, key, count=count)
