"""One secret format: the fields of a row of the rule tables, and the language of its examples.

The rows stand beside this file: tokens that name themselves in `platform_tokens.py` and
`service_tokens.py`, places of secrets in `places.py`, names with a value in `named_patterns.py`.
"""

import re
from dataclasses import dataclass
from functools import cache

# As a rule's group: the value follows the match, or stands before it, and a gate decides on it.
AFTER, BEFORE = -1, -2


@dataclass(frozen=True, slots=True)
class Rule:
    """One secret format."""

    name: str
    hints: tuple[str, ...]  # lower case; one of them must be in the casefolded text
    pattern: str
    source: str
    example: str
    lookalike: str
    group: int = 0  # of the pattern: the secret; 0 is the whole match
    gate: str = ""  # of a named value: how a value must look where this rule finds it


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return the pattern, compiled once: there are more of them than `re` itself keeps."""
    return re.compile(pattern)


ALPHABETS = {
    "A": "a7Kq9ZxB3mTr0LwYc5HnVe8PdJf2GsUo",
    "a": "q7x3m0tz9kb5wv8fd2hr6j4cnlpsgyu1",
    "U": "Q7X3M5TZK2BWVFDHRJ4CNLPSGYUAE6I",
    "h": "3f9a0c7e5b1d8246",
    "H": "3F9A0C7E5B1D8246",
    "d": "7301948265",
    "L": "qXmTzKbWvFdHrJcNlPsGyU",
}


def _body(letter: str, count: int) -> str:
    """Return `count` varied characters of one alphabet, the same each time."""
    alphabet = ALPHABETS[letter]
    size = len(alphabet)
    return "".join(alphabet[(i + i // size * 5) % size] for i in range(count))


def expand(template: str) -> tuple[str, str]:
    """Return the text of a template, and that text with the marker in place of its secrets.

    `{A36}` stands for 36 characters of the alphabet A; `«` and `»` enclose a secret.
    """
    text, expected, hidden = "", "", False
    for piece in template.replace("«", "\0«\0").replace("»", "\0»\0").split("\0"):
        if piece in ("«", "»"):
            hidden = piece == "«"
            expected += "[REDACTED]" if hidden else ""
            continue
        filled = _fill(piece)
        text += filled
        expected += "" if hidden else filled
    return text, expected


def _fill(piece: str) -> str:
    """Return `piece` with every `{A36}` in it spelled out."""
    out = ""
    while piece:
        before, brace, rest = piece.partition("{")
        out += before
        inner, closed, after = rest.partition("}")
        if brace and closed and inner[:1] in ALPHABETS and inner[1:].isdigit():
            out += _body(inner[0], int(inner[1:]))
            piece = after
        else:
            out += brace
            piece = rest
    return out


LEFT = r"(?<![A-Za-z0-9_])"
RIGHT = r"(?![A-Za-z0-9])"
