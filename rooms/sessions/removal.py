"""Archives, forgets and redacts sessions, in everything that is kept of them.

A save redacts already: a secret found here is older than its rule, or from another program. Columns
that this program does not know stay as they are.
"""

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from core.disk import prepared, reason_of, rename, sync_directory
from core.lessons.record import utc_now
from core.room.database import Database
from core.room.documents import as_json
from core.room.redaction import Held, Redaction, Row, clean_file, cleaned, kinds_in_file
from rooms.sessions.document import FORMS, Head, Whole, context_of, whole_of
from rooms.sessions.everywhere import remove_former_copies
from rooms.sessions.rows import add_to_index, remove_from_index, session_with_id, sessions_where
from rooms.sessions.search import bound_of
from rooms.sessions.session import (
    GOAL_SHORT_CHARS,
    SUMMARY_SHORT_CHARS,
    Action,
    Session,
    SessionsError,
    UpkeepError,
    shortened,
)
from rooms.sessions.source import Incoming, read_source
from rooms.sessions.store import ARCHIVE, SessionStore, delete, next_revision

_OLD = "archive = '' AND coalesce(nullif(updated_at, ''), created_at) < ?"
_OF_SESSION = "goal", "summary", "status", "tags", "agent", "metadata", "process"
_OF_JSON = "tags", "metadata"
_OF_ACTION = "content", "result", "file_path"
_ALONE = "context_id NOT IN (SELECT id FROM contexts)"


def _former_archives(store: SessionStore, stack: ExitStack) -> list[Database]:
    return [stack.enter_context(closing(store.beside(it))) for it in store.former_archives()]


# Archives: sessions are exported, read back, compared, and only then removed. Whoever is killed
# before has them twice at most, and an import takes none twice.


class Archived(NamedTuple):
    """An archive, made or planned. path: its file.

    open: how many old sessions stay, since they have not ended. kept: others that stay: with an
    open blocker, or continued by a session that stays.
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
    """Move sessions last saved before a day or moment, ISO 8601 in UTC, to a file.

    An import brings them back with ids, numbers, actions and links. with_open: also sessions that
    have not ended. Raises errors of the store, and UpkeepError for an invalid date or a file that
    cannot be written or read back; then nothing is removed.
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
    going = {it.id: it for it in sessions if not it.open_blockers}
    statement = "SELECT id, parent_id FROM contexts WHERE parent_id IS NOT NULL"
    children = connection.execute(statement).fetchall()
    while stay := {parent for id_, parent in children if parent in going and id_ not in going}:
        for id_ in stay:
            del going[id_]
    return list(going.values())


def _exported(store: SessionStore, wholes: Sequence[Whole]) -> Path:
    """Write an archive, and compare it with the sessions. Raises UpkeepError."""
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
    """Return whether all was read back; an action's id may differ."""
    if read is None:
        return False

    def told(actions: Iterable[Action]) -> list[tuple[str, ...]]:
        return [(it.kind, it.content, it.result, it.file_path) for it in actions]

    given = replace(read.session, has_warnings=whole.session.has_warnings)
    return given == whole.session and told(read.actions) == told(whole.actions)


# Forgetting


class Forgotten(NamedTuple):
    """The outcome of `forget`. unpurged: files that hold the bytes for now."""

    sessions: list[Session]
    unpurged: list[Path]


def forget(
    store: SessionStore,
    ids: Iterable[str],
    is_meant: Callable[[Session], bool] = lambda _: True,
) -> Forgotten:
    """Remove sessions for good, with their actions and from the bytes.

    An unknown id is passed over. A session that continues a removed one stays, without its link.
    is_meant: whether a session is still as the caller saw it; else it stays. Archives of older
    versions come first, so that a second call completes an interrupted one. Raises errors of the
    store, and DatabaseError for such an archive.
    """
    wanted = list(dict.fromkeys(ids))
    with ExitStack() as stack:
        with store.writing() as connection:
            there = {it: session_with_id(connection, it) for it in wanted}
            wanted = [id_ for id_, it in there.items() if it is None or is_meant(it)]
            changed = [store.database]
            for file in _former_archives(store, stack):
                with file.writing() as kept:
                    found = [it for id_ in wanted if (it := session_with_id(kept, id_))]
                    for session in found:
                        delete(kept, session)
                changed += [file] if found else []
            removed = [it for id_ in wanted if (it := there[id_])]
            for session in removed:
                delete(connection, session)
        store.project()
        with suppress(OSError, ValueError, RecursionError):  # none was left that it could show
            shown = json.loads(store.current.read_text(encoding="utf-8"))
            if isinstance(shown, dict) and shown.get("id") in wanted:
                store.current.unlink()
        remove_former_copies(store.root, os.environ)
        unpurged = [file.path for file in changed if not file.purge()]
    return Forgotten(removed, unpurged)


