"""Finds secrets in everything that is kept of the sessions, and takes them out.

A save redacts already; what is found here was saved before a rule knew it, or by another program.
Columns are read and written as they are: what this program does not know of them stays.
"""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from typing import Any, NamedTuple

from core.room.database import Database
from core.room.redaction import Held, Redaction, Row, clean_file, cleaned, kinds_in_file
from rooms.sessions.archive import archives
from rooms.sessions.everywhere import remove_former_copies
from rooms.sessions.rows import (
    add_to_index,
    remove_from_index,
    session_with_id,
)
from rooms.sessions.session import GOAL_SHORT_CHARS, SUMMARY_SHORT_CHARS, Session, shortened
from rooms.sessions.store import CURRENT, SessionStore, next_revision
from rooms.sessions.upkeep import former_archives, own_database

_OF_SESSION = "goal", "summary", "status", "tags", "agent", "metadata", "process"
_OF_JSON = "tags", "metadata"
_OF_ACTION = "content", "result", "file_path"
_ALONE = "context_id NOT IN (SELECT id FROM contexts)"


class _Group(NamedTuple):
    """A session with its actions, or actions without one: what one of them gives away, all hide.

    rows: cleaned, that of the session first. session: as it is stored.
    """

    kinds: tuple[str, ...]
    rows: Sequence[Row]
    session: Session | None = None


def secrets_held(store: SessionStore) -> list[Held]:
    """Return each place with a secret: database, archives, `current.json`. Raises DatabaseError."""
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
    for path in (store.path.parent / CURRENT, *archives(store)):
        found += [Held(path, "", kinds)] if (kinds := kinds_in_file(path)) else []
    return found


def redact_held(store: SessionStore) -> Redaction:
    """Take the secrets out wherever they are, from the bytes as well.

    The bytes go also where nothing is found any more, since a run before may not have come so far.
    Raises what the store raises, DatabaseError for an archive, and OSError for `current.json`.
    """
    held = secrets_held(store)
    remove_former_copies(store.root, os.environ)
    if not os.path.lexists(store.path):
        return Redaction(held, held, [])
    paths = {it.path for it in held}
    with ExitStack() as stack:
        own, *others = _databases(store, stack)
        for file in others:
            if file.path in paths:
                with file.writing() as kept:
                    _clean(kept)
        if paths & {file.path for file in (own, *others)}:  # a hint here may hold half a secret
            with store.writing() as connection:
                _clean(connection)
        unpurged = [it.path for it in (own, *others) if not it.purge()]
    if paths:
        store.project()
    for path in (store.path.parent / CURRENT, *archives(store)):
        clean_file(path)
    return Redaction(held, secrets_held(store), unpurged)


def _databases(store: SessionStore, stack: ExitStack) -> list[Database]:
    """Return the database, and the archives that an older version made."""
    former = former_archives(store)
    others = [stack.enter_context(closing(own_database(store, path))) for path in former]
    return [store.database, *others]


def _clean(connection: sqlite3.Connection) -> None:
    for group in list(_groups(connection)):
        _write(connection, group)


def _groups(connection: sqlite3.Connection) -> Iterator[_Group]:
    """Yield what holds secrets in a database: the sessions, and actions of none."""
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
    """Yield rows of a table of ours by column; `_table` says which one it is."""
    statement = f"SELECT {', '.join(columns)} FROM {table} WHERE {condition}"
    for row in connection.execute(statement, values):
        yield {**dict(zip(columns, row, strict=True)), "_table": table}


def _write(connection: sqlite3.Connection, group: _Group) -> None:
    """Store the cleaned rows; the short forms and the index follow the texts."""
    if group.session:
        remove_from_index(connection, group.session)
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
        add_to_index(connection, stored)
