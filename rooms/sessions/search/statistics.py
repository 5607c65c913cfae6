"""Counts the sessions of a project by what they were, over some days or over all."""

import sqlite3
from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from rooms.sessions.store import SessionStore

MOST_TAGS = 10
DAYS: Mapping[str, int] = {"last_7_days": 7, "last_30_days": 30, "last_90_days": 90}


class Statistics(NamedTuple):
    """How many sessions there are, in all and by kind, those of most first."""

    sessions: int = 0
    by_status: Mapping[str, int] = {}
    by_agent: Mapping[str, int] = {}
    top_tags: Mapping[str, int] = {}
    failed: int = 0
    actions_per_session: float = 0.0


_WITHIN = "coalesce(updated_at, created_at) >= :since"
_BY = (
    f"SELECT coalesce(%s, ''), count(*) FROM contexts WHERE {_WITHIN} GROUP BY 1 ORDER BY 2 DESC, 1"
)
_TAGS = (
    "SELECT tag.value, count(DISTINCT contexts.number) FROM contexts, json_each(tags) AS tag"
    f" WHERE {_WITHIN} AND tags != '[]' AND json_valid(tags) AND tag.type = 'text'"
    f" GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {MOST_TAGS}"
)
_FAILED = (
    "SELECT count(*) FROM contexts, json_each(metadata, '$.approaches') AS tried"
    f" WHERE {_WITHIN} AND has_warnings AND json_valid(metadata)"
    " AND json_extract(tried.value, '$.result') = 'failed'"
)
_ARCHIVED = f"SELECT id FROM contexts WHERE {_WITHIN} AND archive != ''"
_OF_ARCHIVE = (
    "SELECT id, (SELECT count(*) FROM json_each(metadata, '$.approaches') AS tried"
    " WHERE json_extract(tried.value, '$.result') = 'failed'),"
    " (SELECT count(*) FROM actions WHERE context_id = contexts.id)"
    f" FROM contexts WHERE {_WITHIN} AND json_valid(metadata)"
)
_ACTIONS = (
    "SELECT count(*) FROM actions WHERE :since = '' OR context_id IN"
    f" (SELECT id FROM contexts WHERE {_WITHIN})"
)


class _Parts(NamedTuple):
    """What the archives have beside the database: failed approaches and actions."""

    failed: int = 0
    actions: int = 0


def statistics_of(store: SessionStore, range_: str = "all") -> Statistics:
    """Return the counts of the sessions saved last in a range: a key of DAYS, or all.

    Archived sessions count; of those whose file is gone, only what the database has. Raises what
    the store raises.
    """
    since = ""
    if range_ in DAYS:
        moment = datetime.now(UTC) - timedelta(days=DAYS[range_])
        since = moment.isoformat(timespec="seconds")
    with store.database.reading() as connection:
        if connection is None:
            return Statistics()
        rows = connection.execute(_ARCHIVED, {"since": since})
        archived = {id_ for (id_,) in rows}
        parts = _of_archives(store, archived, since) if archived else _Parts()
        return _counted(connection, since, parts)


def _of_archives(store: SessionStore, ids: Collection[str], since: str) -> _Parts:
    from rooms.sessions.upkeep.archive import archive, archives_of  # few projects have any

    failed = actions = 0
    for path in archives_of(store):
        with archive(store, path) as file, file.reading() as connection:
            rows = connection.execute(_OF_ARCHIVE, {"since": since}) if connection else ()
            for id_, failures, done in rows:
                if id_ in ids:
                    failed, actions = failed + failures, actions + done
    return _Parts(failed, actions)


def _counted(connection: sqlite3.Connection, since: str, archived: _Parts) -> Statistics:
    def rows(statement: str) -> dict[str, int]:
        return dict(connection.execute(statement, {"since": since}).fetchall())

    def number(statement: str) -> int:
        return int(connection.execute(statement, {"since": since}).fetchone()[0])

    by_status = rows(_BY % "status")
    sessions = sum(by_status.values())
    actions = number(_ACTIONS) + archived.actions
    return Statistics(
        sessions=sessions,
        by_status=by_status,
        by_agent=rows(_BY % "agent"),
        top_tags=rows(_TAGS),
        failed=number(_FAILED) + archived.failed,
        actions_per_session=actions / sessions if sessions else 0.0,
    )
