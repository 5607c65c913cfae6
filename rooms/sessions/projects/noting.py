"""Tells the user's other projects of a session that was just saved, if its project shares."""

import os
from typing import TYPE_CHECKING

from core.errors import SentinelError
from core.program import warn
from rooms.sessions.projects.consent import is_shared
from rooms.sessions.session import Session

if TYPE_CHECKING:
    from rooms.sessions.projects.hints import Sessions


def note(store: "Sessions", session: Session) -> None:
    """Bring the hints of a project in step after this session was saved, if the project shares.

    A failure is a warning: the save holds, and the next one makes good what is missing.
    """
    if not is_shared(store.root, os.environ):
        return
    from rooms.sessions.projects.hints import global_database, keep_in_step

    database = global_database(store.root, os.environ)
    if database is None:
        return
    try:
        keep_in_step(database, store)
    except (OSError, SentinelError) as error:
        reason = type(error).__name__
        warn("#%s is saved, but other projects do not find it yet (%s)", session.number, reason)
