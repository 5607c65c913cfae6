"""Spells out the templates of texts with secrets: `push with «ghp_{A36}»`."""

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

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


class Example(NamedTuple):
    """What the rules' data say of one rule: its source, a text with it, and a text that stays."""

    name: str
    source: str
    example: str
    lookalike: str


@cache
def examples() -> dict[str, Example]:
    """Return the example of each rule, by its name."""
    path = Path(__file__).parents[1] / "data" / "rules_examples.jsonl"
    rows = (Example(**json.loads(line)) for line in path.read_text("utf-8").splitlines())
    return {row.name: row for row in rows}
