"""Removes sessions for good: from the database, the archives, the projection and the hints.

The bytes go, too. What continues a removed session stays, without its link.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

from core.room.database import Database
from rooms.sessions import projection
from rooms.sessions.projects.sharing import refresh
from rooms.sessions.rows import session_with_id
from rooms.sessions.session import Session
from rooms.sessions.store import SessionStore, delete
from rooms.sessions.upkeep.archive import archive, archives_of


class Forgotten(NamedTuple):
    """What was removed, and what is left to do.

    sessions: as they stood in the database. unpurged: the files in which the bytes remain for now.
    """

    sessions: list[Session]
    unpurged: list[Path]


def forget(
    store: SessionStore,
    ids: Iterable[str],
    environment: Mapping[str, str],
    is_meant: Callable[[Session], bool] = lambda _: True,
) -> Forgotten:
    """Remove the sessions of these ids with their actions; one that is not there is passed over.

    is_meant: one that is another by now than the caller has seen stays.

    The archives come first, so that a second call completes what was cut short. Raises what the
    store raises, and DatabaseError for an archive.
    """
    wanted = list(dict.fromkeys(ids))
    removed = list[Session]()
    with ExitStack() as stack:
        with store.writing() as connection:
            there = {it: session_with_id(connection, it) for it in wanted}
            wanted = [id_ for id_, it in there.items() if it is None or is_meant(it)]
            changed = [store.database]
            for path in archives_of(store):
                file = stack.enter_context(archive(store, path))
                changed += [file] if _remove_from(file, wanted) else []
            for id_ in wanted:
                session = session_with_id(connection, id_)
                if session:
                    delete(connection, session)
                    removed.append(session)
        _project(store, wanted)
        unpurged = [file.path for file in changed if not file.purge()]
    return Forgotten(removed, [*unpurged, *refresh(store, environment)])


def _remove_from(file: Database, ids: Sequence[str]) -> bool:
    """Remove sessions from an archive; return whether it had any of them."""
    with file.writing() as kept:
        found = [session for id_ in ids if (session := session_with_id(kept, id_))]
        for session in found:
            delete(kept, session)
        return bool(found)


def _project(store: SessionStore, ids: Sequence[str]) -> None:
    """Show the session that is the newest now, and in no case one that was removed."""
    store.project()
    path = store.path.parent / projection.NAME
    with suppress(OSError, ValueError, RecursionError):
        shown = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(shown, dict) and shown.get("id") in ids:
            path.unlink()
