"""Spells out the templates of texts with secrets: `push with «ghp_{A36}»`."""

import re
from functools import cache
from typing import NamedTuple

from core.data import rows
from tests.support.tables import DATA

ALPHABETS = {
    "A": "a7Kq9ZxB3mTr0LwYc5HnVe8PdJf2GsUo",
    "a": "q7x3m0tz9kb5wv8fd2hr6j4cnlpsgyu1",
    "U": "Q7X3M5TZK2BWVFDHRJ4CNLPSGYUAE6I",
    "h": "3f9a0c7e5b1d8246",
    "H": "3F9A0C7E5B1D8246",
    "d": "7301948265",
    "L": "qXmTzKbWvFdHrJcNlPsGyU",
}
HOLE = re.compile(r"\{([" + "".join(ALPHABETS) + r"])(\d+)\}")


def _body(hole: re.Match[str]) -> str:
    """Return so many varied characters of one alphabet, the same each time."""
    alphabet = ALPHABETS[hole[1]]
    size = len(alphabet)
    return "".join(alphabet[(i + i // size * 5) % size] for i in range(int(hole[2])))


def expand(template: str) -> tuple[str, str]:
    """Return the text of a template, and that text with the marker in place of its secrets.

    `{A36}` stands for 36 characters of the alphabet A; `«` and `»` enclose a secret.
    """
    filled = HOLE.sub(_body, template)
    return re.sub("[«»]", "", filled), re.sub("«.*?»", "[REDACTED]", filled, flags=re.S)


class Example(NamedTuple):
    """The data of one rule: its source, a text with a secret, and a text that stays."""

    name: str
    source: str
    example: str
    lookalike: str


@cache
def examples() -> dict[str, Example]:
    return {row["name"]: Example(**row) for row in rows("rules_examples", DATA)}
