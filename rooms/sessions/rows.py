"""The tables of the sessions' database, and its text index.

A text must leave the index exactly as it was added:
https://sqlite.org/fts5.html#external_content_tables
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from sqlite3 import Connection
from typing import Any

from core.program import NO_CANCELLATION, Cancellation
from core.room.database import Database
from core.room.documents import texts_in
from core.room.full_text import INDEXED_VERSION, PREFIXES, with_pieces
from rooms.sessions.session import Action, Session, fields_in_metadata, json_in, metadata_of

APPLICATION_ID = 0x534D_0001  # "SM", room two
INDEX = "contexts_fts"
TOKENIZERS = ("unicode61", "ascii", "porter", "trigram")

# Columns with the name of a field, as text; an optional one is NULL where that is empty.
_TEXT_COLUMNS = "id goal summary status agent started_at created_at updated_at archive".split()
_OPTIONAL_COLUMNS = "parent_id", "ended_at"
_COLUMNS = ("number", "tags", "metadata", "has_warnings", *_TEXT_COLUMNS, *_OPTIONAL_COLUMNS)
_ACTION_FIELDS = "id", "context_id", "kind", "content", "result", "file_path", "created_at"
ACTION_COLUMNS = ", ".join(_ACTION_FIELDS).replace("kind", "type")
INTO_ACTIONS = f"INTO actions ({ACTION_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"
# Until its conversation saves a session, an action has an id of that conversation in place of the
# session's: this word and the names of client and conversation.
WAITING_PREFIX = "conv:"
IS_WAITING = "context_id >= 'conv:' AND context_id < 'conv;'"  # by the index, as LIKE is not

MOMENT_FORMAT = "%Y-%m-%dT%H:%M:%S+00:00"
_OWNER = (
    "SELECT b.context_id FROM conversations b JOIN contexts c ON c.id = b.context_id"
    f" WHERE '{WAITING_PREFIX}' || b.agent || ':' || b.client_session = actions.context_id"
)
# Actions that have waited for a day or longer, or unclaimed for 30 days, at a moment `?`.
_OVERDUE = f"{IS_WAITING} AND created_at < strftime('{MOMENT_FORMAT}', ?, '-1 day')"
UNCLAIMED = f"{IS_WAITING} AND created_at < strftime('{MOMENT_FORMAT}', ?, '-30 days')"
_BATCH_SESSIONS = 500


@cache
def schema_statements() -> tuple[str, ...]:
    text = Path(__file__).with_name("schema.sql").read_text(encoding="utf-8")
    return tuple(statement.strip("\n") for statement in text.split("\n;\n")[1:])


def database_at(
    path: Path, *, timeout_s: float, cancellation: Cancellation = NO_CANCELLATION
) -> Database:
    """Return the database, which need not exist. timeout_s: for other writers."""
    return Database(
        path,
        (schema_statements(),),
        application_id=APPLICATION_ID,
        timeout_s=timeout_s,
        cancellation=cancellation,
    )


def sessions_where(
    connection: Connection, condition: str, values: Iterable[Any] = ()
) -> Iterator[Session]:
    """Yield the sessions of a condition: our own SQL, with `?` for each value."""
    statement = f"SELECT {', '.join(_COLUMNS)} FROM contexts WHERE {condition}"
    for row in map(decode_row, connection.execute(statement, tuple(values))):
        values_by_name = dict(zip(_COLUMNS, row, strict=True))
        fields: dict[str, Any] = {name: value or "" for name, value in values_by_name.items()}
        metadata = fields.pop("metadata") or "{}"
        fields |= {
            "status": values_by_name["status"] or "planning",
            "tags": tags_of(values_by_name["tags"]),
            "has_warnings": bool(values_by_name["has_warnings"]),
            "updated_at": values_by_name["updated_at"] or values_by_name["created_at"] or "",
        }
        yield Session(**fields, **fields_in_metadata(metadata))


def session_with_id(connection: Connection, id_: str) -> Session | None:
    return next(sessions_where(connection, "id = ?", (id_,)), None)


@lru_cache(maxsize=4_096)  # few combinations of tags are many
def tags_of(text: str | None) -> tuple[str, ...]:
    return () if text == "[]" else texts_in(json_in(text))


def decode_row(row: Sequence[Any]) -> Sequence[Any]:
    """Decode the bytes in a row, which another program may have put there."""
    if bytes not in map(type, row):
        return row
    return [cell.decode("utf-8", "replace") if isinstance(cell, bytes) else cell for cell in row]


def actions_of(connection: Connection, context_id: str) -> list[Action]:
    condition = "context_id = ? ORDER BY created_at, rowid"
    statement = f"SELECT {ACTION_COLUMNS} FROM actions WHERE {condition}"
    rows = map(decode_row, connection.execute(statement, (context_id,)))
    pairs = (zip(_ACTION_FIELDS, row, strict=True) for row in rows)
    return [Action(**{name: value or "" for name, value in row}) for row in pairs]


def values_of_action(action: Action) -> tuple[str | None, ...]:
    """Return an action's values in the order of ACTION_COLUMNS."""
    optional = action.result or None, action.file_path or None
    return action.id, action.context_id, action.kind, action.content, *optional, action.created_at


