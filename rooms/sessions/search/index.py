"""Keeps the full-text index of the database in step with the sessions.

The index holds the words of each session, and behind them what these are made of: the pairs of
characters of scripts that run words together, the beginnings of Korean verbs as their stems have
them, the parts of identifiers. `MATCH '인증'` finds
로그인인증을, too, and every term of the ranker is a word or the beginning of one. It takes back
exactly what it was given, so a text must be removed as it was added.
https://sqlite.org/fts5.html#external_content_tables
"""

import re
import sqlite3
from collections.abc import Sequence

from core.text.hangul import verb_beginning
from core.text.terms import pieces_of
from rooms.sessions.config import TOKENIZERS
from rooms.sessions.rows import sessions_where
from rooms.sessions.session import Session

_VERSION = 2  # of what `_indexed` makes of a text
_PLAIN_WORD = re.compile("[a-z0-9]+")
_SHORT_CHARS = 2
_PREFIXES = "4 6"  # the beginnings that are indexed: of most English stems
_AT_ONCE = 500


def keep_current(connection: sqlite3.Connection, tokenizer: str) -> None:
    """Make the index anew where it was made by another tokenizer or another version of this file.

    connection: in a write transaction, before its first change. tokenizer: one of TOKENIZERS.
    """
    current = _VERSION * 100 + TOKENIZERS.index(tokenizer)
    select = "SELECT value FROM counters WHERE name = 'index'"
    if connection.execute(select).fetchone() == (current,):
        return
    connection.execute("DROP TABLE contexts_fts")
    connection.execute(
        "CREATE VIRTUAL TABLE contexts_fts USING fts5("
        "goal, summary, tags, content='contexts', content_rowid='number',"
        f" prefix='{_PREFIXES}', tokenize='{tokenizer}')"
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
    return _indexed(session.goal), _indexed("\n".join(others)), _indexed(tags)


def _indexed(text: str) -> str:
    """Return the text with the pieces of its words behind it, each between blanks.

    What every tokenizer finds in it by itself, words of ASCII letters and digits, is left out, but
    for those that are too short for `trigram`.
    """
    plain = set(_PLAIN_WORD.findall(text.lower())) if text.isascii() else set[str]()
    pieces = [piece for piece in dict.fromkeys(pieces_of(text)) if piece not in plain]
    pieces += dict.fromkeys(filter(None, map(verb_beginning, pieces)))
    short = [word for word in plain if len(word) <= _SHORT_CHARS]
    behind = [*pieces, *sorted(short)]
    return f"{text} {' '.join(behind)} " if behind else text
