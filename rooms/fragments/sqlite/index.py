"""Keeps the full-text index in step with the live fragments, and the keywords with all."""

import sqlite3
from collections.abc import Iterable

from core.room.full_text import INDEXED_VERSION, PREFIXES, indexed
from rooms.fragments.fragment import Fragment
from rooms.fragments.sqlite.conditions import ANY_OF, MOST_NUMBER, listed
from rooms.fragments.stored.rows import SELECTED, fragment_of, spelled

INDEX = "fragments_fts"

# The fields of a fragment that it holds, and those that say whether it holds it.
KNOWN = frozenset(("content", "topic", "keywords", "deleted_at", "superseded_at"))

_AT_ONCE = 500


def keep_current(connection: sqlite3.Connection) -> None:
    """Make the index anew where it was made by another version of `indexed`.

    connection: in a write transaction, before its first change.
    """
    row = connection.execute("SELECT value FROM state WHERE name = 'index'").fetchone()
    if row != (str(INDEXED_VERSION),):
        make_anew(connection)


def make_anew(connection: sqlite3.Connection) -> None:
    """Make the index and the keywords anew from the fragments, inside a write transaction."""
    connection.execute("DROP TABLE IF EXISTS fragments_fts")
    connection.execute(
        "CREATE VIRTUAL TABLE fragments_fts USING fts5("
        f"content, topic, keywords, prefix='{PREFIXES}', tokenize='unicode61')"
    )
    connection.execute("DELETE FROM fragment_keywords")
    last = -MOST_NUMBER
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
    connection.execute("INSERT OR REPLACE INTO state VALUES ('index', ?)", (str(INDEXED_VERSION),))


def add(connection: sqlite3.Connection, fragment: Fragment) -> None:
    """Put a stored fragment into the index, if it is live; and its keywords."""
    if fragment.is_live:
        connection.execute(
            "INSERT INTO fragments_fts(rowid, content, topic, keywords) VALUES (?, ?, ?, ?)",
            (fragment.number, *_columns(fragment)),
        )
    connection.executemany(
        "INSERT OR IGNORE INTO fragment_keywords VALUES (?, ?, ?)", _keywords(fragment)
    )


def remove(connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """Take fragments out of the index, whatever it holds of them."""
    given = (listed(numbers),)
    connection.execute(f"DELETE FROM fragments_fts WHERE rowid {ANY_OF}", given)
    connection.execute(f"DELETE FROM fragment_keywords WHERE number {ANY_OF}", given)


def is_current(connection: sqlite3.Connection) -> bool:
    """Return whether the index holds what the fragments say now; another program may change them.

    What `indexed` makes of a text begins with the text. Of another version, it is made anew with
    the next write, and nothing is wrong.
    """
    row = connection.execute("SELECT value FROM state WHERE name = 'index'").fetchone()
    if row != (str(INDEXED_VERSION),):
        return True
    return not any(connection.execute(it).fetchone()[0] for it in _DIFFERENCES)


_LIVE = "deleted_at = '' AND superseded_at = ''"
_DIFFERENCES = (
    "SELECT EXISTS (SELECT 1 FROM fragments f LEFT JOIN fragments_fts i ON i.rowid = f.number"
    f" WHERE {_LIVE} AND (i.rowid IS NULL"
    " OR substr(i.content, 1, length(f.content)) != f.content"
    " OR substr(i.topic, 1, length(f.topic)) != f.topic))",
    "SELECT EXISTS (SELECT 1 FROM fragments_fts_docsize"
    f" WHERE id NOT IN (SELECT number FROM fragments WHERE {_LIVE}))",
    "SELECT EXISTS (SELECT 1 FROM fragment_keywords k LEFT JOIN fragments f USING (number)"
    f" WHERE f.number IS NULL OR is_live != ({_LIVE}))",
)


def _keywords(fragment: Fragment) -> list[tuple[str, bool, int]]:
    return [(spelled(it), fragment.is_live, fragment.number) for it in fragment.keywords]


def _columns(fragment: Fragment) -> tuple[str, str, str]:
    return (
        indexed(fragment.content),
        indexed(fragment.topic),
        indexed(" ".join(fragment.keywords)),
    )
