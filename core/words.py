"""What is known of English words without a dictionary: which carry no meaning, and their stems."""

import re

_ENDING = re.compile(r"(?<=\w{4})(?:ings?|ions?|ies|ed|es|ly|e|y)$|(?<=\w{3})(?<![isu])s$")

_FUNCTION_WORD_LIST = (
    "a about after again all also am an and any are as at be because been before being between both"
    " but by can cannot could did do does doing don done down during each few for from further had"
    " has have having he her here hers him his how i if in into is isn it its itself just me more"
    " most my no nor not of off on once only or other our out over own same shall she should so"
    " some such than that the their them then there these they this those through to too under"
    " until up us very was we were what when where which while who whom whose why will with would"
    " you your"
)
FUNCTION_WORDS = frozenset(_FUNCTION_WORD_LIST.split())


def stem_of(word: str) -> str:
    """The word without the ending of a plural, a tense or an adverb; lower case is expected."""
    return _ENDING.sub("", word)