# Secrets


class _Group(NamedTuple):
    """Rows that share secrets: a session with its actions, or actions without one.

    rows: redacted, the session's first. session: as stored.
    """

    kinds: tuple[str, ...]
    rows: Sequence[Row]
    session: Session | None = None


def secrets_held(store: SessionStore) -> list[Held]:
    """Return each place with a secret: database, archives, `current.json`. Raises DatabaseError."""
    found, numbers = list[Held](), dict[str, int]()
    with ExitStack() as stack:
        for file in (store.database, *_former_archives(store, stack)):
            with file.reading() as connection:
                if connection is None:
                    continue
                if file is store.database:
                    numbers = dict(connection.execute("SELECT id, number FROM contexts"))
                for group in _groups(connection):
                    id_ = group.session.id if group.session else ""
                    name = f"#{numbers[id_]}" if id_ in numbers else id_
                    found.append(Held(file.path, name, group.kinds))
    for path in (store.current, *store.archives()):
        found += [Held(path, "", kinds)] if (kinds := kinds_in_file(path)) else []
    return found


def redact_held(store: SessionStore) -> Redaction:
    """Redact every place, and its bytes.

    The bytes go even without a finding: an earlier run may have stopped before. Raises errors of
    the store, DatabaseError for an archive, OSError for `current.json`.
    """
    held = secrets_held(store)
    remove_former_copies(store.root, os.environ)
    if not os.path.lexists(store.path):
        return Redaction(held, held, [])
    paths = {it.path for it in held}
    with ExitStack() as stack:
        others = _former_archives(store, stack)
        for file in others:
            if file.path in paths:
                with file.writing() as kept:
                    _clean(kept)
        if paths & {file.path for file in (store.database, *others)}:
            with store.writing() as connection:  # a hint here may hold half a secret of an archive
                _clean(connection)
        unpurged = [it.path for it in (store.database, *others) if not it.purge()]
    if paths:
        store.project()
    for path in (store.current, *store.archives()):
        clean_file(path)
    return Redaction(held, secrets_held(store), unpurged)


def _groups(connection: sqlite3.Connection) -> Iterator[_Group]:
    for row in _rows(connection, "contexts", ("id", *_OF_SESSION), "1 ORDER BY number"):
        actions = _rows(connection, "actions", ("id", *_OF_ACTION), "context_id = ?", row["id"])
        rows, kinds = cleaned([row, *actions], _OF_JSON)
        if kinds:
            yield _Group(kinds, rows, session_with_id(connection, row["id"]))
    for table, condition in (("actions", _ALONE), ("waiting_actions", "1")):
        actions = _rows(connection, table, ("id", *_OF_ACTION), condition)
        rows, kinds = cleaned(list(actions), _OF_JSON)
        if kinds:
            yield _Group(kinds, rows)


def _rows(
    connection: sqlite3.Connection,
    table: str,
    columns: Sequence[str],
    condition: str,
    *values: object,
) -> Iterator[Row]:
    statement = f"SELECT {', '.join(columns)} FROM {table} WHERE {condition}"
    for row in connection.execute(statement, values):
        yield {**dict(zip(columns, row, strict=True)), "_table": table}


def _clean(connection: sqlite3.Connection) -> None:
    for group in list(_groups(connection)):
        if group.session:
            remove_from_index(connection, group.session)
        for row in group.rows:
            values = {name: it for name, it in row.items() if name not in ("_table", "id")}
            if row["_table"] == "contexts":
                values["goal_short"] = shortened(row["goal"], GOAL_SHORT_CHARS)
                values["summary_short"] = shortened(row["summary"] or "", SUMMARY_SHORT_CHARS)
                values["revision"] = next_revision(connection)
            setting = ", ".join(f"{name} = ?" for name in values)
            statement = f"UPDATE {row['_table']} SET {setting} WHERE id = ?"
            connection.execute(statement, (*values.values(), row["id"]))
        if group.session:
            stored = session_with_id(connection, group.session.id)
            assert stored
            add_to_index(connection, stored)
