"""Makes the form of a text that a full-text index holds.

It is the text, and behind it what its words are made of: the pairs of characters of scripts that
run words together, the beginnings of Korean verbs as their stems have them, the parts of
identifiers. `MATCH '인증'` finds 로그인인증을, too, and every term of the ranker is a word or the
beginning of one.
"""

import re

from core.text.terms import pieces_of, verb_beginning

INDEXED_VERSION = 2  # of what `indexed` makes of a text
PREFIXES = "4 6"  # the beginnings that an index keeps: of most English stems

_PLAIN_WORD = re.compile("[a-z0-9]+")
_SHORT_CHARS = 2


def indexed(text: str) -> str:
    """Return the text with the pieces of its words behind it, each between blanks.

    What every tokenizer finds in it by itself, words of ASCII letters and digits, is left out, but
    for those that are too short for `trigram`.
    """
    plain = set(_PLAIN_WORD.findall(text.lower())) if text.isascii() else set[str]()
    pieces = [piece for piece in dict.fromkeys(pieces_of(text)) if piece not in plain]
    pieces += dict.fromkeys(filter(None, map(verb_beginning, pieces)))
    short = [word for word in plain if len(word) <= _SHORT_CHARS]
    behind = [*pieces, *sorted(short)]
    return f"{text} {' '.join(behind)} " if behind else text
