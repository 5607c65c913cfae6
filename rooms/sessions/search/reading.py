"""Reads one session whole, wherever it is: in the database, an archive, another project."""

from contextlib import suppress
from typing import NamedTuple

from core.config import Settings
from rooms.sessions.errors import NoSuchSessionError
from rooms.sessions.session import Action, Session
from rooms.sessions.store import SessionStore


class Whole(NamedTuple):
    """A session with its actions, oldest first, and the store that has it.

    parent: the session that it continues, if that is there.
    """

    session: Session
    actions: list[Action]
    store: SessionStore
    parent: Session | None = None


def read_whole(store: SessionStore, name: str, settings: Settings) -> Whole:
    """Return the session of a number or an id; an id is looked for in other projects, too.

    Raises NoSuchSessionError, and what a store or an archive raises.
    """
    where, session = _found(store, name, settings)
    parent = None
    with suppress(NoSuchSessionError):
        parent = where.get(session.parent_id) if session.parent_id else None
    if not session.archive:
        return Whole(session, where.actions(session), where, parent)
    from rooms.sessions.upkeep.archive import whole  # few are read again

    session, actions = whole(where, session)
    return Whole(session, actions, where, parent)


def _found(store: SessionStore, name: str, settings: Settings) -> tuple[SessionStore, Session]:
    try:
        return store, store.get(name)
    except NoSuchSessionError:
        if not name.strip().startswith("ctx_"):
            raise
        from rooms.sessions.projects.searching import find_elsewhere  # few are of another project

        elsewhere = find_elsewhere(name.strip(), settings, but=store.root)
        if elsewhere is None:
            raise
        return elsewhere
