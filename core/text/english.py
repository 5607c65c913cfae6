"""Knows English without a dictionary: words that carry no meaning, irregular forms, stems."""

import re

_ENDING = re.compile(r"(?<=\w{4})(?:ings?|ions?|ies|ed|es|ly|e|y)$|(?<=\w{3})(?<![isu])s$")

_FUNCTION_WORD_LIST = (
    "a about after again all also am an and any are aren as at be because been before being"
    " between both but by can cannot could couldn did didn do does doesn doing don done down"
    " during each few for from further had hadn has hasn have haven having he her here hers him"
    " his how i if in into is isn it its itself just ll me more most my no nor not of off on once"
    " only or other our out over own same shall she should shouldn so some such than that the"
    " their them then there these they this those through to too under until up us ve very was"
    " wasn we were weren what when where which while who whom whose why will with would wouldn"
    " you your"
)
FUNCTION_WORDS = frozenset(_FUNCTION_WORD_LIST.split())

_IRREGULAR = (
    "begin began begun, break broke broken, bring brought, build built, buy bought, catch caught,"
    " choose chose chosen, come came, draw drew drawn, drive drove driven, eat ate eaten, fall"
    " fell fallen, feel felt, fight fought, find found, fly flew flown, forget forgot forgotten,"
    " get got gotten, give gave given, go goes going went gone, grow grew grown, hear heard, hide"
    " hid hidden, hold held, keep kept, know knew known, lead led, leave left, lose lost, make"
    " made, mean meant, meet met, pay paid, ride rode ridden, run ran, say said, see saw seen,"
    " sell sold, send sent, sing sang sung, sit sat, sleep slept, speak spoke spoken, spend spent,"
    " stand stood, steal stole stolen, swim swam swum, take took taken, teach taught, tell told,"
    " think thought, throw threw thrown, understand understood, wear wore worn, win won, write"
    " wrote written, child children, man men, person people, woman women"
)
_IRREGULAR_WORDS = [forms.split() for forms in _IRREGULAR.split(", ")]
OTHER_FORMS = {
    word: [form for form in forms if form != word] for forms in _IRREGULAR_WORDS for word in forms
}


def stem_of(word: str) -> str:
    """Return a lower-case word without the ending of a plural, a tense or an adverb."""
    return _ENDING.sub("", word)
