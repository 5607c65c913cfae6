"""Every sentence that a hook says to people of its own failures, in English and Korean."""

from core.data import ANSWERS, Sentences
from core.errors import SentinelError
from core.messages import Facts, Language, sentence

WORDS = Sentences("hook", ANSWERS)


def said(error: Exception, lang: Language) -> str:
    """Return what a person reads of an error; of one of the system, only the words of that."""
    if isinstance(error, SentinelError):
        return error.text(lang)
    if not error.args or error.args[0] not in WORDS:
        return getattr(error, "strerror", None) or type(error).__name__
    facts: Facts = error.args[1] if len(error.args) > 1 else {}
    return sentence(WORDS, lang, error.args[0], **facts)
