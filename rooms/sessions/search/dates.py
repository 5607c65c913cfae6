"""Reads the days and moments that a caller gives, in the form in which sessions hold theirs."""

from core.text import normal_form
from rooms.sessions.errors import SessionsError


def bound_of(field: str, text: str) -> str:
    """Return a day as a day, a moment in UTC, "" for a blank text. Raises SessionsError.

    field: the name of the argument that holds it.
    """
    found = normal_form.bound_of(text)
    if text.strip() and not found:
        raise SessionsError("bad_date", field=field)
    return found