def settle_actions(connection: Connection, now: str) -> None:
    """Settle waiting actions, in the transaction of a save.

    Those after the end of a session join it after a day; unclaimed ones go after 30 days. Those of
    an older version wait with the others.
    """
    if connection.execute("SELECT 1 FROM waiting_actions LIMIT 1").fetchone():
        connection.execute(
            f"INSERT OR IGNORE INTO actions ({ACTION_COLUMNS})"
            f" SELECT id, '{WAITING_PREFIX}' || agent || ':' || client_session, type, content,"
            " result, file_path, created_at FROM waiting_actions ORDER BY rowid"
        )
        connection.execute("DELETE FROM waiting_actions")
    joining = f"UPDATE actions SET context_id = ({_OWNER}) WHERE {_OVERDUE} AND EXISTS ({_OWNER})"
    connection.execute(joining, (now,))
    connection.execute(f"DELETE FROM actions WHERE {UNCLAIMED}", (now,))


def next_revision(connection: Connection) -> int:
    connection.execute(
        "INSERT INTO counters VALUES ('revision', 1) ON CONFLICT DO UPDATE SET value = value + 1"
    )
    [row] = connection.execute("SELECT value FROM counters WHERE name = 'revision'")
    return int(row[0])


def write_session(
    connection: Connection, session: Session, *, before: Session | None = None, process: str = ""
) -> Session:
    """Store a session and return it.

    before: the stored one that it replaces; None for a new one, whose number 0 becomes a new
    number. process: "" keeps the stored one.
    """
    values: dict[str, Any] = {
        **{name: getattr(session, name) for name in _TEXT_COLUMNS},
        **{name: getattr(session, name) or None for name in _OPTIONAL_COLUMNS},
        "goal_short": session.goal_short,
        "summary_short": session.summary_short,
        "tags": json.dumps(list(session.tags), ensure_ascii=False),
        "metadata": metadata_of(session),
        "has_warnings": int(session.has_warnings),
        "revision": next_revision(connection),
        "number": session.number or None,
        "process": process,
    }
    statement = f"INSERT INTO contexts ({', '.join(values)}) VALUES (?{', ?' * (len(values) - 1)})"
    if before:
        index_session(connection, before, remove=True)
        kept_columns = () if process else ("process",)
        assignments = (f"{name} = excluded.{name}" for name in values if name not in kept_columns)
        statement += f" ON CONFLICT (number) DO UPDATE SET {', '.join(assignments)}"
    number = connection.execute(statement, (*values.values(),)).lastrowid
    if before is None:
        [session] = sessions_where(connection, "number = ?", (number,))
    index_session(connection, session)
    return session


def update_index(connection: Connection, tokenizer: str) -> None:
    """Make the index anew for another tokenizer or version of `with_pieces`, before a change."""
    version = INDEXED_VERSION * 100 + TOKENIZERS.index(tokenizer)
    select = "SELECT value FROM counters WHERE name = 'index'"
    if connection.execute(select).fetchone() == (version,):
        return
    connection.execute(f"DROP TABLE IF EXISTS {INDEX}")
    connection.execute(
        f"CREATE VIRTUAL TABLE {INDEX} USING fts5("
        "goal, summary, tags, content='contexts', content_rowid='number',"
        f" prefix='{PREFIXES}', tokenize='{tokenizer}')"
    )
    last_number, condition = 0, f"number > ? ORDER BY number LIMIT {_BATCH_SESSIONS}"
    while sessions := list(sessions_where(connection, condition, (last_number,))):
        for session in sessions:
            index_session(connection, session)
        last_number = sessions[-1].number
    connection.execute("INSERT OR REPLACE INTO counters VALUES ('index', ?)", (version,))


def index_session(connection: Connection, session: Session, *, remove: bool = False) -> None:
    """Put a session into the index, or take out the state that it has there."""
    other_texts = [text for text in session.texts if text not in (session.goal, *session.tags)]
    texts = map(with_pieces, (session.goal, "\n".join(other_texts), " ".join(session.tags)))
    command, value = (f"{INDEX}, ", "'delete', ") if remove else ("", "")
    columns = f"{command}rowid, goal, summary, tags"
    statement = f"INSERT INTO {INDEX}({columns}) VALUES ({value}?, ?, ?, ?)"
    connection.execute(statement, (session.number, *texts))
