"""Counts what came of sessions: which failed or went on, and whether lessons were followed."""

from collections import Counter
from typing import NamedTuple

from rooms.sessions.actions.kinds import FOLLOWED, LESSON, SHOWN
from rooms.sessions.store import SessionStore


class Effect(NamedTuple):
    """Counts over all sessions, archived ones too.

    warned: with a failure, or something that is in the way. continued: with a later session that
    goes on from them. shown: lessons that a hook showed at their trigger, once for each file of a
    session. followed: those of them that the file has no more trigger of.
    """

    warned: int = 0
    continued: int = 0
    shown: int = 0
    followed: int = 0


_WARNED = "SELECT count(*) FROM contexts WHERE has_warnings"
_CONTINUED = (
    "SELECT count(DISTINCT parent_id) FROM contexts WHERE parent_id IN (SELECT id FROM contexts)"
)
_LESSONS = (
    "SELECT result, count(*) FROM (SELECT result, row_number() OVER"
    " (PARTITION BY context_id, content, file_path ORDER BY created_at DESC, rowid DESC) AS place"
    f" FROM actions WHERE type = '{LESSON}') WHERE place = 1 GROUP BY result"
)


def effect_of(store: SessionStore) -> Effect:
    """Return the counts; an archive that is gone counts nothing. Raises what the store does."""
    with store.database.reading() as connection:
        if connection is None:
            return Effect()
        [warned], [continued] = (connection.execute(it).fetchone() for it in (_WARNED, _CONTINUED))
        results = Counter(dict(connection.execute(_LESSONS)))
    results += _archived(store)
    followed = results[FOLLOWED]
    return Effect(warned, continued, results[SHOWN] + followed, followed)


def _archived(store: SessionStore) -> Counter[str]:
    from rooms.sessions.upkeep.archive import archive, archives_of  # few projects have any

    results = Counter[str]()
    for path in archives_of(store):
        with archive(store, path) as file, file.reading() as connection:
            results += Counter(dict(connection.execute(_LESSONS) if connection else ()))
    return results
