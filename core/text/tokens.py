"""Estimates what a text costs a model, without a tokenizer, and keeps what is left of a budget.

A tokenizer spends about one token on a common word or sign and two thirds of one on a Hangul
syllable, so it is enough to count kinds of characters. `benchmarks/tokens.py` compares the estimate
with `o200k_base`.
"""

from collections.abc import Iterable
from dataclasses import dataclass

_LOWER = b"abcdefghijklmnopqrstuvwxyz"
_UPPER = _LOWER.upper()
_BLANKS = b" \t\r\n"
_DIGITS = b"0123456789"

# Hundredths of a token for one character of a kind.
_PER_LOWER, _PER_UPPER, _PER_BLANK, _PER_DIGIT, _PER_SIGN = 15, 20, 34, 78, 69
_PER_WIDE, _PER_JAMO, _PER_ASTRAL, _PER_OTHER = 66, 280, 200, 69

# First bytes of the UTF-16 units that no kana, Han character or Hangul syllable has.
_NARROW = bytes(set(range(0x100)) - {*range(0x2E, 0xA5), *range(0xAC, 0xD8), 0xF9, 0xFA, 0xFF})
_JAMO = b"\x11"


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of any text, rounded up.

    For prose, code and records in English and Korean mostly within 15 % of `o200k_base`. Random
    letters (keys, encoded data) and rare Hangul syllables cost a model up to three times as much,
    Greek and Cyrillic words half as much.
    """
    ascii_text = text.encode("ascii", "ignore")
    hundredths, rest = 0, ascii_text
    for kind, weight in (
        (_LOWER, _PER_LOWER),
        (_BLANKS, _PER_BLANK),
        (_UPPER, _PER_UPPER),
        (_DIGITS, _PER_DIGIT),
    ):
        others = rest.translate(None, kind)
        hundredths += weight * (len(rest) - len(others))
        rest = others
    hundredths += _PER_SIGN * len(rest)
    if len(ascii_text) < len(text):
        hundredths += _beyond_ascii(text, len(text) - len(ascii_text))
    return -(-hundredths // 100)


def _beyond_ascii(text: str, count: int) -> int:
    """Return hundredths of a token for the `count` characters of `text` that ASCII lacks."""
    high_bytes = text.encode("utf-16-le", "surrogatepass")[1::2]
    wide = len(high_bytes.translate(None, _NARROW))
    jamo = high_bytes.count(_JAMO)
    astral = len(high_bytes) - len(text)
    others = count - wide - jamo - astral
    return _PER_WIDE * wide + _PER_JAMO * jamo + _PER_ASTRAL * astral + _PER_OTHER * others


@dataclass(slots=True)
class Budget:
    """What is left of estimated tokens and of characters; each text also costs its line end."""

    tokens: float
    chars: int

    def take(self, text: str, text_tokens: float | None = None) -> bool:
        """Spend `text` if it fits; else spend nothing and return False.

        text_tokens: the estimate for the text, where it is known.
        """
        tokens = (estimate_tokens(text) if text_tokens is None else text_tokens) + 1
        chars = len(text) + 1
        if tokens > self.tokens or chars > self.chars:
            return False
        self.tokens -= tokens
        self.chars -= chars
        return True

    def spend(self, text: str) -> None:
        """Spend a text that is shown in any case."""
        self.tokens -= estimate_tokens(text) + 1
        self.chars -= len(text) + 1

    def take_all(self, texts: Iterable[tuple[str, int]]) -> bool:
        """Spend all texts if they fit together; else spend nothing and return False.

        texts: each with its estimated tokens.
        """
        trial = Budget(self.tokens, self.chars)
        if not all(trial.take(text, tokens) for text, tokens in texts):
            return False
        self.tokens, self.chars = trial.tokens, trial.chars
        return True

    @property
    def is_spent(self) -> bool:
        """Not even the shortest text of use would fit."""
        return self.tokens < 10 or self.chars < 30

    def split_off(self, share: float) -> "Budget":
        """Move this share into a budget of its own."""
        part = Budget(self.tokens * share, int(self.chars * share))
        self.tokens -= part.tokens
        self.chars -= part.chars
        return part

    def add(self, other: "Budget") -> None:
        """Get back what another budget did not spend."""
        self.tokens += other.tokens
        self.chars += other.chars
