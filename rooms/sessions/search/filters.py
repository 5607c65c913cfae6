"""Finds the sessions that have the tags, the status, the agent and the dates that are asked for."""

import sqlite3
from functools import lru_cache

from core.text.plain import bound_of as moment_of
from core.text.plain import end_of, normal_form
from rooms.sessions.errors import SessionsError
from rooms.sessions.rows import tags_of
from rooms.sessions.search.found import Criteria
from rooms.sessions.session import Session


class Filter:
    """The criteria that are no words. Raises SessionsError for a date that is none.

    condition, values: the same in SQL, for rows of `contexts` and a connection that was prepared.
    """

    def __init__(self, criteria: Criteria) -> None:
        self._tags = frozenset(_plain(tag) for tag in criteria.tags if tag.strip())
        self._status, self._agent = criteria.status, criteria.agent
        self._since = bound_of("dateRange.from", criteria.since)
        until = bound_of("dateRange.to", criteria.until)
        self._before = end_of(until)
        given = {
            "status = ?": self._status,
            "agent = ?": self._agent,
            "updated_at >= ?": self._since,
            "updated_at < ?": self._before,
        }
        conditions = [condition for condition, value in given.items() if value]
        conditions += ["has_tags(tags)"] * bool(self._tags)
        self.condition = " AND ".join(conditions or ["1"])
        self.values = tuple(value for value in given.values() if value)

    def __bool__(self) -> bool:
        return self.condition != "1"

    def fits(self, session: Session) -> bool:
        """Return whether a session has all of it."""
        moment = session.updated_at or session.created_at
        return (
            self._status in ("", session.status)
            and self._agent in ("", session.agent)
            and self._since <= moment
            and (not self._before or moment < self._before)
            and self._tags <= frozenset(map(_plain, session.tags))
        )

    def prepare(self, connection: sqlite3.Connection) -> None:
        """Make the condition usable on a connection."""
        wanted = self._tags
        if wanted:
            connection.create_function("has_tags", 1, lambda text: wanted <= _tags_in(text))

    def numbers(self, connection: sqlite3.Connection) -> set[int]:
        """Return the numbers of all sessions that fit."""
        self.prepare(connection)
        statement = f"SELECT number FROM contexts WHERE {self.condition}"
        return {number for (number,) in connection.execute(statement, self.values)}


@lru_cache(maxsize=4_096)
def _tags_in(text: str | None) -> frozenset[str]:
    return frozenset(map(_plain, tags_of(text)))


def _plain(tag: str) -> str:
    return normal_form("NFC", tag).strip().casefold()


def bound_of(field: str, text: str) -> str:
    """Return a day as a day, a moment in UTC, "" for a blank text. Raises SessionsError.

    field: the name of the argument that holds it.
    """
    found = moment_of(text)
    if text.strip() and not found:
        raise SessionsError("bad_date", field=field)
    return found
