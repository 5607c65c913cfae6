"""Finds secrets in everything that is kept of the sessions, and takes them out.

A save redacts already; what is found here was saved before a rule knew it, or by another program.
Columns are read and written as they are: what this program does not know of them stays.
"""

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, NamedTuple

from core.room.database import Database
from core.room.redaction import Held, Redaction, Row, clean_file, cleaned, kinds_in_file
from rooms.sessions import projection
from rooms.sessions.projects.sharing import hints_shared, refresh
from rooms.sessions.rows import session_with_id
from rooms.sessions.search import index
from rooms.sessions.session import GOAL_SHORT_CHARS, SUMMARY_SHORT_CHARS, Session, shortened
from rooms.sessions.store import SessionStore, next_revision, update
from rooms.sessions.upkeep.archive import archive, archives_of

_OF_SESSION = "goal", "summary", "status", "tags", "agent", "metadata", "process"
_OF_JSON = "tags", "metadata"
_OF_ACTION = "content", "result", "file_path"
ORPHANS = "context_id NOT IN (SELECT id FROM contexts)"


class _Group(NamedTuple):
    """A session with its actions, or actions without one: what one of them gives away, all hide.

    rows: cleaned, that of the session first. session: as it is stored.
    """

    kinds: tuple[str, ...]
    rows: Sequence[Row]
    session: Session | None = None


def secrets_held(store: SessionStore, environment: Mapping[str, str]) -> list[Held]:
    """Return each place with a secret: database, archives, projection, hints for other projects.

    Raises DatabaseError.
    """
    found, numbers = list[Held](), dict[str, int]()
    with ExitStack() as stack:
        for file in _databases(store, stack):
            with file.reading() as connection:
                if connection is None:
                    continue
                if file is store.database:
                    numbers = dict(connection.execute("SELECT id, number FROM contexts"))
                for group in _groups(connection):
                    id_ = group.session.id if group.session else ""
                    name = f"#{numbers[id_]}" if id_ in numbers else id_
                    found.append(Held(file.path, name, group.kinds))
    path = store.path.parent / projection.NAME
    found += [Held(path, "", kinds) for kinds in [kinds_in_file(path)] if kinds]
    hints_path, hints = hints_shared(store, environment)
    for hint in hints:
        _, kinds = cleaned([{"goal": hint.goal, "tags": "\n".join(hint.tags)}], _OF_JSON)
        found += [Held(hints_path, f"#{hint.number}", kinds)] if kinds else []
    return found


def redact_held(store: SessionStore, environment: Mapping[str, str]) -> Redaction:
    """Take the secrets out wherever they are, from the bytes as well.

    The bytes go also where nothing is found any more, since a run before may not have come so far.
    Raises what the store raises, DatabaseError for an archive, and OSError for the projection.
    """
    held = secrets_held(store, environment)
    if not os.path.lexists(store.path):
        return Redaction(held, held, [])
    paths = {it.path for it in held}
    with ExitStack() as stack:
        own, *archives = _databases(store, stack)
        for file in archives:
            if file.path in paths:
                _redact_archive(store, file)
        if own.path in paths:
            with store.writing() as connection:
                for group in list(_groups(connection)):
                    _write(connection, group)
        unpurged = [it.path for it in (own, *archives) if not it.purge()]
    if paths:
        store.project()
    clean_file(store.path.parent / projection.NAME)
    unpurged += refresh(store, environment)
    return Redaction(held, secrets_held(store, environment), unpurged)


def _databases(store: SessionStore, stack: ExitStack) -> list[Database]:
    """Return the database and its archives."""
    archives = [stack.enter_context(archive(store, path)) for path in archives_of(store)]
    return [store.database, *archives]


def _redact_archive(store: SessionStore, file: Database) -> None:
    """Redact an archive, and the hints that its sessions have left: one may hold half a secret."""
    with store.writing() as connection, file.writing() as kept:
        for group in list(_groups(kept)):
            _write(kept, group)
            whole = session_with_id(kept, group.session.id) if group.session else None
            hint = session_with_id(connection, whole.id) if whole else None
            if whole and hint and hint.archive == file.path.name:
                told = replace(
                    hint, goal=whole.goal_short, summary=whole.summary_short, tags=whole.tags
                )
                update(connection, hint, told)


def _groups(connection: sqlite3.Connection) -> Iterator[_Group]:
    """Yield what holds secrets in a database: the sessions, orphaned and waiting actions."""
    for row in _rows(connection, "contexts", ("id", *_OF_SESSION), "1 ORDER BY number"):
        actions = _actions(connection, "actions", "context_id = ?", row["id"])
        rows, kinds = cleaned([row, *actions], _OF_JSON)
        if kinds:
            yield _Group(kinds, rows, session_with_id(connection, row["id"]))
    for table, condition in (("actions", ORPHANS), ("waiting_actions", "1")):
        rows, kinds = cleaned(_actions(connection, table, condition), _OF_JSON)
        if kinds:
            yield _Group(kinds, rows)


def _actions(
    connection: sqlite3.Connection, table: str, condition: str, *values: object
) -> list[Row]:
    return list(_rows(connection, table, ("id", *_OF_ACTION), condition, *values))


def _rows(
    connection: sqlite3.Connection,
    table: str,
    columns: Sequence[str],
    condition: str,
    *values: object,
) -> Iterator[Row]:
    """Yield rows of a table of ours by column; `_table` says which one it is."""
    statement = f"SELECT {', '.join(columns)} FROM {table} WHERE {condition}"
    for row in connection.execute(statement, values):
        yield {**dict(zip(columns, row, strict=True)), "_table": table}


def _write(connection: sqlite3.Connection, group: _Group) -> None:
    """Store the cleaned rows; the short forms and the index follow the texts."""
    if group.session:
        index.remove(connection, group.session)
    for row in group.rows:
        values: dict[str, Any] = {**row}
        table = values.pop("_table")
        if table == "contexts":
            values["goal_short"] = shortened(row["goal"], GOAL_SHORT_CHARS)
            values["summary_short"] = shortened(row["summary"] or "", SUMMARY_SHORT_CHARS)
            values["revision"] = next_revision(connection)
        id_ = values.pop("id")
        setting = ", ".join(f"{name} = ?" for name in values)
        connection.execute(f"UPDATE {table} SET {setting} WHERE id = ?", (*values.values(), id_))
    if group.session:
        stored = session_with_id(connection, group.session.id)
        assert stored
        index.add(connection, stored)
