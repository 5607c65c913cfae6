"""Keeps the full-text index of the database in step with the sessions.

The index holds the words of each session, and beside them the pairs of characters of scripts that
run words together: `MATCH '인증'` finds 로그인인증을, too. It takes back exactly what it was given,
so a text must be removed as it was added. https://sqlite.org/fts5.html#external_content_tables
"""

import re
import sqlite3

from core.text.normal_form import normal_form
from rooms.sessions.session import Session

_WIDE = re.compile("[\u3040-\U0010ffff]{2,}")


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


def _columns(session: Session) -> tuple[str, str, str]:
    others = [text for text in session.texts if text not in (session.goal, *session.tags)]
    return _indexed(session.goal), _indexed("\n".join(others)), _indexed(" ".join(session.tags))


def _indexed(text: str) -> str:
    """Return the text with its pairs of wide characters behind it."""
    runs = _WIDE.findall(normal_form("NFC", text))
    pairs = dict.fromkeys(run[at : at + 2] for run in runs for at in range(len(run) - 1))
    return f"{text} {' '.join(pairs)}" if pairs else text
