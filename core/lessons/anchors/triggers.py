"""Reads triggers: literal pieces of code or command that stand there just before a mistake.

Pure. A piece is taken as it is written, case and all; only blanks around it go. A short one stands
everywhere, so that it has at least four characters. A letter of Hangul, Han or kana counts as two:
a word such as `환불` is as rare as an English one of six letters.
"""

import re
from collections.abc import Sequence

from core.errors import (
    FieldTooLongError,
    LoneSurrogateError,
    TooManyTriggersError,
    TriggerLinesError,
    TriggerTooShortError,
)
from core.lessons.anchors.given import listed
from core.text.normal_form import normal_form

MOST_TRIGGERS = 5
LEAST_TRIGGER_CHARS = 4
TRIGGER_BYTES = 128

_SURROGATE = re.compile("[\ud800-\udfff]")
_NO_LINE = re.compile("[\0-\x08\n-\x1f\x7f-\x9f\u2028\u2029]")
_FIRST_WIDE = "\u1100"


def normalise_triggers(
    given: str | Sequence[str], *, most: int | None = MOST_TRIGGERS
) -> tuple[str, ...]:
    """Return triggers as the log stores them, each once: NFC, without blanks around them.

    given: a list, or one text with a piece in each line or as JSON; a comma parts none. most: how
    many there may be, None for any number.

    Raises TriggerTooShortError, also for a blank one, TriggerLinesError for one that is not within
    one line, FieldTooLongError, LoneSurrogateError and TooManyTriggersError, all of them
    ValueError.
    """
    pieces = listed(given, "when", most and most * TRIGGER_BYTES, _lines)
    triggers = tuple(dict.fromkeys(map(_normal, pieces)))
    if most is not None and len(triggers) > most:
        raise TooManyTriggersError(count=len(triggers), most=most)
    return triggers


def _lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


def _normal(text: str) -> str:
    if _SURROGATE.search(text):
        raise LoneSurrogateError(field="when")
    piece = normal_form("NFC", text).strip()
    if _NO_LINE.search(piece):
        raise TriggerLinesError
    used_bytes = len(piece.encode("utf-8"))
    if used_bytes > TRIGGER_BYTES:
        raise FieldTooLongError(field="when", used_bytes=used_bytes, limit_bytes=TRIGGER_BYTES)
    if len(piece) + sum(map(_is_wide, piece)) < LEAST_TRIGGER_CHARS:
        raise TriggerTooShortError(least=LEAST_TRIGGER_CHARS)
    return piece


def _is_wide(char: str) -> bool:
    return char >= _FIRST_WIDE and char.isalpha()
