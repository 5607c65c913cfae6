"""Reads the days and moments that a caller gives, in the form in which sessions hold theirs."""

from datetime import UTC, date, datetime

from rooms.sessions.errors import SessionsError

_DAY, _MOMENT = len("2026-11-22"), len("2026-11-22T10:30:00")


def moment_of(field: str, text: str) -> str:
    """Return a day as a day, a moment in UTC, "" for neither. Raises SessionsError.

    field: the name of the argument that holds it. A moment without a zone is one in UTC.
    """
    text = text.strip()
    try:
        if len(text) <= _DAY:
            return date.fromisoformat(text).isoformat() if text else ""
        moment = datetime.fromisoformat(text)
        moment = moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise SessionsError("bad_date", field=field) from error
    return moment.isoformat(timespec="seconds")[:_MOMENT]
