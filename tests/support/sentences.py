"""Gives the tests any sentence of the server, whichever table holds it."""

from collections import ChainMap

from core.lessons.answers.words import WORDS as ANSWERS
from core.messages import MESSAGES, Language, sentence
from protocol.words import WORDS as PROTOCOL

_SAID = ChainMap(dict(MESSAGES), dict(ANSWERS), dict(PROTOCOL))


def say(lang: Language, key: str, /, **facts: str | int) -> str:
    """The sentence `key` of the server with its facts filled in."""
    return sentence(_SAID, lang, key, **facts)
