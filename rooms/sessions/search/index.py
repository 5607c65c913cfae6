"""Keeps the full-text index of the database in step with the sessions.

It takes back exactly what it was given, so a text must be removed as it was added.
https://sqlite.org/fts5.html#external_content_tables
"""

import sqlite3
from collections.abc import Sequence

from core.room.full_text import INDEXED_VERSION, PREFIXES, indexed
from rooms.sessions.config import TOKENIZERS
from rooms.sessions.rows import sessions_where
from rooms.sessions.session import Session

INDEX = "contexts_fts"

_AT_ONCE = 500


def keep_current(connection: sqlite3.Connection, tokenizer: str) -> None:
    """Make the index anew where it was made by another tokenizer or another version of this file.

    connection: in a write transaction, before its first change. tokenizer: one of TOKENIZERS.
    """
    current = INDEXED_VERSION * 100 + TOKENIZERS.index(tokenizer)
    select = "SELECT value FROM counters WHERE name = 'index'"
    if connection.execute(select).fetchone() == (current,):
        return
    connection.execute("DROP TABLE contexts_fts")
    connection.execute(
        "CREATE VIRTUAL TABLE contexts_fts USING fts5("
        "goal, summary, tags, content='contexts', content_rowid='number',"
        f" prefix='{PREFIXES}', tokenize='{tokenizer}')"
    )
    last = 0
    while True:
        condition = f"number > ? ORDER BY number LIMIT {_AT_ONCE}"
        some = list(sessions_where(connection, condition, (last,)))
        for session in some:
            add(connection, session)
        if len(some) < _AT_ONCE:
            break
        last = some[-1].number
    connection.execute("INSERT OR REPLACE INTO counters VALUES ('index', ?)", (current,))


def add(connection: sqlite3.Connection, session: Session) -> None:
    """Put a stored session into the index."""
    connection.execute(
        "INSERT INTO contexts_fts(rowid, goal, summary, tags) VALUES (?, ?, ?, ?)",
        (session.number, *_columns(session)),
    )


def remove(connection: sqlite3.Connection, session: Session) -> None:
    """Take a session out of the index, as it was when it was put in."""
    connection.execute(
        "INSERT INTO contexts_fts(contexts_fts, rowid, goal, summary, tags)"
        " VALUES ('delete', ?, ?, ?, ?)",
        (session.number, *_columns(session)),
    )


def _columns(session: Session) -> Sequence[str]:
    tags = " ".join(session.tags)
    others = [text for text in session.texts if text not in (session.goal, *session.tags)]
    return indexed(session.goal), indexed("\n".join(others)), indexed(tags)
