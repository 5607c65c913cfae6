"""Counts what came of sessions: which have a failure or go on."""

from typing import NamedTuple

from rooms.sessions.store import SessionStore


class Effect(NamedTuple):
    """Counts over all sessions, archived ones too.

    warned: with a failure, or something that is in the way. continued: with a later session that
    goes on from them.
    """

    warned: int = 0
    continued: int = 0


_WARNED = "SELECT count(*) FROM contexts WHERE has_warnings"
_CONTINUED = (
    "SELECT count(DISTINCT parent_id) FROM contexts WHERE parent_id IN (SELECT id FROM contexts)"
)


def effect_of(store: SessionStore) -> Effect:
    """Return the counts. Raises what the store does."""
    with store.database.reading() as connection:
        if connection is None:
            return Effect()
        [warned], [continued] = (connection.execute(it).fetchone() for it in (_WARNED, _CONTINUED))
    return Effect(warned, continued)
