"""Takes out of everything that is kept of the sessions what must not be there.

Sessions that are forgotten, and secrets. A save redacts already; a secret that is found here was
saved before a rule knew it, or by another program. Columns are read and written as they are: what
this program does not know of them stays.
"""

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import NamedTuple

from core.room.database import Database
from core.room.redaction import Held, Redaction, Row, clean_file, cleaned, kinds_in_file
from rooms.sessions.everywhere import remove_former_copies
from rooms.sessions.rows import add_to_index, remove_from_index, session_with_id
from rooms.sessions.session import GOAL_SHORT_CHARS, SUMMARY_SHORT_CHARS, Session, shortened
from rooms.sessions.store import SessionStore, delete, next_revision

_OF_SESSION = "goal", "summary", "status", "tags", "agent", "metadata", "process"
_OF_JSON = "tags", "metadata"
_OF_ACTION = "content", "result", "file_path"
_ALONE = "context_id NOT IN (SELECT id FROM contexts)"


def _former_archives(store: SessionStore, stack: ExitStack) -> list[Database]:
    """Return the archives that an older version made, which the stack closes."""
    return [stack.enter_context(closing(store.beside(it))) for it in store.former_archives()]


# Forgetting


class Forgotten(NamedTuple):
    """What was removed, and what is left to do.

    sessions: as they stood in the database. unpurged: the files in which the bytes remain for now.
    """

    sessions: list[Session]
    unpurged: list[Path]


def forget(
    store: SessionStore,
    ids: Iterable[str],
    is_meant: Callable[[Session], bool] = lambda _: True,
) -> Forgotten:
    """Remove the sessions of these ids for good, with their actions and from the bytes.

    A session that is not there is passed over; what continues a removed session stays, without its
    link. is_meant: whether a session is still what the caller has seen; one that is not stays.

    The archives of older versions come first, so that a second call completes what was cut short.
    Raises what the store raises, and DatabaseError for such an archive.
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


def _clean(connection: sqlite3.Connection) -> None:
    """Store the rows without their secrets; the short forms and the index follow the texts."""
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
