"""Names the signs by which two texts on one matter may contradict each other.

Without a model nothing more can be told: a sign makes a pair worth a look, and decides nothing.
"""

import re
from collections.abc import Iterator
from functools import cache

from core.data import word_groups
from core.text.plain import normal_form
from core.text.terms import pieces_of

NEGATION, NUMBERS, OPPOSITES = "negation", "numbers", "opposites"

_NEGATION = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|cannot|isnt|arent|dont|doesnt|didnt|wont|cant"
    r"|avoid|forbidden|prohibited)\b|n't\b"
    r"|않|없|아니|아닌|아님|못하|못한|못해|못했|(?<![가-힣])(?:안|못) "
    r"|말아야|말 것|말것|마세요|금지|불가"
)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")

_WIDE = "\u1100"  # from here on words carry endings, and stand joined


def signs_of(one: str, other: str) -> tuple[str, ...]:
    """Return which signs two texts show, in any order of the two."""
    return tuple(_signs(*(normal_form("NFKC", it).casefold() for it in (one, other))))


def _signs(one: str, other: str) -> Iterator[str]:
    if (len(_NEGATION.findall(one)) - len(_NEGATION.findall(other))) % 2:  # two make none
        yield NEGATION
    numbers = set(_NUMBER.findall(one)), set(_NUMBER.findall(other))
    if all(numbers) and numbers[0] != numbers[1]:
        yield NUMBERS
    words = set(pieces_of(one)), set(pieces_of(other))
    texts = one, other
    for pair in _opposites():
        for left, right in (pair, pair[::-1]):
            has = [
                [_has(texts[at], words[at], *it) for at in (0, 1)]
                for it in ((left, right), (right, left))
            ]
            if has == [[True, False], [False, True]]:
                yield OPPOSITES
                return


@cache
def _opposites() -> list[tuple[str, str]]:
    return [(left, right) for left, right in word_groups("opposites")]


def _has(text: str, words: set[str], word: str, opposite: str) -> bool:
    """Return whether a text has a word, and not only as a part of its opposite."""
    if word[0] < _WIDE:
        return word in words
    return word in (text.replace(opposite, " ") if word in opposite else text)
