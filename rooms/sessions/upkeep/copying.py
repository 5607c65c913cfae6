"""Makes the daily copies of the sessions, beside a save and never in its way."""

import threading

from core.errors import SentinelError
from core.program import warn
from rooms.sessions.store import SessionStore
from rooms.sessions.upkeep.archive import archive, archives_of

_COPYING = threading.Lock()  # one thread of a process at a time


def copy_in_background(store: SessionStore) -> None:
    """Make the copies that are due, in a thread of its own; returns at once."""
    if _COPYING.acquire(blocking=False):
        threading.Thread(target=_copy, args=(store,), name="copy", daemon=True).start()


def keep_copies(store: SessionStore) -> None:
    """Copy the database and its archives, as far as that is due. Raises DatabaseError."""
    for path in (store.path, *archives_of(store)):
        with archive(store, path) as database:  # with connections of its own
            database.keep_copy()


def _copy(store: SessionStore) -> None:
    try:
        keep_copies(store)
    except (SentinelError, OSError) as error:
        warn("%s", error)
    finally:
        _COPYING.release()
