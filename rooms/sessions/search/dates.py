"""Reads the days and moments that a caller gives, in the form in which sessions hold theirs."""

from contextlib import suppress
from datetime import date

from rooms.sessions.errors import SessionsError
from rooms.sessions.session import moment_of

_DAY, _MOMENT = len("2026-11-22"), len("2026-11-22T10:30:00")


def bound_of(field: str, text: str) -> str:
    """Return a day as a day, a moment in UTC, "" for neither. Raises SessionsError.

    field: the name of the argument that holds it. A moment without a zone is one in UTC.
    """
    text = text.strip()
    if len(text) > _DAY:
        found = moment_of(text)[:_MOMENT]
    else:
        found = ""
        with suppress(ValueError):
            found = date.fromisoformat(text).isoformat() if text else ""
    if text and not found:
        raise SessionsError("bad_date", field=field)
    return found
