"""Keeps the full-text index and the keywords in step with the live fragments."""

import sqlite3

from core.full_text.candidates import Index
from core.full_text.indexed import INDEXED_VERSION, PREFIXES, indexed
from core.text.normal_form import normal_form
from rooms.fragments.fragment import Fragment
from rooms.fragments.sqlite.rows import SELECTED, fragment_of, texts_of

INDEX = Index("fragments_fts", "fragments", texts_of)

_AT_ONCE = 500


def plain_keyword(keyword: str) -> str:
    """Return a keyword in the spelling in which two are compared."""
    return normal_form("NFKC", keyword).casefold().strip()


def keep_current(connection: sqlite3.Connection) -> None:
    """Make the index anew where it was made by another version of `indexed`.

    connection: in a write transaction, before its first change.
    """
    current = str(INDEXED_VERSION)
    if connection.execute("SELECT value FROM state WHERE name = 'index'").fetchone() == (current,):
        return
    connection.execute("DROP TABLE fragments_fts")
    connection.execute(
        "CREATE VIRTUAL TABLE fragments_fts USING fts5("
        f"content, topic, keywords, content='', prefix='{PREFIXES}', tokenize='unicode61')"
    )
    connection.execute("DELETE FROM fragment_keywords")
    last = 0
    while True:
        rows = connection.execute(
            f"SELECT {SELECTED} FROM fragments WHERE number > ? ORDER BY number LIMIT {_AT_ONCE}",
            (last,),
        ).fetchall()
        for fragment in map(fragment_of, rows):
            add(connection, fragment)
            last = fragment.number
        if len(rows) < _AT_ONCE:
            break
    connection.execute("INSERT OR REPLACE INTO state VALUES ('index', ?)", (current,))


def add(connection: sqlite3.Connection, fragment: Fragment) -> None:
    """Put a stored fragment into the index, if it is live."""
    if not fragment.is_live:
        return
    connection.execute(
        "INSERT INTO fragments_fts(rowid, content, topic, keywords) VALUES (?, ?, ?, ?)",
        (fragment.number, *_columns(fragment)),
    )
    connection.executemany(
        "INSERT OR IGNORE INTO fragment_keywords VALUES (?, ?)",
        [(plain_keyword(keyword), fragment.number) for keyword in fragment.keywords],
    )


def remove(connection: sqlite3.Connection, fragment: Fragment) -> None:
    """Take a fragment out of the index, as it was when it was put in."""
    if not fragment.is_live:
        return
    connection.execute(
        "INSERT INTO fragments_fts(fragments_fts, rowid, content, topic, keywords)"
        " VALUES ('delete', ?, ?, ?, ?)",
        (fragment.number, *_columns(fragment)),
    )
    connection.executemany(
        "DELETE FROM fragment_keywords WHERE keyword = ? AND number = ?",
        [(plain_keyword(keyword), fragment.number) for keyword in fragment.keywords],
    )


def _columns(fragment: Fragment) -> tuple[str, str, str]:
    return (
        indexed(fragment.content),
        indexed(fragment.topic),
        indexed(" ".join(fragment.keywords)),
    )
