"""Moves old sessions into a file for each year, and reads them back whole.

The file gets a session first, synced; only then its row here is cut down to a hint. Whoever is
killed in between leaves it in both, and the next run completes that: nothing is lost or doubled.
"""

import re
import sqlite3
from collections import Counter
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from core.room.database import Database
from rooms.sessions.errors import SessionsError, UpkeepError
from rooms.sessions.rows import (
    INTO_ACTIONS,
    actions_of,
    session_with_id,
    sessions_where,
    values_of_action,
)
from rooms.sessions.schema import ARCHIVE_NAME, opened_archive
from rooms.sessions.search.filters import bound_of
from rooms.sessions.session import Action, Changes, Session
from rooms.sessions.store import SessionStore, insert, update

_YEAR = re.compile(r"[0-9]{4}")
_BATCH = 200  # sessions in one transaction, for which other writers wait
_OLD = "archive = '' AND coalesce(nullif(updated_at, ''), created_at) < ?"
_ENDED = "coalesce(ended_at, '') != ''"


class Archived(NamedTuple):
    """What was moved, or would be.

    sessions: as they were, by number. files: how many each file got. left_open: how many are old
    enough and stay, since they have not ended.
    """

    sessions: list[Session]
    files: dict[str, int]
    left_open: int


def archive_before(
    store: SessionStore, date: str, *, with_open: bool = False, dry_run: bool = False
) -> Archived:
    """Move the sessions whose last save is older than a day or moment in ISO 8601 (UTC).

    with_open: also those that have not ended. dry_run: change nothing. Raises what the store
    raises, and UpkeepError for what is no date.
    """
    try:
        before = bound_of("before", date)
    except SessionsError as error:
        raise UpkeepError("bad_before", date=date) from error
    condition = _OLD if with_open else f"{_OLD} AND {_ENDED}"
    with store.database.reading() as connection:
        found = _sessions(connection, condition, before)
        is_left = f"{_OLD} AND NOT {_ENDED}"
        left_open = 0 if with_open else len(_sessions(connection, is_left, before))
    if dry_run:
        return Archived(found, _counted(found), left_open)
    moved = list[Session]()
    while found and (batch := _move(store, condition, before)):
        moved += batch
    if moved:
        store.project()
    return Archived(moved, _counted(moved), left_open)


def whole(store: SessionStore, session: Session) -> tuple[Session, list[Action]]:
    """Return a session with all its texts, and its actions, wherever they are.

    Raises UpkeepError or DatabaseError where its archive is missing, damaged or of a newer version.
    """
    if not session.archive:
        return session, store.actions(session)
    path = store.path.parent / session.archive
    facts = {"name": f"#{session.number}", "path": str(path)}
    # The name came from the database, whoever wrote that.
    if not ARCHIVE_NAME.match(session.archive):
        raise UpkeepError("archive_without", **facts)
    with archive(store, path) as file, file.reading() as connection:
        if connection is None:
            raise UpkeepError("archive_missing", **facts)
        found = session_with_id(connection, session.id)
        if found is None:
            raise UpkeepError("archive_without", **facts)
        actions = actions_of(connection, session.id)
    found = replace(
        found,
        number=session.number,
        parent_id=session.parent_id,
        archive=session.archive,
    )
    return found, [*actions, *store.actions(session)]


def archives_of(store: SessionStore) -> list[Path]:
    """Return the archives beside the database, the oldest year first."""
    found = store.path.parent.glob("archive-*.db")
    return sorted(path for path in found if ARCHIVE_NAME.match(path.name))


def archive(store: SessionStore, path: Path) -> AbstractContextManager[Database]:
    """Lend the database of an archive; see `opened_archive`."""
    return opened_archive(path, timeout_s=store.settings.lock_timeout_s)


def _move(store: SessionStore, condition: str, date: str) -> list[Session]:
    """Move some sessions; while that lasts no other writer can change them."""
    with store.writing() as connection:
        batch = _sessions(connection, f"{condition} ORDER BY number LIMIT {_BATCH}", date)
        for name in _counted(batch):
            own = [session for session in batch if _file_of(session) == name]
            with archive(store, store.path.parent / name) as file, file.writing() as kept:
                for session in own:
                    _keep(kept, session, actions_of(connection, session.id))
            for session in own:
                _cut_down(connection, session, name)
    return batch


def _keep(kept: sqlite3.Connection, session: Session, actions: Iterable[Action]) -> None:
    """Put a session into an archive, which numbers its own rows, in the place of a former copy."""
    former = session_with_id(kept, session.id)
    if former:
        update(kept, former, replace(session, number=former.number))
    else:
        insert(kept, replace(session, number=0))
    kept.executemany(f"INSERT OR REPLACE {INTO_ACTIONS}", map(values_of_action, actions))


def _cut_down(connection: sqlite3.Connection, session: Session, name: str) -> None:
    """Leave a hint of a session where it was; no hook goes on with it."""
    hint = replace(
        session,
        goal=session.goal_short,
        summary=session.summary_short,
        decisions=(),
        approaches=(),
        blockers=(),
        changes=Changes(),
        archive=name,
    )
    update(connection, session, hint)
    for table in ("actions", "conversations"):
        connection.execute(f"DELETE FROM {table} WHERE context_id = ?", (session.id,))


def _sessions(connection: sqlite3.Connection | None, condition: str, date: str) -> list[Session]:
    return list(sessions_where(connection, condition, (date,))) if connection else []


def _counted(sessions: Iterable[Session]) -> dict[str, int]:
    return dict(sorted(Counter(map(_file_of, sessions)).items()))


def _file_of(session: Session) -> str:
    """Return the name of the archive for a session: of the year in which it was made."""
    year = _YEAR.match(session.created_at)
    return f"archive-{year[0] if year else '0000'}.db"
