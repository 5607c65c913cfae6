"""Turns values of the room into PostgreSQL's and back: texts, moments, vectors.

NUL, which PostgreSQL does not keep, is stored as U+0001 and 0, and U+0001 as itself and 1.
"""

import re
import sys
from array import array
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from math import isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psycopg import Cursor

_SIGN, _KEPT = "\x01", re.compile("\x01([01])")
_FLOAT_BYTES, _HEAD_BYTES = 4, 4  # of a vector as the server sends it
# The rest of a part of a moment; and by the length of that text, how long it lasts at most.
_FIRST = "0001-01-01T00:00:00+00:00"
_SPANS = {
    4: timedelta(days=367),
    7: timedelta(days=32),
    10: timedelta(days=1),
    13: timedelta(hours=1),
    16: timedelta(minutes=1),
    19: timedelta(seconds=1),
}


def speaking(cursor: "Cursor[Any]") -> "Cursor[Any]":
    """Let a cursor take and give the room's values."""
    from psycopg.adapt import Loader
    from psycopg.types.string import StrDumperUnknown

    class TextDumper(StrDumperUnknown):
        """Half of a character becomes a text found nowhere."""

        def dump(self, obj: str) -> bytes:
            if _SIGN in obj or "\0" in obj:
                obj = obj.replace(_SIGN, f"{_SIGN}1").replace("\0", f"{_SIGN}0")
            return obj.encode("utf-8", "backslashreplace")

    class TextLoader(Loader):
        def load(self, data: Any) -> str:
            text = bytes(data).decode("utf-8", "replace")
            if _SIGN not in text:
                return text
            return _KEPT.sub(lambda it: "\0" if it[1] == "0" else _SIGN, text)

    class MomentLoader(Loader):
        """The connection is in UTC; a date beyond Python's is read as text."""

        def load(self, data: Any) -> str:
            text = bytes(data).decode()
            return f"{text.replace(' ', 'T', 1)}:00" if text.endswith("+00") else text

    cursor.adapters.register_dumper(str, TextDumper)
    for name in ("text", "varchar"):
        cursor.adapters.register_loader(name, TextLoader)
    cursor.adapters.register_loader("timestamptz", MomentLoader)
    return cursor


def moment(text: str) -> str | None:
    """Return a moment for PostgreSQL; None without a zone."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.isoformat() if moment.tzinfo else None


def bound(text: str, *, is_end: bool = False) -> str | None:
    """Return the first moment of a day, or of another beginning; None compares with nothing.

    is_end: the first moment behind it.

    >>> bound("2026-07", is_end=True)
    '2026-08-01T00:00:00+00:00'
    """
    try:
        start = datetime.fromisoformat(text + _FIRST[len(text) :])
        if not start.tzinfo:
            start = start.replace(tzinfo=UTC)
        if not is_end:
            return start.isoformat()
        end = start + _SPANS.get(len(text), timedelta(microseconds=1))
    except (ValueError, OverflowError):
        return None
    if len(text) == 4:
        end = end.replace(month=1, day=1)
    return (end.replace(day=1) if len(text) == 7 else end).isoformat()


def floats_of(vector: bytes) -> "array[float] | None":
    """Return None for bytes that are no vector."""
    if not vector or len(vector) % _FLOAT_BYTES:
        return None
    floats = little(array("f", vector))
    return floats if all(map(isfinite, floats)) else None


def floats_sent(value: bytes) -> "array[float]":
    """Read a vector as the server sends it."""
    floats = array("f", bytes(value)[_HEAD_BYTES:])
    if sys.byteorder == "little":
        floats.byteswap()
    return floats


def little(floats: "array[float]") -> "array[float]":
    """Swap, in place, between the room's order of bytes and this machine's."""
    if sys.byteorder == "big":
        floats.byteswap()
    return floats


def text_of(floats: Iterable[float]) -> str:
    return f"[{','.join(map(repr, floats))}]"
