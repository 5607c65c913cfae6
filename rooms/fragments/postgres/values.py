"""Turns what the room keeps into values of PostgreSQL, and back.

PostgreSQL keeps no NUL: it stands there as two characters, the first of which stands for itself as
two, too. A moment is a point in time there, and "" is NULL.
"""

import re
from datetime import datetime, timedelta
from typing import Any

from psycopg import Cursor
from psycopg.adapt import Buffer, Loader
from psycopg.types.string import StrDumperUnknown

_SIGN = "\x01"
_KEPT = re.compile(f"{_SIGN}([01])")
_PART = re.compile(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?(?:T(\d\d))?(?::(\d\d))?(?::(\d\d))?")
MOST_NUMBER = 2**63 - 1


class _TextDumper(StrDumperUnknown):
    """Sends a text; half of a character, which nothing has, as something that is found nowhere."""

    def dump(self, obj: str) -> bytes:
        """See `Dumper`."""
        if _SIGN in obj or "\0" in obj:
            obj = obj.replace(_SIGN, f"{_SIGN}1").replace("\0", f"{_SIGN}0")
        return obj.encode("utf-8", "backslashreplace")


class _TextLoader(Loader):
    def load(self, data: Buffer) -> str:
        """See `Loader`."""
        text = bytes(data).decode("utf-8", "replace")
        return (
            _KEPT.sub(lambda it: "\0" if it[1] == "0" else _SIGN, text) if _SIGN in text else text
        )


class _MomentLoader(Loader):
    def load(self, data: Buffer) -> str:
        """See `Loader`. The connection is in UTC; what Python knows no date for is read as text."""
        text = bytes(data).decode()
        return f"{text.replace(' ', 'T', 1)}:00" if text.endswith("+00") else text


def speaking(cursor: "Cursor[Any]") -> "Cursor[Any]":
    """Return a cursor that takes and gives the values of the room."""
    cursor.adapters.register_dumper(str, _TextDumper)
    for name in ("text", "varchar"):
        cursor.adapters.register_loader(name, _TextLoader)
    cursor.adapters.register_loader("timestamptz", _MomentLoader)
    return cursor


def moment(text: str) -> str | None:
    """Return a moment as PostgreSQL takes it; None for none, and for one without a zone."""
    try:
        given = datetime.fromisoformat(text)
    except ValueError:
        return None
    return given.isoformat() if given.tzinfo else None


def span(bound: str) -> tuple[str, str] | None:
    """Return the first moment of a year, a month, a day or less, and the first one behind it.

    bound: a moment or the beginning of one, as texts are compared; None for what is neither.
    """
    try:
        found = _PART.fullmatch(bound)
        if not found:
            start = datetime.fromisoformat(bound)
            return _texts(start, start + timedelta(microseconds=1)) if start.tzinfo else None
        parts = [int(it) for it in found.groups() if it]
        start = datetime.fromisoformat("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}+00:00".format(
            *parts, *(1, 1, 1, 0, 0, 0)[len(parts) :]
        ))  # fmt: skip
        month = parts[1] if len(parts) > 1 else 12
        behind = {
            1: lambda: start.replace(year=start.year + 1),
            2: lambda: start.replace(year=start.year + month // 12, month=month % 12 + 1),
        }
        lengths = {3: 86_400, 4: 3_600, 5: 60, 6: 1}
        end = behind[len(parts)]() if len(parts) < 3 else (
            start + timedelta(seconds=lengths[len(parts)])
        )  # fmt: skip
        return _texts(start, end)
    except (ValueError, OverflowError):
        return None


def _texts(start: datetime, end: datetime) -> tuple[str, str]:
    return start.isoformat(), end.isoformat()
