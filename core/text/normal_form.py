"""Brings texts into one form: letters into one of Unicode, moments into ISO 8601 in UTC.

The time that takes grows with the length of a text, whatever stands in it.
"""

import re
import unicodedata
from typing import Literal

# A run of marks behind one letter is sorted by exchanging neighbours: its time grows with the
# square of its length. No language writes a run of so many characters beyond ASCII.
_AT_ONCE_CHARS, _MOST_RUN = 1_024, 512
_DAY, _MOMENT = len("2026-11-22"), len("2026-11-22T10:30:00")
_RUN = rf"[\0-\x7f]?[^\0-\x7f]{{1,{_MOST_RUN}}}"  # compiled for a long text only


def normal_form(form: Literal["NFC", "NFKC"], text: str) -> str:
    """Return a text in this form; a run beyond ASCII of more than 512 characters in pieces."""
    if text.isascii():
        return text
    if len(text) <= _AT_ONCE_CHARS:
        return unicodedata.normalize(form, text)
    return re.sub(_RUN, lambda run: unicodedata.normalize(form, run[0]), text)


def moment_of(text: str) -> str:
    """Return a date from outside as ISO 8601 in UTC, whole seconds; "" for what is none."""
    from datetime import UTC, datetime  # a hook that normalises a text reads no date

    try:
        moment = datetime.fromisoformat(text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError):
        return ""


def bound_of(text: str) -> str:
    """Return a day as a day, a moment in UTC without its zone, "" for neither.

    A moment without a zone is one in UTC.
    """
    from datetime import date

    text = text.strip()
    if len(text) > _DAY:
        return moment_of(text)[:_MOMENT]
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        return ""


def end_of(bound: str) -> str:
    """Return what stands behind every moment of a day or a second, "" for no bound.

    bound: as `bound_of` returns it; a stored moment may go on behind it.
    """
    return bound and f"{bound}~"
