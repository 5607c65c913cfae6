"""Makes what fragments are imported from: databases and files of other programs."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.support.tables import table

# Of the fourth specification, as it stands there.
SCHEMA = """CREATE TABLE memory_item (
  id TEXT PRIMARY KEY,
  type TEXT CHECK (type IN ('working','episodic','semantic','procedural')),
  content TEXT,
  importance REAL,
  privacy_scope TEXT CHECK (privacy_scope IN ('private','team','public')) DEFAULT 'private',
  created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
  last_accessed TIMESTAMP,
  pinned BOOLEAN DEFAULT FALSE
);
CREATE VIRTUAL TABLE memory_item_fts USING fts5(content);
"""
COLUMNS = ("id", "type", "content", "importance", "privacy_scope", "created_at", "pinned")


def make_memory_db(path: Path, *rows: Sequence[Any]) -> Path:
    """Make a database with these rows of COLUMNS."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SCHEMA)
        places = ", ".join("?" * len(COLUMNS))
        connection.executemany(
            f"INSERT INTO memory_item ({', '.join(COLUMNS)}) VALUES ({places})", rows
        )
        connection.commit()
    return path


# Rows of the second specification: a fragment, its successor, a link, a former version, a feedback.
DUMP: list[Any] = table("fragment_sources")["dump"]
