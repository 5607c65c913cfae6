"""Writes the day of a moment as a person says it: `24 May`, with the year where it is another."""

from datetime import UTC, date, datetime

from core.lessons.record_text import day_of
from core.messages import language

_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()


def day_text(moment: str, today: date | None = None) -> str:
    """Return the day of an ISO 8601 text (UTC), unknown where it holds none.

    today: the day on which somebody reads it, by default this one.
    """
    try:
        day = date.fromisoformat(day_of(moment))
    except ValueError:
        return "?"
    is_this_year = day.year == (today or datetime.now(UTC).date()).year
    if language() == "ko":
        return (
            f"{day.month}월 {day.day}일" if is_this_year else f"{day:%Y. }{day.month}. {day.day}."
        )
    text = f"{day.day:2} {_MONTHS[day.month - 1]}"
    return text if is_this_year else f"{text} {day.year}"
