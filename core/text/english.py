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


_ONE_SYLLABLE = re.compile("[^aeiou]*[aeiou][bdfgklmnprtvz]")
_DOUBLING = re.compile(".*[aeiou][bdfgklmnprtvz]")
_VOWEL = re.compile("[aeiouy]")
_ASCII_WORD = re.compile("[a-z]{2,}")


def forms_of(word: str) -> set[str]:
    """Return a lower-case word in all its forms: plurals, tenses, `migrate` and `migration`.

    Some of the forms are no words. A word that carries no meaning has no other form.
    """
    if word in FUNCTION_WORDS or not _ASCII_WORD.fullmatch(word):
        return {word}
    forms = {word}
    for base in (word, *_bases(word), *OTHER_FORMS.get(word, ())):
        forms.update((base, *_inflected(base), *OTHER_FORMS.get(base, ())))
    return forms


def _bases(word: str) -> list[str]:
    """Return the words of which this may be a form."""
    found = []
    for suffix in ("s", "es", "ies", "ed", "ied", "ing", "ion", "ions"):
        stem = word[: -len(suffix)]
        if word.endswith(suffix):
            found += [stem, stem + "e", stem + "y", stem[:-1]]
    return [
        base
        for base in found
        if (_VOWEL.search(base.removesuffix("e")) or base + "s" == word)
        and len(base) > 1
        and base not in FUNCTION_WORDS
        and word in _inflected(base)
    ]


def _inflected(base: str) -> list[str]:
    """Return the forms of a word that is no form itself."""
    stem, before, last = base[:-1], base[-2], base[-1]
    if last == "e":
        action = ["ion", "ions"] if len(base) > 5 and base[-3:] in ("ate", "ete", "ute") else []
        endings = ["es"] if before == "e" else ["es", "ed", "ing", *action]
        return [stem + ending for ending in endings]
    if last == "y" and before not in "aeiou":
        return [stem + "ies", stem + "ied", base + "ing"]
    forms = [base + "s"]
    if last in "sxzo" or base.endswith(("ch", "sh")):
        forms.append(base + "es")
    if _DOUBLING.fullmatch(base):
        forms += [base + last + "ed", base + last + "ing"]
    if not _ONE_SYLLABLE.fullmatch(base):
        forms += [base + "ed", base + "ing"]
    return forms
