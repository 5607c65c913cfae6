"""Knows English without a dictionary: words that carry no meaning, irregular forms, stems."""

import re
from collections.abc import Mapping
from functools import cache

from core.data import word_groups, word_list

_ENDING = re.compile(r"(?<=\w{4})(?:ings?|ions?|ies|ed|es|ly|e|y)$|(?<=\w{3})(?<![isu])s$")


def function_words() -> frozenset[str]:
    """Return the words that carry no meaning."""
    return word_list("function_words")


@cache
def other_forms() -> Mapping[str, list[str]]:
    """Return the other forms of each irregular word, and of each of its forms."""
    groups = word_groups("irregular_forms")
    return {word: [it for it in forms if it != word] for forms in groups for word in forms}


def stem_of(word: str) -> str:
    """Return a lower-case word without the ending of a plural, a tense or an adverb."""
    return _ENDING.sub("", word)
