"""Finds the sessions that have the tags, the status, the agent and the dates that are asked for."""

import re
import sqlite3
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from core.text.normal_form import normal_form
from rooms.sessions.errors import SessionsError
from rooms.sessions.rows import tags_of
from rooms.sessions.search.found import Criteria

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


class Filter:
    """The criteria that are no words, as a condition in SQL. Raises SessionsError for a bad date.

    It holds for rows of `contexts`; a connection must be prepared for it.
    """

    def __init__(self, criteria: Criteria) -> None:
        self._tags = frozenset(_plain(tag) for tag in criteria.tags if tag.strip())
        since, until = _since(criteria.since), _until(criteria.until)
        given = [
            (condition, value)
            for condition, value in (
                ("status = ?", criteria.status),
                ("agent = ?", criteria.agent),
                # By text first, for the index; others may have written with another offset.
                ("updated_at >= date(?, '-1 day')", since),
                ("julianday(updated_at) >= julianday(?)", since),
                ("updated_at < date(?, '+2 days')", until),
                ("julianday(updated_at) < julianday(?)", until),
            )
            if value
        ]
        self.condition = " AND ".join([condition for condition, _ in given] or ["1"])
        self.values = tuple(value for _, value in given)
        if self._tags:
            self.condition += " AND has_tags(tags)"

    def __bool__(self) -> bool:
        return self.condition != "1"

    def prepare(self, connection: sqlite3.Connection) -> None:
        """Make the condition usable on a connection."""
        if self._tags:
            wanted = self._tags
            connection.create_function("has_tags", 1, lambda text: wanted <= _tags_in(text))

    def numbers(self, connection: sqlite3.Connection) -> set[int]:
        """Return the numbers of all sessions that fit."""
        self.prepare(connection)
        statement = f"SELECT number FROM contexts WHERE {self.condition}"
        return {number for (number,) in connection.execute(statement, self.values)}


def _since(text: str) -> str:
    """Return the first moment that counts, in UTC."""
    return _iso(_moment("from", text)) if text.strip() else ""


def _until(text: str) -> str:
    """Return the first moment that does not count any more: the next day, or the next second."""
    if not text.strip():
        return ""
    step = timedelta(days=1) if _DAY.fullmatch(text.strip()) else timedelta(seconds=1)
    try:
        return _iso(_moment("to", text) + step)
    except OverflowError:
        return ""


def _moment(field: str, text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text.strip())
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    except ValueError as error:
        raise SessionsError("bad_date", field=field) from error


def _iso(moment: datetime) -> str:
    """Return a moment as SQLite reads it."""
    try:
        moment = moment.astimezone(UTC)
    except OverflowError:  # at an end of the calendar
        moment = moment.replace(tzinfo=UTC)
    return moment.replace(tzinfo=None).isoformat(" ", "seconds")


@lru_cache(maxsize=4_096)
def _tags_in(text: str | None) -> frozenset[str]:
    return frozenset(map(_plain, tags_of(text)))


def _plain(tag: str) -> str:
    return normal_form("NFC", tag).strip().casefold()
