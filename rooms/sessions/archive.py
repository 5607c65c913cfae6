"""Moves old sessions to a file, from which an import brings them back as they were.

They are exported, read back, compared, and only then removed: whoever is killed before has them
twice at most, and an import takes none twice.
"""

import json
import os
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from core.disk import prepared, reason_of, rename, sync_directory
from core.errors import SentinelError
from core.lessons.record import utc_now
from core.room.documents import as_json
from rooms.sessions.document import FORMS, Head, Whole, context_of, whole_of
from rooms.sessions.everywhere import others
from rooms.sessions.removal import forget
from rooms.sessions.rows import sessions_where
from rooms.sessions.search import bound_of
from rooms.sessions.session import (
    Action,
    NoSuchSessionError,
    Session,
    SessionsError,
    UpkeepError,
)
from rooms.sessions.source import Incoming, read_source
from rooms.sessions.store import ARCHIVE, FORMER_ARCHIVE, SessionStore

_OLD = "archive = '' AND coalesce(nullif(updated_at, ''), created_at) < ?"


def find_session(store: SessionStore, name: str) -> tuple[SessionStore, Session]:
    """Return the session of a number or an id, with the store that has it.

    An id is looked for in the other projects that take part, too. Raises NoSuchSessionError, and
    UpkeepError for an archived session, which names the file.
    """
    try:
        return store, store.get(name)
    except NoSuchSessionError:
        if name.strip().startswith("ctx_"):
            for other in others(store.root):
                with suppress(SentinelError, OSError):
                    return other, other.get(name)
        check_archives(store, name)
        raise


class Archived(NamedTuple):
    """What was archived, or would be. path: the file with the sessions, None where there is none.

    open: how many are old enough and stay, since they have not ended. kept: the others that stay:
    with an open blocker, or continued by a session that stays.
    """

    sessions: list[Session]
    path: Path | None
    open: int
    kept: list[Session]


def archive_before(
    store: SessionStore,
    date: str,
    *,
    with_open: bool = False,
    dry_run: bool = False,
) -> Archived:
    """Move the sessions whose last save is older than a day or moment in ISO 8601 (UTC) to a file.

    An import of that file brings them back, with their ids, numbers, actions and links. with_open:
    also those that have not ended. dry_run: change nothing. Raises what the store raises, and
    UpkeepError for what is no date or a file that could not be written or read back; nothing is
    removed then.
    """
    try:
        before = bound_of("before", date)
    except SessionsError as error:
        raise UpkeepError("bad_before", date=date) from error
    with store.reading() as connection:
        old = list(sessions_where(connection, f"{_OLD} ORDER BY number", (before,)))
        ended = [it for it in old if it.ended_at or with_open]
        going = _without_kept(connection, ended)
        wholes = [whole_of(connection, it.number) for it in going]
    kept = [it for it in ended if it not in going]
    left = Archived(going, None, len(old) - len(ended), kept)
    if dry_run or not going:
        return left
    path = _exported(store, wholes)
    states = {it.id: it for it in going}
    forget(store, states, is_meant=lambda it: it == states[it.id])
    return left._replace(path=path)


def _without_kept(connection: sqlite3.Connection, sessions: Sequence[Session]) -> list[Session]:
    """Return the sessions without an open blocker, and without a child that stays."""
    going = {it.id: it for it in sessions if not it.open_blockers}
    statement = "SELECT id, parent_id FROM contexts WHERE parent_id IS NOT NULL"
    children = connection.execute(statement).fetchall()
    while stay := {parent for id_, parent in children if parent in going and id_ not in going}:
        for id_ in stay:
            del going[id_]
    return list(going.values())


def _exported(store: SessionStore, wholes: Sequence[Whole]) -> Path:
    """Write sessions to a new archive, and read them back. Raises UpkeepError."""
    moment, form = utc_now(), FORMS["json"]
    sessions = [as_json({"number": it.session.number, **context_of(it)}) for it in wholes]
    folder = store.path.with_name(ARCHIVE)
    path = folder / f"sessions-{moment[:19].replace(':', '')}.json"
    begin, end = form.begin(Head(store.root.name, len(wholes), moment)), form.end(0)
    text = begin + ",".join(f"\n{it}" for it in sessions) + end
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        (folder / ".gitignore").write_text("*\n", encoding="ascii")
        with prepared(path, [text.encode("utf-8", "replace")], mode=0o600) as temporary:
            if os.path.lexists(path):
                raise UpkeepError("archive_there", path=str(path))
            rename(temporary, path)
        sync_directory(folder)
    except OSError as error:
        facts = {"path": str(path), "reason": reason_of(error)}
        raise UpkeepError("archive_unwritten", **facts) from error
    back = {it.session.id: it for it in read_source(path).items}
    for whole in wholes:
        if not _is_same(back.get(whole.session.id), whole):
            path.unlink()
            name = f"#{whole.session.number}"
            raise UpkeepError("archive_differs", path=str(path), name=name)
    return path


def _is_same(read: Incoming | None, whole: Whole) -> bool:
    """Return whether all that a session says was read back; an action may get another id."""
    if read is None:
        return False

    def told(actions: Iterable[Action]) -> list[tuple[str, ...]]:
        return [(it.kind, it.content, it.result, it.file_path) for it in actions]

    given = replace(read.session, has_warnings=whole.session.has_warnings)
    return given == whole.session and told(read.actions) == told(whole.actions)


def former_archive(store: SessionStore, session: Session) -> str:
    """Return the archive of an older version that has the texts of a session, from the project on.

    "" for nearly all sessions, and for a name that is none: others may write the table, too.
    """
    if not FORMER_ARCHIVE.match(session.archive):
        return ""
    return (store.path.parent / session.archive).relative_to(store.root).as_posix()


def check_archives(store: SessionStore, name: str) -> None:
    """Raise UpkeepError where the session of a number or an id is in an archive here."""
    name = name.strip().lstrip("#")
    field = f'"number": {name},' if name.isdecimal() else f'"id": {json.dumps(name)},'
    for path in store.archives():
        with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                if field in line.partition('"goal"')[0]:  # both stand before all texts
                    date = path.stem.removeprefix("sessions-")[:10]
                    shown = path.relative_to(store.root).as_posix()
                    raise UpkeepError("archived_away", name=name, path=shown, date=date)
